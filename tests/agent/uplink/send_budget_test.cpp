#include "agent/uplink/send_budget.hpp"

#include "agent/uplink/send_pace.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace send_budget_test {

namespace {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

/// A node whose series take this many bytes a second if nothing waits, and whose links run for `span`.
struct node {
  send_budget budget;
  double watched, others;
  instant now = from_ns(1'000'000'000'000);

  void live(duration span) {
    for (const instant end = now + span; now < end; now += 1s) {
      budget.review(now);
      budget.sent(static_cast<std::size_t>(watched / (1 << budget.watched_wait())),
                  static_cast<std::size_t>(others / (1 << budget.others_wait())));
    }
  }
  double rate() const {
    return watched / (1 << budget.watched_wait()) + others / (1 << budget.others_wait());
  }
};

TEST_SUITE("agent/uplink/send_budget") {
  TEST_CASE("without a bound, and within it, nothing waits") {
    node free{send_budget(0), 1e6, 1e6};
    free.live(1h);
    CHECK(free.budget.others_wait() == 0);
    node small{send_budget(500), 100, 300};
    small.live(1h);
    CHECK(small.budget.others_wait() == 0);
  }

  TEST_CASE("the first window is enough to find how long the others must wait") {
    node n{send_budget(500), 200, 2000};
    n.live(send_budget::first_window + 2s);
    CHECK(n.budget.others_wait() == 3);
    CHECK(n.budget.watched_wait() == 0);
    CHECK(n.rate() <= 500);
    n.live(3h);
    CHECK(n.budget.others_wait() == 3);
  }

  TEST_CASE("watched series wait only when the others' waiting is not enough") {
    node n{send_budget(500), 1500, 100};
    n.live(1h);
    CHECK(n.budget.others_wait() == send_budget::most_doublings);
    CHECK(n.budget.watched_wait() == 2);
    CHECK(n.rate() <= 500);
  }

  TEST_CASE("a budget that cannot be met doubles the periods up to their bound, and no further") {
    node n{send_budget(1), 1e6, 1e6};
    n.live(1h);
    CHECK(n.budget.others_wait() == send_budget::most_doublings);
    CHECK(n.budget.watched_wait() == send_budget::most_doublings);
  }

  TEST_CASE("series are sent more often again when a third of the budget is to spare, not before") {
    node n{send_budget(500), 0, 4000};
    n.live(10min);
    REQUIRE(n.budget.others_wait() == 3);
    n.others = 1900;  // 475 at two doublings: within the budget, but a third is not to spare
    n.live(3h);
    CHECK(n.budget.others_wait() == 3);
    n.others = 1200;
    n.live(3h);
    CHECK(n.budget.others_wait() == 2);
    n.others = 100;
    n.live(3h);
    CHECK(n.budget.others_wait() == 0);
  }

  TEST_CASE("a load at the edge does not make the period swing") {
    node n{send_budget(500), 100, 1610};
    std::vector<int> seen;
    for (int i = 0; i < 200; ++i) {
      n.others = i % 2 == 0 ? 1590 : 1610;
      n.live(1min);
      if (seen.empty() || seen.back() != n.budget.others_wait()) seen.push_back(n.budget.others_wait());
    }
    CHECK(seen.size() <= 3);
  }

  TEST_CASE("a link that was away is no reason to send more") {
    node n{send_budget(500), 200, 2000};
    n.live(10min);
    REQUIRE(n.budget.others_wait() == 3);
    const node before = n;
    n.watched = n.others = 0;
    n.live(1h);
    CHECK(n.budget.others_wait() == before.budget.others_wait());
  }

  TEST_CASE("bytes on the wire are counted with what carries them") {
    CHECK(on_the_wire(0) == 0);
    CHECK(on_the_wire(100) == 100 + 22 + 52);
    CHECK(on_the_wire(3000) == 3000 + 22 + 3 * 52);
    CHECK(on_the_wire(20'000) == 20'000 + 2 * 22 + 15 * 52);
  }

  TEST_CASE("what any link watches is watched, and a new catalog is due when it matters") {
    send_pace p(100);
    wire::interest watts, load;
    watts.wishes = {{"rapl_power_watts", 200}};
    load.wishes = {{"os_load1", 1000}};
    p.set_interest(0, watts);
    p.set_interest(1, load);
    CHECK(p.watched("rapl_power_watts"));
    CHECK(p.watched("os_load1"));
    CHECK_FALSE(p.watched("os_load5"));
    CHECK(p.version() == 0);  // nothing waits, so nothing has to be announced
    p.review(from_ns(0));
    p.sent(0, 100'000);
    CHECK(p.review(from_ns(0) + send_budget::first_window));
    const auto before = p.version();
    p.set_interest(1, {});
    CHECK(p.version() > before);
    CHECK_FALSE(p.watched("os_load1"));
  }
}

}  // namespace

}  // namespace send_budget_test
