// Policies are edited, correctly and wrongly, while a replica is killed again and again. The policies in
// force there must be the same as at a replica that was never killed.
#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace restart_policies_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

using texts_of_now = std::map<std::string, std::string>;  // what the API server has now, by object name

struct replica {
  explicit replica(bool in_cluster = true, std::size_t snapshot_bytes = 1 << 20)
      : whole({.costs = limits(), .snapshot_bytes = snapshot_bytes, .in_cluster = in_cluster},
              std::make_shared<metrics::alias_table>(), [](const change&) {}) {}
  /// Limits: ten columns in all, and six for one policy.
  static policy::cost_limits limits() {
    policy::cost_limits out;
    out.columns = 10;
    out.policy_percent = 60;
    out.namespace_percent = 100;
    return out;
  }
  void go_on_from(const std::vector<std::byte>& bytes) {
    auto read = decode(bytes);
    REQUIRE(read.has_value());
    whole.recall(std::move(*read), 0s, now);
    texts.recall(whole.recalled_policies());
  }
  /// The API server sends its first complete list of objects.
  void read_all(const texts_of_now& all) {
    for (const auto& [name, text] : all) texts.put_object(name, text);
    texts.forget_recalled();
    give();
  }
  void edit(const std::string& name, const std::string* text) {
    if (text == nullptr) {
      texts.remove(name);
    } else {
      texts.put_object(name, *text);
    }
    give();
  }
  void give(bool complete = true) {
    whole.policies({texts.policies(), texts.wrong_ones(), complete, texts.sources()}, now += 1s);
  }
  std::vector<std::byte> bytes() const {
    auto d = whole.begin_snapshot();
    while (!whole.add_nodes(d, 2)) {
    }
    d.all.taken = now;
    return encode(std::move(d.all));
  }
  /// The policies in force with their rules, and what is said about the policies that are not in force.
  std::string says() const {
    std::string out;
    for (const auto& [key, p] : *whole.engine().table()) {
      out += fmt::format("{} {:08x}:", key.text(), p->revision);
      for (const auto& s : p->strategies) out += fmt::format(" {}", to_string(s.kind));
      out += "\n";
    }
    for (const policy::condition& c : whole.conditions()) out += c.policy.text() + ": " + c.message + "\n";
    for (const policy::problem& p : texts.problems()) out += p.text() + "\n";
    return out;
  }

  instant now = store::at_s(1000);
  policy::policy_set texts;
  core whole;
};

/// An object with one rule for each of `columns` metrics. If `is_wrong`, the operator of the last rule has a
/// typing error.
std::string object(const std::string& name, int uid, unsigned columns, int target, bool is_wrong) {
  std::string rules;
  for (unsigned i = 0; i < columns; ++i) {
    const bool typo = is_wrong && i + 1 == columns;
    rules += fmt::format("{}{{metricname: {}_{}, operator: {}, target: {}}}", i == 0 ? "" : ", ", name, i,
                         typo ? "GreaterTham" : "GreaterThan", target);
  }
  return fmt::format(
      "{{apiVersion: telemetry.intel.com/v1alpha1, kind: TASPolicy, metadata: {{name: {}, uid: u{}, "
      "creationTimestamp: \"2026-01-01T00:00:{:02}Z\"}}, spec: {{strategies: {{dontschedule: {{rules: "
      "[{{metricname: {}_0, operator: GreaterThan, target: 7}}]}}, deschedule: {{rules: [{}]}}}}}}}}",
      name, uid, uid % 60, name, rules);
}

}  // namespace

