#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <malloc.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace core_cost_test {
namespace {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

/// A TASPolicy named `name` with these strategies.
std::string manifest(const std::string& name, const std::string& strategies) {
  return fmt::format(
      "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {{name: {}}}\n"
      "spec: {{strategies: {{{}}}}}\n",
      name, strategies);
}

const std::string modest = "dontschedule: {rules: [{metricname: temp, operator: GreaterThan, target: 80}]}";

/// 64 rules in each of three strategies, each with a window of another length.
std::string many_windows() {
  std::string out;
  int seconds = 300;
  for (const char* kind : {"dontschedule", "deschedule", "labeling"}) {
    out += fmt::format("{}{}: {{rules: [", out.empty() ? "" : ", ", kind);
    for (int i = 0; i < 64; ++i)
      out += fmt::format(
          "{}{{metricname: temp, operator: GreaterThan, target: 80, window: {}s, statistic: p95{}}}",
          i == 0 ? "" : ", ", ++seconds, std::string_view(kind) == "labeling" ? ", labels: [\"a=b\"]" : "");
    out += "]}";
  }
  return out;
}

/// 64 rules of 64 labels.
std::string many_labels() {
  std::string out = "labeling: {rules: [";
  for (int r = 0; r < 64; ++r) {
    out +=
        fmt::format("{}{{metricname: temp, operator: GreaterThan, target: 80, labels: [", r == 0 ? "" : ", ");
    for (int l = 0; l < 64; ++l) out += fmt::format("{}\"key-{}-{}=hot\"", l == 0 ? "" : ", ", r, l);
    out += "]}";
  }
  return out + "]}";
}

struct house {
  explicit house(bool in_cluster = false, policy::cost_limits costs = {})
      : whole({.limits = {.nodes = 10'000}, .costs = costs, .in_cluster = in_cluster},
              std::make_shared<metrics::alias_table>(), [this](change c) {
                if (const auto* said = std::get_if<policy::condition>(&c)) conditions.push_back(*said);
                const auto* news = std::get_if<faces_news>(&c);
                if (news == nullptr) return;
                if (const auto* claimed = std::get_if<policy::label_claims>(news)) claims = *claimed;
              }) {
    announced = store::catalog_builder().group("os").series("temp");
  }
  void policy(const std::string& name, const std::string& strategies) {
    texts.put(name, manifest(name, strategies));
    give();
  }
  void remove(const std::string& name) {
    texts.remove(name);
    give();
  }
  void give() {
    REQUIRE(texts.problems().empty());
    give_what_there_is();
  }
  void give_what_there_is() {
    whole.policies({texts.policies(), texts.wrong_ones(), true, texts.sources(), texts.refused()}, now += 1s);
  }
  void nodes(std::size_t count) {
    while (ids.size() < count) {
      const auto id = whole.node(fmt::format("n{}", ids.size()));
      REQUIRE(id.has_value());
      whole.connected(*id, "1.0", "10.0.0.1", now);
      REQUIRE(whole.catalog(*id, announced, now).has_value());
      ids.push_back(*id);
    }
  }
  void values(std::int64_t temp) {
    now += 1s;
    for (const auto id : ids)
      REQUIRE(whole.batch(id, store::batch_at(announced, now, {{0, temp}}), 0s, now).has_value());
    whole.tick(now);
  }
  /// What the core says of the policy `name` if it is too costly.
  std::optional<std::string> too_costly(const std::string& name) const {
    for (const policy::condition& c : whole.conditions()) {
      if (c.policy.name == name && c.what == policy::condition_kind::too_costly) return c.message;
    }
    return std::nullopt;
  }
  bool in_force(const std::string& name) const { return whole.engine().table()->contains({"default", name}); }

  std::vector<policy::condition> conditions;
  policy::label_claims claims;
  policy::policy_set texts;
  std::vector<store::node_id> ids;
  wire::catalog announced;
  instant now = store::at_s(1000);
  core whole;
};

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Bytes of the heap in use.
std::size_t taken() {
  const struct mallinfo2 now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// What a policy with a rule for each of 32 metrics takes of the heap, and what it is said to take, in bytes,
/// where each of 1,000 nodes has a shape of its own.
struct bill_of_shapes {
  std::size_t grown = 0;
  std::uint64_t said = 0;
};
bill_of_shapes with_own_shapes(bool nodes_have_the_metrics) {
  constexpr std::uint32_t many = 32;
  constexpr std::size_t fleet = 1'000;
  house h;
  std::vector<wire::catalog> catalogs;
  for (std::size_t n = 0; n < fleet; ++n) {
    store::catalog_builder c;
    c.group("os").series("pod_watts", {{"pod", fmt::format("p{}", n)}});
    for (std::uint32_t i = 0; i < many; ++i) c.series(fmt::format("temp_{}", i));
    catalogs.push_back(c);
    const auto id = h.whole.node(fmt::format("n{}", n));
    REQUIRE(id.has_value());
    h.whole.connected(*id, "1.0", "10.0.0.1", h.now);
    REQUIRE(h.whole.catalog(*id, catalogs.back(), h.now).has_value());
    h.ids.push_back(*id);
  }
  std::vector<std::pair<std::uint32_t, std::int64_t>> values;
  for (std::uint32_t i = 0; i <= many; ++i) values.emplace_back(i, 50);
  const auto batches = [&] {
    h.now += 1s;
    for (std::size_t n = 0; n < fleet; ++n)
      REQUIRE(h.whole.batch(h.ids[n], store::batch_at(catalogs[n], h.now, values), 0s, h.now).has_value());
    h.whole.tick(h.now);
  };
  batches();
  std::string rules;
  for (std::uint32_t i = 0; i < many; ++i)
    rules += fmt::format("{}{{metricname: {}_{}, operator: GreaterThan, target: 80}}", i == 0 ? "" : ", ",
                         nodes_have_the_metrics ? "temp" : "nothing", i);
  const std::size_t before = taken();
  h.policy("plain", "dontschedule: {rules: [" + rules + "]}");
  REQUIRE(h.in_force("plain"));
  batches();
  return {taken() - before, policy::amount_of(h.whole.costs().all, policy::resource::memory, fleet)};
}
#endif

TEST_SUITE("aggregator/core/cost") {
  TEST_CASE("192 windows of 192 lengths at 5,000 nodes are not taken, and everybody else's policy stays") {
    house h;
    h.policy("modest", modest);
    h.nodes(5'000);
    h.policy("greedy", many_windows());
    CHECK(h.in_force("modest"));
    CHECK_FALSE(h.in_force("greedy"));
    CHECK(h.whole.store().columns_in_use() == 1);
    const auto why = h.too_costly("greedy");
    REQUIRE(why);
    CHECK_MESSAGE(why->find(" GiB at 5000 nodes, and one may take 256.0 MiB") != std::string::npos, *why);
    CHECK(h.conditions.back().active);
    CHECK_FALSE(h.too_costly("modest"));
    h.remove("greedy");
    CHECK_FALSE(h.too_costly("greedy"));
    CHECK_FALSE(h.conditions.back().active);
  }

  TEST_CASE("4,096 label keys are not taken, and no label of theirs is wished for or taken for garbage") {
    house h(true);
    h.nodes(5'000);
    h.policy("greedy", many_labels());
    CHECK_FALSE(h.in_force("greedy"));
    CHECK(h.whole.engine().label_keys().empty());
    REQUIRE(h.too_costly("greedy"));
    CHECK(h.claims.unread.contains("greedy"));
    CHECK_FALSE(h.claims.no_policies);
    house small;
    small.nodes(3);
    small.policy("greedy", many_labels());
    REQUIRE(small.too_costly("greedy"));
    CHECK_MESSAGE(small.too_costly("greedy")->starts_with(
                      "the policy would take 4096 label keys, and one may take 256 label keys;"),
                  *small.too_costly("greedy"));
  }

  TEST_CASE("a policy whose text is too large to be read is said to be too costly, and its labels are kept") {
    house h(true);
    h.policy("power", modest);
    h.texts.refuse_object("power", {"default", "power"}, "", "its text has 70 KiB", "make two of it");
    h.give_what_there_is();
    CHECK(h.in_force("power"));
    CHECK(h.too_costly("power") ==
          "its text has 70 KiB; its last good version stays in force: make two of it");
    CHECK(h.conditions.back().active);
    CHECK(h.claims.unread.contains("power"));
    h.texts.refuse_object("power", {"default", "power"}, "another", "its text has 70 KiB", "make two of it");
    h.give_what_there_is();
    CHECK_FALSE(h.in_force("power"));
    CHECK(h.too_costly("power") == "its text has 70 KiB; no version of it is in force: make two of it");
    h.policy("power", modest);
    CHECK_FALSE(h.too_costly("power"));
    CHECK_FALSE(h.claims.unread.contains("power"));
  }

  TEST_CASE("after a kill the attack's object is read before any node is there, and goes as the nodes come") {
    house h;
    h.policy("greedy", many_windows());
    h.policy("modest", modest);
    CHECK_MESSAGE(h.in_force("greedy"), "without a node it costs nothing");
    h.nodes(5'000);
    CHECK_FALSE(h.in_force("greedy"));
    CHECK(h.in_force("modest"));
    CHECK(h.whole.store().columns_in_use() == 1);
    CHECK(h.too_costly("greedy"));
  }

  TEST_CASE("Node objects count before their agents come") {
    house h(true);
    h.policy("greedy", many_windows());
    std::vector<labels::node_labels> objects;
    for (int i = 0; i < 5'000; ++i) objects.push_back({fmt::format("n{}", i), labels::label_map{}});
    h.whole.node_labels(objects, h.now);
    CHECK_FALSE(h.in_force("greedy"));
  }

  TEST_CASE("an edit that costs too much leaves the last good version judging") {
    house h;
    h.nodes(5'000);
    h.policy("power", modest);
    h.policy("power", many_windows());
    REQUIRE(h.too_costly("power"));
    CHECK(h.too_costly("power")->find("its last good version stays in force") != std::string::npos);
    REQUIRE(h.in_force("power"));
    h.values(90);
    const auto* strategy =
        h.whole.engine().table()->begin()->second->find(policy::strategy_kind::dontschedule);
    REQUIRE(strategy != nullptr);
    CHECK(strategy->rules.size() == 1);
    CHECK(strategy->verdicts->load(h.ids[0]).what == policy::state::violating);
    h.policy("power", modest);
    CHECK_FALSE(h.too_costly("power"));
  }

  TEST_CASE("aliases that bring windows are counted when they come") {
    house h;
    h.nodes(5'000);
    std::string rules;
    for (int i = 0; i < 40; ++i)
      rules +=
          fmt::format("{}{{metricname: mean_{}, operator: GreaterThan, target: 80}}", i == 0 ? "" : ", ", i);
    h.policy("old-names", "dontschedule: {rules: [" + rules + "]}");
    CHECK(h.in_force("old-names"));
    auto names = std::make_shared<metrics::alias_table>();
    std::vector<std::string> texts;
    for (int i = 0; i < 40; ++i) texts.push_back(fmt::format("mean_{}", i));
    for (int i = 0; i < 40; ++i)
      names->add({.name = texts[static_cast<std::size_t>(i)],
                  .family = "temp",
                  .window = std::chrono::seconds(600)});
    h.whole.aliases(names, h.now);
    CHECK_MESSAGE(h.too_costly("old-names"), "40 windows of 2 KB at 5,000 nodes");
  }

  TEST_CASE("the columns that minimizepower brings are those that it is said to cost") {
    house h;
    h.nodes(3);
    h.policy("watts", "minimizepower: {}");
    REQUIRE(h.in_force("watts"));
    CHECK(h.whole.store().columns_in_use() == h.whole.costs().all.columns);
    CHECK(h.whole.store().columns_in_use() == 2);
    h.remove("watts");
    CHECK(h.whole.costs().all == policy::cost{});
  }

  TEST_CASE("a minimizepower that the fleet has outgrown is too costly, and nothing is learned any more") {
    house h;
    h.policy("watts", "minimizepower: {}");
    h.nodes(10);
    REQUIRE(h.in_force("watts"));
    const std::uint64_t each = h.whole.costs().all.node_bytes;
    policy::cost_limits small;
    small.memory_bytes = 2 * 20 * each;  // one policy may take half
    house tight(false, small);
    tight.policy("watts", "minimizepower: {}");
    tight.nodes(20);
    CHECK(tight.in_force("watts"));
    CHECK(tight.whole.store().columns_in_use() == 2);
    tight.nodes(21);
    CHECK_FALSE(tight.in_force("watts"));
    CHECK(tight.too_costly("watts"));
    CHECK(tight.whole.store().columns_in_use() == 0);
  }

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  TEST_CASE("what a policy is said to cost is what the core takes for it, and not three times as much") {
    house h;
    h.nodes(200);
    h.values(50);
    const std::size_t before = taken();
    std::string rules;
    for (int i = 0; i < 8; ++i)
      rules +=
          fmt::format("{}{{metricname: temp, operator: GreaterThan, target: 80, window: {}s, statistic: {}}}",
                      i == 0 ? "" : ", ", 300 + i, i % 2 == 0 ? "p95" : "avg");
    h.policy("windows", "dontschedule: {rules: [" + rules + "]}");
    for (int i = 0; i < 320; ++i) h.values(50 + i % 7);
    const std::size_t grown = taken() - before;
    const policy::cost_report costs = h.whole.costs();
    const auto said = policy::amount_of(costs.all, policy::resource::memory, 200);
    CAPTURE(grown);
    CAPTURE(said);
    // Arrays of columns hold 1,024 nodes at least.
    CHECK(grown < said + 8 * 1024 * 64);
    CHECK(said < 3 * grown);
  }

  TEST_CASE("where each node has a shape of its own, a policy's plans are within what it is said to cost") {
    const bill_of_shapes bill = with_own_shapes(true);
    CAPTURE(bill.grown);
    CAPTURE(bill.said);
    CHECK(bill.grown < bill.said);
    CHECK(bill.said < 3 * bill.grown);
  }

  TEST_CASE("a metric that no node has takes no plan at any node") {
    const bill_of_shapes bill = with_own_shapes(false);
    CAPTURE(bill.grown);
    CAPTURE(bill.said);
    CHECK(3 * bill.grown < bill.said);
  }

  TEST_CASE("taking a snapshot and writing it takes as much memory as is said, and no copy besides") {
    house h;
    h.nodes(200);
    std::string rules;
    for (int i = 0; i < 8; ++i)
      rules += fmt::format(
          "{}{{metricname: temp, operator: GreaterThan, target: 80, window: {}s, statistic: p95}}",
          i == 0 ? "" : ", ", 300 + i);
    h.policy("windows", "dontschedule: {rules: [" + rules + "]}");
    for (int i = 0; i < 320; ++i) h.values(50 + i % 7);
    const std::size_t before = taken();
    core::draft d = h.whole.begin_snapshot();
    while (!h.whole.add_nodes(d, 32)) {
    }
    std::size_t size = 0, peak = taken(), written = 0;
    for (const auto& n : d.all.nodes) size += size_of(n);
    encode(std::move(d.all), [&](std::span<const std::byte> piece) {
      peak = std::max(peak, taken());
      written += piece.size();
    });
    CAPTURE(size);
    CAPTURE(peak - before);
    CHECK(size > 4 << 20);
    CHECK(written > size / 8);
    CHECK(peak - before < size + size / 8 + (1 << 20));
  }
#endif
}

}  // namespace
}  // namespace core_cost_test
