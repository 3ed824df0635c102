#include "aggregator/replicas/ask_replicas.hpp"

#include "aggregator/replicas/state_route.hpp"
#include "common/async/resolve.hpp"
#include "common/async/timers.hpp"
#include "common/clock.hpp"
#include "common/http/client/client.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace binnacle::replicas {
namespace {

using async::deadline;
using async::task;

/// Every address of the names, each once.
task<std::vector<endpoint>> addresses_of(std::vector<endpoint> names, std::size_t most, deadline until,
                                         std::vector<std::string>& troubles) {
  std::vector<endpoint> out;
  for (const endpoint& name : names) {
    auto found = co_await async::resolve(name.host, name.port, until);
    if (found.has_error()) {
      troubles.push_back(fmt::format("{}: {}", to_string(name), found.error().message));
      continue;
    }
    for (const async::tcp::endpoint& one : *found) {
      const endpoint e{one.address().to_string(), one.port()};
      const auto same = [&e](const endpoint& known) { return known.host == e.host && known.port == e.port; };
      if (out.size() < most && std::ranges::none_of(out, same)) out.push_back(e);
    }
  }
  co_return out;
}

result<aggregator::snapshot> read(const http::answer& a, instant asked) {
  auto s = aggregator::decode(std::as_bytes(std::span(a.body)));
  if (s.has_error()) return s;
  // The snapshot was taken after our question, so it is at most as old as the question by our own clock. The
  // other machine's clock may be wrong.
  const auto at_most =
      std::chrono::duration_cast<std::chrono::system_clock::duration>(boot_clock::now() - asked);
  s->taken_wall = std::chrono::system_clock::now() - at_most;
  return s;
}

/// Asks one replica. True: it will have a state in a moment, so it is worth another question.
task<bool> ask_one(const question& q, const endpoint& one, deadline until, outcome& out) {
  ++out.asked;
  http::server_address where;
  where.host = one.host;
  where.port = one.port;
  const auto context = [&q] { return q.context; };
  http::client there(std::move(where), context, "binnacle-aggregator");
  http::call what;
  what.target = state_path;
  what.most_bytes = q.most_bytes;
  const instant asked = boot_clock::now();
  auto got = co_await there.ask(std::move(what), until);
  const auto has = [&got](std::string_view header) {
    return std::ranges::any_of(got->headers, [header](const auto& h) { return h.first == header; });
  };
  const auto note = [&out](std::string trouble) {
    if (std::ranges::find(out.troubles, trouble) == out.troubles.end())
      out.troubles.push_back(std::move(trouble));
  };
  if (got.has_value() && got->status != 200) {
    ++out.refused;
    note(fmt::format("{}: answered {}: {}", to_string(one), got->status, in_quotes(trimmed(got->body), 200)));
    co_return has("retry-after");
  }
  auto state = got.has_error() ? result<aggregator::snapshot>(got.error()) : read(*got, asked);
  if (state.has_error()) {
    ++out.failed;
    note(fmt::format("{}: {}", to_string(one), state.error().message));
    co_return false;
  }
  const bool is_young = has(young_header);
  if (is_young && out.state) co_return false;
  out.state = std::move(*state);
  out.from = to_string(one);
  out.is_young = is_young;
  co_return false;
}

}  // namespace

task<outcome> ask_replicas(question q) {
  const deadline until = async::within(q.for_all);
  const auto is_over = [until] { return std::chrono::steady_clock::now() >= until; };
  outcome out;
  std::vector<endpoint> left =
      co_await addresses_of(q.at, q.most_addresses, std::min(until, async::within(q.for_one)), out.troubles);
  // Each round asks those again that will have a state in a moment.
  for (;;) {
    std::vector<endpoint> later;
    for (const endpoint& one : left) {
      if (is_over()) co_return out;
      const deadline for_this = std::min(until, async::within(q.for_one));
      if (co_await ask_one(q, one, for_this, out)) later.push_back(one);
      if (out.state && !out.is_young) co_return out;
    }
    if (later.empty() || is_over()) co_return out;
    left = std::move(later);
    co_await async::sleep_for(q.between);
  }
}

}  // namespace binnacle::replicas
