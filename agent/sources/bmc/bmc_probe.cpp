// What --probe says of the BMC. It may block: nothing else runs meanwhile.
#include "agent/ipmi/protocol/line_buffer.hpp"
#include "agent/sources/bmc/bmc.hpp"
#include "agent/sources/bmc/bmc_snapshot.hpp"
#include "agent/sources/bmc/helper_process.hpp"
#include "agent/sources/bmc/reading_rules.hpp"
#include "common/system/descriptor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

namespace binnacle::agent {
namespace {

constexpr const char* subject = "sensors of the BMC (IPMI)";
// How long to wait for first readings after the inventory. Reading each sensor of a board once takes seconds.
constexpr auto first_readings = std::chrono::seconds(5);

struct heard {
  bmc_snapshot view;
  std::optional<ipmi::status> status;
  std::map<std::string, absence> read;  // by key: how the last reading of the sensor ended
  bool whole = false;                   // each planned sensor has been read
  bool greeted = false;
  bool taken = false;  // the helper serves another agent
};

/// Listens until the helper has said everything that --probe prints, or until `until`. Errors: as a
/// session's.
result<void> listen(int channel, const ipmi::wanted_sensors& select, instant until, heard& out) {
  ipmi::line_buffer lines;
  std::array<char, 16384> piece;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - boot_clock::now()).count();
    if (left <= 0) return {};
    pollfd ready{channel, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left)) <= 0) continue;
    const auto n = ::read(channel, piece.data(), piece.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return error{errc::disconnected, "the helper binnacle-ipmi ended by itself"};
    lines.append({piece.data(), static_cast<std::size_t>(n)});
    for (;;) {
      const auto line = lines.next();
      if (!line) return line.error();
      if (!*line) break;
      const auto message = ipmi::decode_from_helper(**line);
      if (!message) return message.error();
      if (auto taken = out.view.take(*message); !taken) return taken;
      if (std::holds_alternative<ipmi::hello>(*message)) {
        out.greeted = true;
        const auto say = ipmi::encode(ipmi::from_agent(select));
        if (::write(channel, say.data(), say.size()) != static_cast<ssize_t>(say.size())) {
          return error{errc::io, "the helper binnacle-ipmi does not read"};
        }
      } else if (const auto* status = std::get_if<ipmi::status>(&*message)) {
        out.taken = !out.greeted;
        if (out.taken) return {};
        // The first status says only that nothing has been tried yet.
        const bool first = !out.status.has_value();
        out.status = *status;
        if (!status->ok && (status->permanent || !first)) return {};
      } else if (std::holds_alternative<ipmi::inventory_end>(*message)) {
        until = std::min(until, boot_clock::now() + first_readings);
      } else if (const auto* r = std::get_if<ipmi::reading>(&*message)) {
        const auto& known = out.view.sensors();
        const auto about = std::ranges::find(known, r->key, &ipmi::sensor::key);
        out.read[r->key] = about == known.end() ? r->reason : reason_of(*about, *r);
        const auto& plan = out.view.plan();
        out.whole =
            std::all_of(plan.begin(), plan.end(), [&](const auto& p) { return out.read.contains(p.first); });
        if (out.whole) return {};
      }
    }
  }
}

finding of_inventory(const heard& h, const ipmi::wanted_sensors& select) {
  const auto& bmc = *h.view.identity();
  auto what = fmt::format("{} {}: {} sensors, {} of them read{}", bmc.address, bmc.manufacturer,
                          h.view.sensors().size(), h.view.plan().size(), bmc.dcmi ? ", DCMI" : "");
  if (h.view.sensors().empty()) {
    return {finding::grade::broken, std::move(what), "the BMC has no sensor records",
            "look at it with ipmi-sensors; a BMC that is starting has none for a minute"};
  }
  if (h.view.plan().empty()) {
    return {finding::grade::broken, std::move(what), "no sensor is selected",
            "name sensors in bmc-sensors, or shorten bmc-exclude"};
  }
  std::vector<const ipmi::sensor*> impossible;
  for (const auto& s : h.view.sensors()) {
    const auto at = h.read.find(s.key);
    if (at != h.read.end() && at->second == absence::implausible) impossible.push_back(&s);
  }
  if (!impossible.empty()) {
    return {finding::grade::limited, std::move(what), impossible_said(impossible),
            std::string(impossible_remedy)};
  }
  std::string silent;
  std::size_t count = 0;
  for (const auto& s : h.view.sensors()) {
    const auto at = h.read.find(s.key);
    if (at == h.read.end() || at->second == absence::none) continue;
    if (count++ < 5) silent += fmt::format("{}{} ({})", count > 1 ? ", " : "", s.name, to_string(at->second));
  }
  if (count > 0) {
    return {finding::grade::limited, std::move(what), fmt::format("{} without a value: {}", count, silent),
            "usual for parts that are not fitted or switched off; bmc-exclude leaves them out"};
  }
  if (auto none = unmatched(select, h.view.sensors()); !none.empty()) {
    return {finding::grade::limited, std::move(what), std::move(none),
            "binnacle-ipmi --list names them; patterns are tried against name and key"};
  }
  return {finding::grade::works, std::move(what), {}, {}};
}

}  // namespace

std::vector<finding> probe_bmc(const bmc_options& o, duration patience) {
  if (const auto obstacle = obstacle_to(o)) {
    const auto grade = obstacle->code == errc::unsupported ? finding::grade::absent : finding::grade::broken;
    return {{grade, subject, obstacle->why, obstacle->remedy}};
  }
  std::optional<helper_process> child;
  descriptor channel;
  if (o.socket.empty()) {
    auto started = helper_process::start({o.helper, o.arguments});
    if (!started) return {{finding::grade::broken, subject, started.error().message, {}}};
    channel = std::move(started->channel);
    child.emplace(std::move(*started));
  } else {
    auto dialled = dial_helper(o.socket);
    if (!dialled) return {{finding::grade::broken, subject, dialled.error().message, {}}};
    channel = std::move(*dialled);
  }
  heard h;
  const auto done = listen(channel.get(), o.select, boot_clock::now() + patience, h);
  if (h.taken) {
    return {{finding::grade::absent, subject,
             fmt::format("the helper at {} serves another agent, and it serves only one at a time", o.socket),
             "usual beside the agent of this node: binnacle_agent_source_up{source=\"bmc\"} of its /metrics "
             "says whether it reads the BMC"}};
  }
  if (h.status && !h.status->ok) {
    return {{finding::grade::broken, subject, h.status->message,
             h.status->permanent ? "correct it, then start the agent or change the credentials file: the "
                                   "agent does not try again by itself, because BMCs lock accounts"
                                 : ""}};
  }
  if (!done) {
    return {{finding::grade::broken, subject, done.error().message,
             "its message is above; try binnacle-ipmi --help"}};
  }
  if (!h.view.identity()) {
    return {{finding::grade::broken, subject,
             fmt::format("the BMC has not said what sensors it has within {}", human(patience)),
             "try again: the first look at a large BMC takes minutes; after that a cache is used"}};
  }
  return {of_inventory(h, o.select)};
}

}  // namespace binnacle::agent
