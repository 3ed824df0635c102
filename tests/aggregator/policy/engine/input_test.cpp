#include "aggregator/policy/engine/input.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace input_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace std::chrono_literals;

namespace {

constexpr instant start{1h};
constexpr store::node_id node{3};

store::sample value(std::int64_t v, duration read_at = 0s, duration life = 10s) {
  return {.value = {v, 0},
          .read_at = start + read_at,
          .expires_at = start + read_at + life,
          .reason = absence::none};
}
store::sample nothing() { return {.reason = absence::timeout}; }

/// A run of a deschedule strategy with one rule: above 80, on one column.
std::unique_ptr<strategy_run> above_80() {
  strategy s{.kind = strategy_kind::deschedule,
             .rules = {{.metric = "temp", .op = comparison::greater_than, .target = from_integer(80)}}};
  return std::make_unique<strategy_run>(
      policy_key{"default", "p"}, std::move(s),
      strategy_run::columns{std::make_shared<const store::shared_column>(store::column_spec{"temp"})}, 1);
}

/// An input with one rule, and the work that it leaves.
struct bench {
  bench() { of_temp.attach(*run, 0); }
  /// Meets all deadlines that are due at `t`. Returns how many there were.
  int meet(duration t) {
    int met = 0;
    while (const auto d = out.due.pop(start + t)) {
      if (d->what != due::expiry) continue;
      ++met;
      of_temp.expire(d->node, d->at, start + t, out);
    }
    return met;
  }
  /// The verdict, once what waits is judged, as the engine does after a batch.
  state what() {
    for (const run_context::judging& j : std::exchange(out.unjudged, {})) j.run->judge(j.node, start, out);
    return run->verdicts()->load(node).what;
  }

  std::unique_ptr<strategy_run> run = above_80();
  run_context out;
  input of_temp{7, std::nullopt};
};

}  // namespace

TEST_SUITE("aggregator/policy/engine/input") {
  TEST_CASE("a value reaches the rules that read it, and its absence too") {
    bench b;
    b.of_temp.feed(node, value(90), start, b.out);
    CHECK(b.of_temp.present() == 1);
    CHECK(b.what() == state::violating);
    b.of_temp.feed(node, nothing(), start + 1s, b.out);
    CHECK(b.of_temp.present() == 0);
    CHECK(b.what() == state::frozen);
  }

  TEST_CASE("a strategy is judged once for values that follow one another") {
    bench b;
    input also(9, 2s);
    also.attach(*b.run, 0);
    b.of_temp.feed(node, value(70), start, b.out);
    also.feed(node, value(90), start, b.out);
    CHECK(b.out.counters.judged == 0);
    CHECK(b.what() == state::violating);
    CHECK(b.out.counters.judged == 1);
    b.of_temp.feed(node, value(70), start, b.out);
    CHECK(b.what() == state::pass);
    CHECK(b.out.counters.judged == 2);
  }

  TEST_CASE("a value that is not renewed ends at its expiry, and not before") {
    bench b;
    b.of_temp.feed(node, value(90), start, b.out);
    CHECK(b.meet(9s) == 0);
    CHECK(b.what() == state::violating);
    CHECK(b.meet(10s) == 1);
    CHECK(b.what() == state::frozen);
    CHECK(b.of_temp.present() == 0);
  }

  TEST_CASE("one deadline a node, however often the value is renewed: it looks again when it comes") {
    bench b;
    for (int s = 0; s < 9; ++s) {
      b.of_temp.feed(node, value(90, std::chrono::seconds(s)), start + std::chrono::seconds(s), b.out);
    }
    CHECK(b.out.due.size() == 1);
    CHECK(b.meet(10s) == 1);
    CHECK_MESSAGE(b.what() == state::violating, "renewed at 8 s, it lives until 18 s");
    CHECK(b.meet(18s) == 1);
    CHECK(b.what() == state::frozen);
  }

  TEST_CASE("a value with a shorter life than the one before brings the deadline forward") {
    bench b;
    b.of_temp.feed(node, value(90, 0s, 60s), start, b.out);
    b.of_temp.feed(node, value(90, 1s, 2s), start + 1s, b.out);
    CHECK(b.meet(3s) == 1);
    CHECK(b.what() == state::frozen);
  }

  TEST_CASE("a rule's own staleAfter replaces the sample's expiry") {
    input strict(8, 2s);
    CHECK(strict.seen(value(90)).expires_at == start + 2s);
    CHECK(strict.seen(nothing()).reason == absence::timeout);
  }

  TEST_CASE("a forgotten node counts no more, and a rule that is detached hears nothing") {
    bench b;
    b.of_temp.feed(node, value(50), start, b.out);
    b.of_temp.forget(node);
    CHECK(b.of_temp.present() == 0);
    b.of_temp.detach(*b.run);
    CHECK(b.of_temp.users().empty());
    b.of_temp.feed(node, value(90), start + 1s, b.out);
    CHECK(b.what() == state::pass);
  }
}

}  // namespace input_test
