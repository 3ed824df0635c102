#include "tests/bench/power/one_fleet.hpp"

#include "common/text/json_writer.hpp"
#include "common/text/plain.hpp"
#include "tests/bench/power/churn.hpp"
#include "tests/bench/power/fill.hpp"
#include "tests/bench/power/optimum.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace binnacle::bench {
namespace {

using named_rule = std::pair<std::string_view, rule>;
// One run alone may be off by points where one large server decides.
constexpr std::uint64_t lives = 4;
constexpr std::array<named_rule, 4> shown_rules{{{"spread", rule::spread},
                                                 {"waoV2", rule::wao_v2},
                                                 {"marginal", rule::increase},
                                                 {"chord", rule::chord}}};

/// What the fleet draws with so many pods on it, all of which have room: the mean of some runs, which differ
/// in how ties are broken.
double watts_after(const fleet& empty, rule by, wish pod, std::size_t pods) {
  constexpr int runs = 5;
  double sum = 0;
  for (int run = 0; run < runs; ++run) {
    fleet nodes = empty;
    dice random(static_cast<std::uint64_t>(run) + 1);
    for (std::size_t i = 0; i < pods; ++i)
      nodes.at(static_cast<std::size_t>(choose(nodes, by, pod, ties::random, random))).used += pod.cores;
    sum += watts(nodes);
  }
  return sum / runs;
}

void write_servers(json_writer& out, const std::vector<server>& kinds) {
  out.key("servers").begin_array();
  for (const server& s : kinds) {
    out.begin_object().field("name", s.name).field("count", s.count);
    out.key("cores").raw(fmt::format("{}", s.cores));
    out.key("watts").raw(fmt::format("[{}]", fmt::join(s.watts, ","))).end_object();
  }
  out.end_array();
}

result<void> stay(json_writer& out, const one_fleet& w, const fleet& nodes) {
  const wish pod{w.pod_cores, false};
  const auto pods = static_cast<std::size_t>(std::lround(w.load * cores(nodes) / pod.cores));
  if (const std::size_t room = room_for(nodes, pod); pods > room) {
    return error{
        errc::invalid_input,
        fmt::format("the fleet has room for {} of these {} pods, since no pod lies on two servers: give them "
                    "fewer than {} cores, or the fleet less load",
                    room, pods, plain(pod.cores))};
  }
  out.field("pods", pods);
  for (const auto& [name, by] : shown_rules) out.key(name).figure(watts_after(nodes, by, pod, pods), 1);
  out.key("optimum").figure(least_watts(nodes, pod).at(pods), 1);
  return {};
}

result<void> come_and_go(json_writer& out, const one_fleet& w, const fleet& nodes) {
  const double fewest = std::ranges::min(w.come_and_go);
  for (const double size : w.come_and_go) {
    if (room_for(nodes, {size, false}) == 0)
      return error{errc::invalid_input, fmt::format("no server has room for a pod of {} cores", plain(size))};
    if (std::abs(std::remainder(size, fewest)) > 1e-6) {
      return error{errc::invalid_input,
                   fmt::format("pods of {} cores beside some of {}: give multiples of the "
                               "fewest, in which the optimum is counted",
                               plain(size), plain(fewest))};
    }
  }
  const churn how{.load = w.load, .sizes = w.come_and_go};
  std::vector<std::pair<std::string_view, double>> refused;
  for (const auto& [name, by] : shown_rules) {
    const lived is = live(nodes, by, how, lives);
    out.key(name).figure(is.watts, 1);
    refused.emplace_back(name, is.refused);
  }
  out.key("optimum").figure(least_while_living(nodes, how, lives), 1).key("refused").begin_object();
  for (const auto& [name, share] : refused) out.key(name).figure(share, 4);
  out.end_object();
  return {};
}

}  // namespace

result<std::string> filled_once(const one_fleet& w) {
  const fleet nodes = make_fleet(w.kinds, w.each, w.max_load);
  std::string text;
  json_writer out(text);
  out.begin_object();
  write_servers(out, w.kinds);
  const auto done = w.come_and_go.empty() ? stay(out, w, nodes) : come_and_go(out, w, nodes);
  if (done.has_error()) return done.error();
  out.end_object();
  return text;
}

}  // namespace binnacle::bench
