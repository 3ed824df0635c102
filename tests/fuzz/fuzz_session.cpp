#include "common/wire/agent_session.hpp"
#include "common/wire/aggregator_session.hpp"
#include "tests/fuzz/target.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

namespace fuzz_session {

using namespace binnacle;
using namespace binnacle::wire;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Reads steps from the input: one byte says which step, the next bytes how large it is.
class script {
 public:
  script(const std::uint8_t* data, std::size_t size) : left_(data, size) {}
  bool done() const { return left_.empty(); }
  unsigned number() {
    if (left_.empty()) return 0;
    const unsigned n = left_.front();
    left_ = left_.subspan(1);
    return n;
  }
  std::span<const std::byte> bytes() {
    const std::size_t low = number(), wish = low + 256 * number();
    const auto n = std::min(wish, left_.size());  // after both calls of number(), which shorten left_
    const auto taken = std::as_bytes(left_.first(n));
    left_ = left_.subspan(n);
    return taken;
  }

 private:
  std::span<const std::uint8_t> left_;
};

constexpr instant start = instant(std::chrono::hours(1));

void drive_aggregator(script steps) {
  aggregator_session session(aggregator_session::settings{}, start);
  instant now = start;
  std::size_t series = 0;
  while (!steps.done()) {
    switch (steps.number() % 8) {
      case 0: now += std::chrono::seconds(steps.number()); break;
      case 1: session.accept({}, now); break;
      case 2: session.refuse(reason::overloaded, "fuzzed", std::chrono::seconds(1)); break;
      case 3: (void)session.want({{{"os_load1", steps.number()}}}); break;
      case 4: session.close(reason::shutting_down, "fuzzed"); break;
      default: session.feed(steps.bytes());
    }
    for (;;) {
      const auto e = session.next(now);
      if (e == aggregator_session::event::catalog) {
        catalog c = session.open_catalog(now);
        if (session.ended()) continue;
        if (c.groups.empty()) c.groups.push_back({"os", ""});
        for (series_info& s : c.series)
          if (s.family.empty()) s.family = "left_out";  // what was left out has no name
        require(check(c).has_value());
        series = c.series.size();
      }
      if (e == aggregator_session::event::batch) {
        for (const series_value& v : session.last_batch().values) require(v.series < series);
        for (const series_absence& a : session.last_batch().absences) require(a.series < series);
        for (const group_read& r : session.last_batch().reads)
          require(r.read_at_ns <= session.last_batch().sent_at_ns);
      }
      if (e == aggregator_session::event::nothing) {
        require(session.next_deadline() > now);
        break;
      }
      if (e == aggregator_session::event::ended) {
        require(session.ended().has_value() && session.next_deadline() == instant::max());
        return;
      }
    }
  }
}

void drive_agent(script steps) {
  agent_session session(agent_session::settings{});
  instant now = start;
  hello h;
  h.node = "node-1";
  h.boot_id = "boot";
  require(session.start(h, now).has_value());
  catalog c;
  c.groups.push_back({"os", "", 1'000, 10'000});
  c.series.push_back({"os_load1", {}, -2, metrics::kind::gauge, 0, ""});
  while (!steps.done()) {
    switch (steps.number() % 8) {
      case 0: now += std::chrono::seconds(steps.number()); break;
      case 1: (void)session.send(c, now); break;
      case 2: {
        batch b;
        b.full = session.needs_full();
        b.values = {{0, steps.number()}};
        (void)session.send(b, now);
        break;
      }
      case 3: (void)session.renew("token", now); break;
      case 4: session.close(reason::shutting_down, "fuzzed"); break;
      default: session.feed(steps.bytes());
    }
    for (;;) {
      const auto e = session.next(now);
      if (e == agent_session::event::nothing) {
        require(session.next_deadline() > now);
        break;
      }
      if (e == agent_session::event::ended) {
        require(session.ended().has_value() && session.next_deadline() == instant::max());
        return;
      }
    }
  }
}

}  // namespace

/// A conversation with one of the two session machines. The first byte says which one; then come steps of
/// time, answers and received bytes.
FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const script steps(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    drive_aggregator(steps);
  } else {
    drive_agent(steps);
  }
  return 0;
}

}  // namespace fuzz_session