TEST_SUITE("aggregator/core/restart_policies") {
  TEST_CASE("a replica that is killed after any edit has in force what one has that was never killed") {
    for (unsigned seed = 1; seed <= 12; ++seed) {
      CAPTURE(seed);
      std::mt19937 random(seed);
      const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
      texts_of_now all;
      std::map<std::string, int> uids;
      int next_uid = 0;
      replica whole;
      auto killed = std::make_unique<replica>();
      unsigned too_costly = 0, wrong = 0;
      for (int step = 0; step < 120; ++step) {
        CAPTURE(step);
        const std::string name = fmt::format("p{}", below(5));
        const std::string file = "TASPolicy default/" + name;
        const unsigned what = below(10);
        std::vector<std::byte> state;
        if (what < 4) state = killed->bytes();  // the edit comes while the replica is dead
        const std::string* text = nullptr;
        if (below(8) == 0) {
          all.erase(file);
          uids.erase(name);
        } else {
          if (!uids.contains(name)) uids[name] = next_uid++;
          all[file] = object(name, uids[name], 1 + below(8), static_cast<int>(below(50)), below(4) == 0);
          text = &all[file];
        }
        whole.edit(file, text);
        if (what < 4) {
          killed = std::make_unique<replica>();
          killed->go_on_from(state);
          killed->read_all(all);
        } else {
          killed->edit(file, text);
        }
        REQUIRE(killed->says() == whole.says());
        too_costly += whole.says().find("last good version stays in force: ") != std::string::npos ? 1 : 0;
        wrong += whole.says().find("note: the last good version") != std::string::npos ? 1 : 0;
      }
      CHECK(too_costly > 0);
      CHECK(wrong > 0);
    }
  }

  TEST_CASE("a replica that ends before it has read the policies passes on what it was told of them") {
    const std::string file = "TASPolicy default/p", right = object("p", 1, 3, 80, false),
                      wrong = object("p", 1, 3, 80, true);
    replica whole;
    whole.edit(file, &right);
    replica between;
    between.go_on_from(whole.bytes());
    between.whole.tick(between.now += core::snapshot_counts_for);  // the API server was away for long
    replica again;
    again.go_on_from(between.bytes());
    whole.edit(file, &wrong);
    again.read_all({{file, wrong}});
    CHECK(again.says() == whole.says());
    CHECK(again.says().find("deschedule") != std::string::npos);
  }

  // The other replica began with nothing after an edit of p went wrong, so it knows no good version of p.
  TEST_CASE("what a replica's state does not say of a policy's versions comes from the file") {
    const std::string p = "TASPolicy default/p", q = "TASPolicy default/q";
    const std::string right = object("p", 1, 3, 80, false), wrong = object("p", 1, 3, 80, true),
                      old_one = object("q", 2, 2, 80, false), new_one = object("q", 2, 2, 90, false);
    replica whole, killed, other;
    whole.read_all({{p, right}, {q, old_one}});
    killed.read_all({{p, right}, {q, old_one}});
    for (const auto& [file, text] : texts_of_now{{p, wrong}, {q, new_one}}) whole.edit(file, &text);
    other.read_all({{q, new_one}});
    replica again;
    std::vector<kept_state> states(2);
    states[0].all = decode(other.bytes()).value();
    states[1].all = decode(killed.bytes()).value();
    again.whole.recall(std::move(states), again.now);
    std::map<std::string, std::size_t> versions;
    for (const policy::kept_policy& k : again.whole.recalled_policies()) ++versions[k.value.key.name];
    CHECK((versions == std::map<std::string, std::size_t>{{"p", 1}, {"q", 1}}));
    again.texts.recall(again.whole.recalled_policies());
    again.read_all({{p, wrong}, {q, new_one}});
    CHECK(again.says() == whole.says());
    CHECK(again.says().find("deschedule") != std::string::npos);
  }

  TEST_CASE("until all policies are read none takes the room of another that was in force") {
    const std::string old = "TASPolicy default/old", young = "TASPolicy default/young";
    const std::string old_one = object("old", 1, 4, 80, false), old_two = object("old", 1, 6, 80, false),
                      young_one = object("young", 2, 6, 80, false);
    replica whole;
    whole.edit(old, &old_one);
    whole.edit(young, &young_one);
    replica again;
    again.go_on_from(whole.bytes());
    whole.edit(old, &old_two);
    again.texts.put_object(old, old_two);  // the first page of a list
    again.give(false);
    CHECK(again.says() == whole.says());
    again.read_all({{old, old_two}, {young, young_one}});
    CHECK(again.says() == whole.says());
    CHECK(again.says().find("its last good version stays in force") != std::string::npos);
    // A policy that was deleted while the replica was dead ends when the last page has been read.
    replica late;
    late.go_on_from(whole.bytes());
    late.read_all({{old, old_two}});
    CHECK(late.says().find("default/young") == std::string::npos);
  }

  TEST_CASE("versions of policies keep within a quarter of a snapshot; those that no text says come first") {
    replica small(true, 16'000);
    texts_of_now all;
    for (int i = 0; i < 10; ++i) {
      const std::string name = fmt::format("p{}", i);
      all["TASPolicy default/" + name] = object(name, i, 1, 80, false);
    }
    small.read_all(all);
    const std::string wrong = object("p9", 9, 1, 80, true);
    small.edit("TASPolicy default/p9", &wrong);
    const auto read = decode(small.bytes());
    REQUIRE(read.has_value());
    REQUIRE_FALSE(read->policies.empty());
    CHECK(read->policies.size() < 10);
    CHECK(read->policies[0].value.key.name == "p9");
    std::size_t bytes = 0;
    for (const auto& k : read->policies) bytes += size_of(k);
    CHECK(bytes <= 4'000);
    CHECK(small.whole.begin_snapshot().all.left_out == 10 - read->policies.size());
  }
}

}  // namespace restart_policies_test
