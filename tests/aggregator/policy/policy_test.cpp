#include "aggregator/policy/policy.hpp"

#include "aggregator/policy/published/published.hpp"

#include <doctest/doctest.h>

namespace policy_test {

using namespace binnacle;
using namespace binnacle::policy;
using namespace std::chrono_literals;

TEST_SUITE("aggregator/policy/policy") {
  TEST_CASE("a rule's text names metric, operator and target as written, and window and hold when given") {
    rule r{.metric = "rapl_power_watts", .target = from_integer(60)};
    CHECK(r.text() == "rapl_power_watts GreaterThan 60");
    r.target = quantity{70'500'000'000};
    CHECK(r.text() == "rapl_power_watts GreaterThan 70.5");
    r.op = comparison::less_than;
    r.target = quantity{-1};
    CHECK(r.text() == "rapl_power_watts LessThan -0.000000001");
    r.op = comparison::equals;
    r.target = from_integer(10'000'000);
    CHECK(r.text() == "rapl_power_watts Equals 10000000");
    r.window = 30s;
    r.stat = store::statistic::p95;
    r.hold = 1min;
    CHECK(r.text() == "rapl_power_watts (p95 30s) Equals 10000000 for 1m");
    CHECK(description_of(strategy_kind::deschedule).rule_text(r) == r.text());
    CHECK(description_of(strategy_kind::scheduleonmetric).rule_text(r) == r.order_text());
    CHECK(r.order_text() == "rapl_power_watts (p95 30s), nearest to 10000000 first");
    r.op = comparison::less_than;
    CHECK(r.order_text() == "rapl_power_watts (p95 30s), lowest first");
    r.op = comparison::less_or_equal;
    CHECK(r.text() == "rapl_power_watts (p95 30s) LessOrEqual 10000000 for 1m");
    CHECK(r.order_text() == "rapl_power_watts (p95 30s), lowest first");
    r.op = comparison::greater_than;
    CHECK(r.order_text() == "rapl_power_watts (p95 30s), highest first");
  }

  TEST_CASE("the revision follows the content and nothing else") {
    binnacle::policy::policy p{.key = {"default", "power"},
                               .strategies = {{.rules = {{.metric = "a"}, {.metric = "b"}}}}};
    const auto first = content_revision(p);
    auto same = p;
    same.revision = 17;
    CHECK(content_revision(same) == first);

    const auto differs = [&](auto change) {
      auto other = p;
      change(other);
      return content_revision(other) != first;
    };
    CHECK(differs([](auto& o) { o.key.name_space = "team"; }));
    CHECK(differs([](auto& o) { o.how = mode::dry_run; }));
    CHECK(differs([](auto& o) { o.strategies[0].kind = strategy_kind::deschedule; }));
    CHECK(differs([](auto& o) { o.strategies[0].op = logic::all_of; }));
    CHECK(differs([](auto& o) { o.strategies[0].on_missing = missing::reject; }));
    CHECK(differs([](auto& o) { o.strategies[0].max_nodes = node_limit{3, true}; }));
    CHECK(differs([](auto& o) { o.strategies[0].cool_down = 1s; }));
    CHECK(differs([](auto& o) { std::swap(o.strategies[0].rules[0], o.strategies[0].rules[1]); }));
    CHECK(differs([](auto& o) { o.strategies[0].rules[0].target = from_integer(1); }));
    CHECK(differs([](auto& o) { o.strategies[0].rules[0].clear = quantity{}; }));
    CHECK(differs([](auto& o) { o.strategies[0].rules[0].hold = 1s; }));
    CHECK(differs([](auto& o) { o.strategies[0].rules[0].stale_after = 1s; }));
    CHECK(differs([](auto& o) { o.strategies[0].rules[0].labels = {{"k", "v"}}; }));
  }

  TEST_CASE("a rule's staleAfter replaces the expiry of a value and never revives an absent one") {
    const rule r{.metric = "m", .stale_after = 3s};
    const store::sample value{{1, 0}, instant(10s), instant(20s), absence::none, false};
    CHECK(r.seen(value).expires_at == instant(13s));
    store::sample gone = value;
    gone.reason = absence::missing;
    CHECK(r.seen(gone).expires_at == instant(20s));
    CHECK_FALSE(r.seen(gone).present(instant(11s)));
  }

  TEST_CASE("a verdict survives its cell, and a cell never written reads as pass") {
    verdict_column column;
    const auto node = store::node_id{5'000};
    CHECK(column.load(node).what == state::pass);
    column.store(node, {state::frozen, true, 7, 3});
    const verdict v = column.load(node);
    CHECK(v.what == state::frozen);
    CHECK(v.violating);
    CHECK(v.rule == 7);
    CHECK(v.unknown == 3);
  }

  TEST_CASE("an unknown node passes until missing data rejects") {
    verdict_column column;
    CHECK(column.of_unknown_node(instant(1h)).what == state::pass);
    column.reject_missing_from(instant(10s));
    CHECK(column.of_unknown_node(instant(9s)).what == state::pass);
    CHECK(column.of_unknown_node(instant(10s)).what == state::missing);
  }
}

}  // namespace policy_test
