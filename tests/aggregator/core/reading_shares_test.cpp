#include "aggregator/core/reading_shares.hpp"

#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "common/wire/limits.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <vector>

namespace reading_shares_test {
namespace {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// Wishes together with the texts that they refer to.
struct wish_list {
  void add(std::string family, std::chrono::milliseconds period, std::set<std::string_view> parties) {
    texts.push_back(std::move(family));
    all.push_back({texts.back(), period, std::move(parties)});
  }
  void add_many(const char* prefix, int n, std::chrono::milliseconds period, std::string_view party) {
    for (int i = 0; i < n; ++i) add(fmt::format("{}_{:04}", prefix, i), period, {party});
  }
  std::deque<std::string> texts;
  std::vector<owned_wish> all;
};

std::uint32_t period_of(const wire::interest& all, std::string_view family) {
  for (const auto& w : all.wishes) {
    if (w.family == family) return w.period_ms;
  }
  return 0;
}

const reading_shares::line& line_of(const reading_shares& all, std::string_view party) {
  const auto at = std::ranges::find(all.parties, party, &reading_shares::line::party);
  REQUIRE(at != all.parties.end());
  return *at;
}

/// A policy of this namespace with one rule for each of these metrics.
policy::policy watching(const std::string& name_space, const std::vector<std::string>& metrics) {
  std::string rules;
  for (const std::string& m : metrics)
    rules += fmt::format("      - {{metricname: {}, operator: GreaterThan, target: 1}}\n", m);
  const auto text = policy::parse_policies(
      "p.yaml", fmt::format("apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\n"
                            "metadata: {{name: p, namespace: {}}}\nspec:\n  strategies:\n"
                            "    dontschedule:\n      rules:\n{}",
                            name_space, rules));
  REQUIRE(text.policies.size() == 1);
  REQUIRE(text.policies.front().usable);
  return text.policies.front().value;
}

}  // namespace

TEST_SUITE("aggregator/core/reading_shares") {
  TEST_CASE("without a limit everybody gets what they wish for, at the shortest period") {
    wish_list w;
    w.add_many("greedy", 100, 200ms, "a");
    w.add("rapl_power_watts", 200ms, {"b"});
    w.add("os_load1", 1000ms, {"b"});
    w.add("os_load1", 400ms, {"a"});
    const auto shares = share_readings(w.all, no_limit);
    CHECK(shares.interest.wishes.size() == 102);
    CHECK(period_of(shares.interest, "greedy_0042") == 200);
    CHECK(period_of(shares.interest, "os_load1") == 400);
    CHECK(line_of(shares, "a").granted == doctest::Approx(502.5));
    CHECK(line_of(shares, "a").wished == doctest::Approx(502.5));
    CHECK(reading_warnings(shares).empty());
  }

  TEST_CASE("a hundred greedy wishes of one namespace do not slow another's single wish") {
    wish_list w;
    w.add_many("greedy", 100, 200ms, "a");
    w.add("rapl_power_watts", 200ms, {"b"});
    const auto shares = share_readings(w.all, 100);
    CHECK(period_of(shares.interest, "rapl_power_watts") == 200);
    CHECK(line_of(shares, "b").granted == doctest::Approx(5));
    // The other namespace wishes for 500 and gets what is left, 95.
    CHECK(period_of(shares.interest, "greedy_0000") == 1060);
    CHECK(line_of(shares, "a").granted < 95);
    CHECK(line_of(shares, "a").granted > 90);
    CHECK(shares.granted() <= 100);
  }

  TEST_CASE("a family that two namespaces wish for is read as often as either is granted") {
    wish_list w;
    w.add_many("greedy", 100, 200ms, "a");
    w.add("rapl_power_watts", 200ms, {"a", "b"});
    const auto shares = share_readings(w.all, 50);
    CHECK(period_of(shares.interest, "rapl_power_watts") == 200);
  }

  TEST_CASE("two that wish for too much get the same, and a third what is little") {
    wish_list w;
    w.add_many("first", 10, 200ms, "a");
    w.add_many("second", 30, 200ms, "b");
    w.add("small", 1000ms, {"c"});
    const auto shares = share_readings(w.all, 41);
    CHECK(line_of(shares, "c").granted == doctest::Approx(1));
    CHECK(line_of(shares, "a").granted == doctest::Approx(20));
    CHECK(line_of(shares, "b").granted == doctest::Approx(20).epsilon(0.05));
    CHECK(period_of(shares.interest, "first_0001") == 500);
    CHECK(period_of(shares.interest, "second_0001") == 1500);
  }

  TEST_CASE("no wish becomes slower than five seconds, and a slower one stays as it is") {
    wish_list w;
    w.add_many("greedy", 10, 200ms, "a");
    w.add("slow", 20'000ms, {"a"});
    const auto shares = share_readings(w.all, 0.001);
    CHECK(period_of(shares.interest, "greedy_0003") == 5000);
    CHECK(period_of(shares.interest, "slow") == 20'000);
  }

  TEST_CASE("a namespace with more families than a message holds does not push out another's") {
    wish_list w;
    w.add_many("greedy", 2'000, 1000ms, "a");
    w.add_many("zz_other", 3, 1000ms, "b");
    const auto shares = share_readings(w.all, no_limit);
    CHECK(shares.interest.wishes.size() == wire::max_wishes);
    for (const char* family : {"zz_other_0000", "zz_other_0001", "zz_other_0002"})
      CHECK(period_of(shares.interest, family) == 1000);
    CHECK(shares.left_out == 2'003 - wire::max_wishes);
    REQUIRE(reading_warnings(shares).size() == 1);
    CHECK(reading_warnings(shares)[0].starts_with("policies watch 979 metric families more than fit"));
  }

  TEST_CASE("who gets less is named, with the figures") {
    wish_list w;
    w.add_many("greedy", 100, 200ms, "a");
    w.add("rapl_power_watts", 200ms, {""});
    auto shares = share_readings(w.all, 55);
    shares.load = 0.83;
    REQUIRE(reading_warnings(shares).size() == 1);
    CHECK(reading_warnings(shares)[0].find("was 83 % busy") != std::string::npos);
    CHECK(reading_warnings(shares)[0].find("policies of namespace a get 50 of 500") != std::string::npos);
    CHECK(reading_warnings(shares)[0].find("callers") == std::string::npos);
  }

  TEST_CASE(
      "a loop that is busy once keeps its budget, and one that stays busy gives less until it is calm") {
    reading_budget b;
    b.measured(1.0, 100, 100);
    CHECK(b.a_second() == no_limit);
    b.measured(0.3, 100, 100);
    b.measured(0.9, 100, 100);
    CHECK(b.a_second() == no_limit);
    b.measured(1.0, 100, 100);
    CHECK(b.a_second() == doctest::Approx(50));
    b.measured(0.6, 100, 50);  // neither busy nor calm
    CHECK(b.a_second() == doctest::Approx(50));
    b.measured(0.4, 100, 50);
    CHECK(b.a_second() == doctest::Approx(62.5));
    b.measured(0.4, 100, 62.5);
    b.measured(0.4, 100, 78);
    CHECK(b.a_second() == doctest::Approx(97.65625));
    b.measured(0.4, 100, 97);
    CHECK(b.a_second() == no_limit);
  }

  // Before, the budget was 0 then, and the policies that came later were read every 5 s for ever.
  TEST_CASE("a loop that is busy without wishes leaves them their budget") {
    reading_budget b;
    for (int i = 0; i < 3; ++i) b.measured(0.9, 0, 0);
    CHECK(b.a_second() == no_limit);
    for (int i = 0; i < 2; ++i) b.measured(0.9, 100, 100);
    CHECK(b.a_second() == doctest::Approx(100 * 0.5 / 0.9));
    b.measured(0.9, 0, 0);
    CHECK(b.a_second() > 0);
  }

  TEST_CASE("the core slows the namespace that wishes for most while its loop is busy, and says so") {
    std::vector<wire::interest> told;
    core whole({}, std::make_shared<const metrics::alias_table>(), [&told](const change& c) {
      if (const auto* i = std::get_if<interest_changed>(&c)) told.push_back(i->wanted);
    });
    instant now(1h);
    std::vector<std::string> many;
    for (int i = 0; i < 40; ++i) many.push_back(fmt::format("exporter_metric_{}", i));
    whole.policies({{watching("greedy", many), watching("modest", {"rapl_power_watts"})}, {}, true}, now);
    REQUIRE_FALSE(told.empty());
    const std::uint32_t before = period_of(told.back(), "exporter_metric_7");
    CHECK(before == 1000);
    CHECK(period_of(told.back(), "rapl_power_watts") == 200);
    const double modest_wish = line_of(whole.readings(), "modest").wished;

    for (int i = 0; i < 2; ++i) whole.load(0.95, now += 10s);
    CHECK(period_of(told.back(), "exporter_metric_7") > 1000);
    CHECK(period_of(told.back(), "rapl_power_watts") == 200);
    CHECK(line_of(whole.readings(), "modest").granted == doctest::Approx(modest_wish));
    CHECK(line_of(whole.readings(), "greedy").granted < line_of(whole.readings(), "greedy").wished);
    CHECK(reading_warnings(whole.readings()).size() == 1);

    for (int i = 0; i < 20; ++i) whole.load(0.1, now += 10s);
    CHECK(period_of(told.back(), "exporter_metric_7") == before);
    CHECK(reading_warnings(whole.readings()).empty());
    const std::size_t so_far = told.size();
    whole.load(0.1, now += 10s);
    CHECK(told.size() == so_far);  // agents are told only of what changed
  }

  TEST_CASE("callers of the metrics API are one party beside the namespaces") {
    core whole({}, std::make_shared<const metrics::alias_table>(), [](const change&) {});
    instant now(1h);
    const auto column = whole.watch({"rapl_power_watts"}, now);
    CHECK(line_of(whole.readings(), "").wished > 0);
    whole.policies({{watching("other", {"rapl_power_watts"})}, {}, true}, now);
    CHECK(line_of(whole.readings(), "").wished == line_of(whole.readings(), "other").wished);
    whole.unwatch(column.id, now);
    CHECK(whole.readings().parties.size() == 1);
  }
}

}  // namespace reading_shares_test
