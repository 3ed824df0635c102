#include "aggregator/replicas/ask_replicas.hpp"

#include "aggregator/replicas/state_route.hpp"
#include "common/async/resolve.hpp"
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

}  // namespace

task<outcome> ask_replicas(question q) {
  const deadline until = async::within(q.for_all);
  outcome out;
  const std::vector<endpoint> all =
      co_await addresses_of(q.at, q.most_addresses, std::min(until, async::within(q.for_one)), out.troubles);
  for (const endpoint& one : all) {
    if (std::chrono::steady_clock::now() >= until) break;
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
    auto got = co_await there.ask(std::move(what), std::min(until, async::within(q.for_one)));
    if (got.has_value() && got->status != 200) {
      ++out.refused;
      out.troubles.push_back(fmt::format("{}: answered {}: {}", to_string(one), got->status,
                                         in_quotes(trimmed(got->body), 200)));
      continue;
    }
    auto state = got.has_error() ? result<aggregator::snapshot>(got.error()) : read(*got, asked);
    if (state.has_error()) {
      ++out.failed;
      out.troubles.push_back(fmt::format("{}: {}", to_string(one), state.error().message));
      continue;
    }
    const bool is_young =
        std::ranges::any_of(got->headers, [](const auto& h) { return h.first == young_header; });
    if (is_young && out.state) continue;
    out.state = std::move(*state);
    out.from = to_string(one);
    out.is_young = is_young;
    if (!is_young) break;
  }
  co_return out;
}

}  // namespace binnacle::replicas
