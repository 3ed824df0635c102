// One core goes on from a snapshot, beside one that was never stopped. Both must say the same.
#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace restart_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

constexpr auto policies_text = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: hot}
spec:
  strategies:
    dontschedule:
      rules: [{metricname: temp, operator: GreaterThan, target: 80, for: 3s}]
    deschedule:
      maxNodes: 2
      coolDown: 7s
      rules: [{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70, for: 2s}]
---
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: smooth}
spec:
  strategies:
    labeling:
      rules:
      - {metricname: temp, operator: GreaterThan, target: 75, window: 10s, labels: ["warm=yes"]}
      - {metricname: temp, operator: LessThan, target: 60, window: 15s, statistic: p95, labels: ["cold=yes"]}
)";

// Whose state only dontschedule knows: no label on a node says it.
constexpr auto unlabelled_text = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: band}
spec: {strategies: {dontschedule: {rules: [{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 60}]}}}
---
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: slow}
spec: {strategies: {dontschedule: {rules: [{metricname: temp, operator: GreaterThan, target: 80, for: 50s}]}}}
)";

// Another target, band and `for`.
constexpr auto edited_text = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: band}
spec: {strategies: {dontschedule: {rules: [{metricname: temp, operator: GreaterThan, target: 85, clearBelow: 62}]}}}
---
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: slow}
spec: {strategies: {dontschedule: {rules: [{metricname: temp, operator: GreaterThan, target: 80, for: 55s}]}}}
)";

/// From the sixth second on every other node is inside the band, and from the twelfth on the others are hot.
int unlabelled_temp(std::size_t n, int t) {
  if (n % 2 == 0) return t < 5 ? 90 : 65;
  return t < 11 ? 50 : 90;
}

// What each node does by itself, however many others a replica hears.
constexpr auto each_for_itself = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: each}
spec:
  strategies:
    dontschedule:
      rules: [{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 60}]
    labeling:
      rules:
      - {metricname: temp, operator: GreaterThan, target: 75, window: 30s, labels: ["warm=yes"]}
      - {metricname: temp, operator: GreaterThan, target: 70, for: 5s, labels: ["long=yes"]}
)";

constexpr std::size_t fleet = 6;
std::string name_of(std::size_t n) { return "node-" + std::to_string(n); }

/// A core and, in a cluster, the Node objects of an API server. Its clock counts from a boot of its own.
struct replica {
  replica(bool in_cluster, duration ahead, std::size_t snapshot_bytes = 1 << 20)
      : cluster(in_cluster), boot(ahead) {
    announced = store::catalog_builder().group("os", 4'000).series("temp");
    whole = std::make_unique<core>(core_options{.snapshot_bytes = snapshot_bytes, .in_cluster = in_cluster},
                                   names, [this](const change& c) {
                                     const auto* news = std::get_if<faces_news>(&c);
                                     if (news == nullptr) return;
                                     if (const auto* w = std::get_if<wishes_changed>(news))
                                       wishes.insert(wishes.end(), w->wishes.begin(), w->wishes.end());
                                     if (const auto* l = std::get_if<labels_carried>(news);
                                         l != nullptr && !cluster)
                                       objects[l->node] = l->labels;
                                   });
  }
  /// Does what the aggregator's loops do at a start.
  void begin(instant now) {
    if (cluster) whole->set_writes_labels(false, now + boot);
    read_policies(now);
    if (!cluster) return;
    read_nodes(now);
    whole->set_writes_labels(true, now + boot);
  }
  /// The first complete list of Node objects.
  void read_nodes(instant now) {
    std::vector<labels::node_labels> told;
    for (std::size_t n = 0; n < fleet; ++n) {
      const std::string name = name_of(n);
      if (!deleted.contains(name)) told.push_back({name, objects[name], uids[name]});
    }
    whole->node_labels(told, now + boot);
    whole->all_nodes_told(now + boot);
  }
  void read_policies(instant now) {
    policies_in_force all;
    for (const auto& p : policy::parse_policies("p.yaml", text).policies) {
      all.policies.push_back(p.value);
      all.policies.back().uid = uid;
    }
    all.complete = true;
    whole->policies(all, now + boot);
  }
  /// Goes on from the bytes of a state file.
  void go_on_from(const std::vector<std::byte>& file, instant now, std::size_t nodes = fleet) {
    auto read = decode(file);
    REQUIRE(read.has_value());
    const duration shift = shift_of(*read, now_is(now));
    CHECK(whole->recall(std::move(*read), shift, now + boot) == nodes);
  }
  /// Writes the state file under the same condition as the ingest loop.
  void keep_state(std::vector<std::byte>& file, instant now) const {
    if (!whole->remembers_more()) file = encode(taken(now));
  }
  void connect(std::size_t n, instant now) {
    const auto id = whole->node(name_of(n)).value();
    whole->connected(id, "1.0", "10.0.0.1", now + boot);
    REQUIRE(whole->catalog(id, announced, now + boot).has_value());
  }
  void disconnect(std::size_t n, instant now) {
    whole->disconnected(whole->node(name_of(n)).value(), now + boot);
  }
  void value(std::size_t n, std::int64_t temp, instant now) {
    const auto id = whole->node(name_of(n)).value();
    REQUIRE(
        whole->batch(id, store::batch_at(announced, now + boot, {{0, temp}}), 0s, now + boot).has_value());
  }
  void tick(instant now) {
    whole->tick(now + boot);
    // The API server carries out the wishes and reports the new labels.
    while (!wishes.empty()) {
      std::vector<labels::node_labels> told;
      for (const auto& w : std::exchange(wishes, {})) {
        auto& have = objects[w.node];
        for (const auto& [key, wish] : w.wishes) {
          if (wish.what == policy::label_wish::action::set) have[key] = wish.value;
          if (wish.what == policy::label_wish::action::remove) have.erase(key);
        }
        told.push_back({w.node, have, uids[w.node]});
      }
      whole->node_labels(told, now + boot);
      whole->tick(now + boot);
    }
  }
  snapshot taken(instant now) const {
    auto d = whole->begin_snapshot();
    while (!whole->add_nodes(d, 2)) {
    }
    d.all.boot_id = fmt::format("boot {}", boot.count());
    d.all.taken = now + boot;
    d.all.taken_wall = wall(now);
    return d.all;
  }
  static std::chrono::system_clock::time_point wall(instant now) {
    return std::chrono::system_clock::time_point(std::chrono::nanoseconds(to_ns(now)));
  }
  clocks now_is(instant now) const { return {fmt::format("boot {}", boot.count()), now + boot, wall(now)}; }

  /// All that is visible from outside: labels, wishes, verdicts, and the values that they are made of.
  std::string says(instant now) const {
    std::string out;
    for (std::size_t n = 0; n < fleet; ++n) {
      out += name_of(n) + ":";
      if (const auto labels = objects.find(name_of(n)); labels != objects.end()) {
        for (const auto& [key, value] : labels->second) out += fmt::format(" {}={}", key, value);
      }
      const auto id = whole->store().find(name_of(n));
      if (!id) {
        out += " unknown\n";
        continue;
      }
      for (const auto& [key, wish] : whole->engine().labels(*id))
        out += fmt::format(" wish {} {} {}", key, static_cast<int>(wish.what), wish.value);
      for (const auto& [key, p] : *whole->engine().table()) {
        for (const auto& s : p->strategies) {
          if (s.verdicts) {
            const auto v = s.verdicts->load(*id);
            out += fmt::format(" {} {}{} r{} u{}", key.name, static_cast<int>(v.what), v.violating ? "!" : "",
                               v.rule, v.unknown);
          }
          for (const auto& r : s.rules) {
            const store::sample v = r.values->load(*id);
            if (v.present(now + boot))
              out += fmt::format(" {}e{} age {} left {} unknown {}%", v.value.mantissa, v.value.exponent,
                                 to_ns(now + boot) - to_ns(v.read_at),
                                 to_ns(v.expires_at) - to_ns(now + boot), v.unknown_percent);
          }
        }
      }
      out += "\n";
    }
    return out;
  }

  bool cluster;
  duration boot;
  const char* text = policies_text;
  std::string uid;  // of the policies
  std::shared_ptr<const metrics::alias_table> names = std::make_shared<metrics::alias_table>();
  wire::catalog announced;
  std::map<std::string, labels::label_map> objects;
  std::map<std::string, std::string> uids;
  std::set<std::string> deleted;  // Node objects
  std::vector<labels::node_wishes> wishes;
  std::unique_ptr<core> whole;
};

/// The values that arrive in one second, at both replicas.
struct second {
  std::vector<std::pair<std::size_t, std::int64_t>> values;
};

std::vector<second> a_random_day(unsigned seed, std::size_t seconds) {
  std::mt19937 random(seed);
  std::vector<int> temp(fleet, 72), silent(fleet, 0);
  std::vector<second> day(seconds);
  for (second& s : day) {
    for (std::size_t n = 0; n < fleet; ++n) {
      temp[n] = std::clamp(temp[n] + static_cast<int>(random() % 13) - 6, 50, 95);
      if (silent[n] > 0) {
        --silent[n];
        continue;
      }
      if (random() % 40 == 0) silent[n] = static_cast<int>(random() % 9);  // its values may expire
      s.values.emplace_back(n, temp[n]);
    }
  }
  return day;
}

}  // namespace

TEST_SUITE("aggregator/core/restart") {
  TEST_CASE(
      "a replica that is killed at any moment and goes on from its snapshot says what one says that was "
      "never killed") {
    for (const bool in_cluster : {false, true}) {
      for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(in_cluster);
        CAPTURE(seed);
        const auto day = a_random_day(seed, 60);
        const std::size_t killed_at = 5 + seed * 7 % 45;
        replica whole(in_cluster, 0s);
        instant now = store::at_s(1000);
        whole.begin(now);
        for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
        std::unique_ptr<replica> again;
        for (std::size_t t = 0; t < day.size(); ++t) {
          now += 1s;
          CAPTURE(t);
          if (t == killed_at) {
            // After another boot the times in the snapshot are shifted and ages stay the same; half of the
            // seeds keep the same boot.
            again = std::make_unique<replica>(in_cluster, seed % 2 == 0 ? duration(0s) : duration(5000s));
            whole.tick(now);  // a value that has expired by now is lost, one that expires later is not
            again->objects = whole.objects;
            again->go_on_from(encode(whole.taken(now)), now);
            again->begin(now);
            again->tick(now);
            REQUIRE(again->says(now) == whole.says(now));
            for (std::size_t n = 0; n < fleet; ++n) again->connect(n, now);
            REQUIRE(again->says(now) == whole.says(now));
          }
          for (replica* r : {&whole, again.get()}) {
            if (r == nullptr) continue;
            for (const auto& [n, temp] : day[t].values) r->value(n, temp, now);
            r->tick(now);
          }
          if (again) REQUIRE(again->says(now) == whole.says(now));
        }
      }
    }
  }

  // The second replica ends before it has read all that the first one knew.
  void second_restart(bool with_policies) {
    for (const bool in_cluster : {false, true}) {
      for (unsigned seed = 1; seed <= 10; ++seed) {
        CAPTURE(in_cluster);
        CAPTURE(seed);
        const auto day = a_random_day(seed, 60);
        const std::size_t killed_at = 20 + seed;
        replica whole(in_cluster, 0s);
        instant now = store::at_s(1000);
        whole.begin(now);
        for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
        std::unique_ptr<replica> again;
        for (std::size_t t = 0; t < day.size(); ++t) {
          now += 1s;
          CAPTURE(t);
          if (t == killed_at) {
            whole.tick(now);
            std::vector<std::byte> file = encode(whole.taken(now));
            replica between(in_cluster, 7000s);
            between.objects = whole.objects;
            between.go_on_from(file, now);
            if (with_policies) between.begin(now);
            between.tick(now);
            between.keep_state(file, now);
            again = std::make_unique<replica>(in_cluster, 3000s);
            again->objects = whole.objects;
            again->go_on_from(file, now);
            again->begin(now);
            again->tick(now);
            for (std::size_t n = 0; n < fleet; ++n) again->connect(n, now);
            REQUIRE(again->says(now) == whole.says(now));
          }
          for (replica* r : {&whole, again.get()}) {
            if (r == nullptr) continue;
            for (const auto& [n, temp] : day[t].values) r->value(n, temp, now);
            r->tick(now);
          }
          if (again) REQUIRE(again->says(now) == whole.says(now));
        }
      }
    }
  }

  TEST_CASE("a replica that ends before it has read the policies leaves the state file as it was") {
    second_restart(false);
  }

  TEST_CASE("a replica that ends before the agents are back keeps their windows in the state file") {
    second_restart(true);
  }

  TEST_CASE("agents that find a new replica late find bands and `for` of dontschedule as they were") {
    for (const bool in_cluster : {false, true}) {
      CAPTURE(in_cluster);
      replica whole(in_cluster, 0s), again(in_cluster, 5000s);
      whole.text = again.text = unlabelled_text;
      instant now = store::at_s(1000);
      whole.begin(now);
      for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
      for (int t = 0; t < 80; ++t) {
        now += 1s;
        CAPTURE(t);
        if (t == 20) {
          again.go_on_from(encode(whole.taken(now)), now);
          again.begin(now);
        }
        const bool are_back = t >= 65;  // the names' server had the address of the old replica for so long
        if (t == 65) {
          for (std::size_t n = 0; n < fleet; ++n) again.connect(n, now);
        }
        for (std::size_t n = 0; n < fleet; ++n) {
          whole.value(n, unlabelled_temp(n, t), now);
          if (are_back) again.value(n, unlabelled_temp(n, t), now);
        }
        whole.tick(now);
        if (t >= 20) again.tick(now);
        if (are_back) REQUIRE(again.says(now) == whole.says(now));
      }
    }
  }

  /// One replica sees a change of the policies, and one that is down does not. Both say the same afterwards.
  void while_down(const std::function<void(replica & whole, replica & again, instant now)>& change) {
    for (const bool in_cluster : {false, true}) {
      CAPTURE(in_cluster);
      replica whole(in_cluster, 0s), again(in_cluster, 5000s);
      whole.text = again.text = unlabelled_text;
      whole.uid = again.uid = "u1";
      instant now = store::at_s(1000);
      whole.begin(now);
      for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
      for (int t = 0; t < 90; ++t) {
        now += 1s;
        CAPTURE(t);
        if (t == 30) {
          const auto file = encode(whole.taken(now));
          change(whole, again, now);
          again.go_on_from(file, now);
          again.begin(now);
          for (std::size_t n = 0; n < fleet; ++n) again.connect(n, now);
          REQUIRE(again.says(now) == whole.says(now));
        }
        for (std::size_t n = 0; n < fleet; ++n) {
          whole.value(n, unlabelled_temp(n, t), now);
          if (t >= 30) again.value(n, unlabelled_temp(n, t), now);
        }
        whole.tick(now);
        if (t < 30) continue;
        again.tick(now);
        REQUIRE(again.says(now) == whole.says(now));
      }
    }
  }

  TEST_CASE("policies that were deleted and created again while a replica was down begin anew there, too") {
    while_down([](replica& whole, replica& again, instant now) {
      whole.whole->policies({{}, {}, true}, now + whole.boot);
      whole.uid = again.uid = "u2";
      whole.read_policies(now);
    });
  }

  TEST_CASE("policies that were edited while a replica was down are carried over there, too") {
    while_down([](replica& whole, replica& again, instant now) {
      whole.text = again.text = edited_text;
      whole.read_policies(now);
    });
  }

  TEST_CASE("in a cluster the state file waits for all policies, and no longer than the old state counts") {
    replica whole(true, 0s);
    const instant now = store::at_s(1000);
    whole.begin(now);
    for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
    replica again(true, 0s);
    CHECK_FALSE_MESSAGE(again.whole->remembers_more(), "there was no state");
    again.go_on_from(encode(whole.taken(now)), now);
    CHECK(again.whole->remembers_more());
    again.whole->policies({{}, {}, false}, now);
    CHECK_MESSAGE(again.whole->remembers_more(), "the API server has not told of all");
    again.read_policies(now);
    CHECK_FALSE(again.whole->remembers_more());
    replica late(true, 0s);
    late.go_on_from(encode(whole.taken(now)), now);
    late.whole->tick(now + 6min);
    CHECK_MESSAGE(late.whole->remembers_more(), "the API server is away for longer than usual");
    late.whole->tick(now + core::file_counts_for - 1s);
    CHECK(late.whole->remembers_more());
    late.whole->tick(now + core::file_counts_for);
    CHECK_FALSE_MESSAGE(late.whole->remembers_more(), "the file would soon be too old to go on from");
    CHECK(late.whole->tick(now + core::snapshot_counts_for - 1s) == now + core::snapshot_counts_for);
  }

  TEST_CASE("a node that was deleted while the replica was dead gives its slot back") {
    replica whole(true, 0s);
    instant now = store::at_s(1000);
    constexpr auto one_node = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: hot}
spec: {strategies: {deschedule: {maxNodes: 1, rules: [{metricname: temp, operator: GreaterThan, target: 80}]}}}
)";
    whole.text = one_node;
    whole.begin(now);
    for (const std::size_t n : {0, 1}) {
      now += 1s;
      whole.connect(n, now);
      whole.value(n, 90, now);
      whole.tick(now);
    }
    REQUIRE(whole.objects["node-0"].contains("hot"));
    REQUIRE_FALSE(whole.objects["node-1"].contains("hot"));
    replica again(true, 0s);
    again.text = one_node;
    again.deleted = {"node-0"};
    again.go_on_from(encode(whole.taken(now)), now, 2);
    again.begin(now);
    again.tick(now);
    CHECK_MESSAGE(again.objects["node-1"].contains("hot"), "it waited for the slot");
  }

  // In both orders: the API server may send its policies or its nodes first.
  TEST_CASE("a node that was made anew while the replica was dead begins anew, as where that was seen") {
    for (const bool policies_first : {true, false}) {
      for (const bool made_anew : {true, false}) {
        CAPTURE(policies_first);
        CAPTURE(made_anew);
        replica whole(true, 0s);
        whole.text = each_for_itself;
        whole.uids["node-0"] = "first";
        instant now = store::at_s(1000);
        whole.begin(now);
        whole.connect(0, now);
        for (const std::int64_t temp : {90, 90, 70}) {
          now += 1s;
          whole.value(0, temp, now);
          whole.tick(now);
        }
        const auto violates = [](const replica& r) {
          const auto id = r.whole->store().find("node-0").value();
          for (const auto& [key, p] : *r.whole->engine().table()) {
            for (const auto& s : p->strategies) {
              if (s.kind == policy::strategy_kind::dontschedule) return s.verdicts->load(id).violating;
            }
          }
          return false;
        };
        REQUIRE_MESSAGE(violates(whole), "it is in the band");
        const auto first_file = encode(whole.taken(now));
        // Another process goes on from the file, and ends before it has read the nodes.
        replica between(true, 0s);
        between.text = each_for_itself;
        between.go_on_from(first_file, now, 1);
        between.read_policies(now);
        const auto file = encode(between.taken(now));

        replica again(true, 0s);
        again.text = each_for_itself;
        again.go_on_from(file, now, 1);
        again.whole->set_writes_labels(false, now);
        again.uids["node-0"] = whole.uids["node-0"] = made_anew ? "second" : "first";
        if (made_anew) whole.whole->node_labels({{"node-0", std::nullopt}}, now);
        whole.read_nodes(now);
        if (policies_first) again.read_policies(now);
        again.read_nodes(now);
        if (!policies_first) again.read_policies(now);
        again.whole->set_writes_labels(true, now);
        for (replica* r : {&whole, &again}) r->tick(now);
        CHECK(violates(again) != made_anew);
        CHECK(again.says(now) == whole.says(now));
      }
    }
  }

  TEST_CASE("what the state says of policies counts until five minutes after they were read, not earlier") {
    replica whole(true, 0s);
    instant now = store::at_s(1000);
    whole.begin(now);
    whole.connect(0, now);
    for (int t = 0; t < 4; ++t) {
      now += 1s;
      whole.value(0, 90, now);
      whole.tick(now);
    }
    REQUIRE(whole.objects["node-0"].contains("hot"));
    const auto last_given = [](const replica& r, instant at) {
      const snapshot kept = r.taken(at);
      for (const policy::strategy_mark& m : kept.strategies) {
        if (m.kind == policy::strategy_kind::deschedule) return m.last_given;
      }
      return std::optional<instant>();
    };
    const auto given = last_given(whole, now);
    REQUIRE(given.has_value());
    const auto file = encode(whole.taken(now));
    for (const bool late : {false, true}) {
      CAPTURE(late);
      replica again(true, 0s);
      again.objects = whole.objects;
      again.go_on_from(file, now, 1);
      instant then = now + 20min;  // the API server was away
      again.whole->tick(then);
      if (late) {
        // A policy that was no policy when all had been read, and is applied after that.
        again.whole->policies({{}, {}, true}, then);
        then += core::strategies_count_for;
        again.whole->tick(then);
      }
      again.begin(then);
      CHECK((last_given(again, then) == given) != late);
    }
  }

  TEST_CASE("a node whose agent comes back after six minutes has its window, with the gap in it") {
    replica whole(false, 0s);
    instant now = store::at_s(1000);
    constexpr auto hour = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: hour}
spec: {strategies: {dontschedule: {rules: [{metricname: temp, operator: GreaterThan, target: 80, window: 1h}]}}}
)";
    whole.text = hour;
    whole.begin(now);
    whole.connect(0, now);
    for (int t = 0; t < 1'200; ++t) {
      now += 1s;
      whole.value(0, 90, now);
      whole.tick(now);
    }
    replica again(false, 0s);
    again.text = hour;
    again.go_on_from(encode(whole.taken(now)), now, 1);
    again.begin(now);
    now += 6min;
    for (replica* r : {&whole, &again}) r->tick(now);
    again.connect(0, now);
    for (replica* r : {&whole, &again}) {
      r->value(0, 90, now);
      r->tick(now);
    }
    CHECK(again.says(now) == whole.says(now));
  }

  /// What `whole` reads of a state that `of` took.
  kept_state kept_by(const replica& of, const replica& whole, instant now) {
    auto read = decode(encode(of.taken(now)));
    REQUIRE(read.has_value());
    const duration shift = shift_of(*read, whole.now_is(now));
    return {std::move(*read), shift};
  }

  // The other replica has lost nothing of nodes 0 to 2, of which this one's file lacks the last minutes. It
  // hears nodes 3 to 5 only since a moment, while the file knows them well.
  TEST_CASE("of a replica's state and its own file each node goes on as if nothing had been lost") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      const auto day = a_random_day(seed, 260);
      constexpr std::size_t lost_at = 60, found_at = 195, killed_at = 200;
      replica whole(false, 0s), killed(false, 0s), other(false, 7000s), again(false, 0s);
      instant now = store::at_s(1000);
      for (replica* r : {&whole, &killed, &other, &again}) r->text = each_for_itself;
      for (replica* r : {&whole, &killed, &other}) r->begin(now);
      for (std::size_t n = 0; n < fleet; ++n) {
        whole.connect(n, now);
        killed.connect(n, now);
        if (n < 3) other.connect(n, now);
      }
      bool restarted = false;
      std::vector<std::int64_t> temps(fleet, 72);
      for (std::size_t t = 0; t < day.size(); ++t) {
        now += 1s;
        CAPTURE(t);
        if (t == lost_at) {
          for (std::size_t n = 0; n < 3; ++n) killed.disconnect(n, now);
        }
        if (t == found_at) {
          for (std::size_t n = 3; n < fleet; ++n) other.connect(n, now);
        }
        if (t == killed_at) {
          for (replica* r : {&whole, &killed, &other}) r->tick(now);
          std::vector<kept_state> states;
          states.push_back(kept_by(other, again, now));
          states.push_back(kept_by(killed, again, now));
          CHECK((again.whole->recall(std::move(states), now) == std::vector<std::size_t>{3, 3}));
          again.begin(now);
          restarted = true;
          again.tick(now);
          for (std::size_t n = 0; n < fleet; ++n) again.connect(n, now);
          REQUIRE(again.says(now) == whole.says(now));
        }
        for (const auto& [n, temp] : day[t].values) temps[n] = temp;
        for (std::size_t n = 0; n < fleet; ++n) {
          whole.value(n, temps[n], now);
          if (restarted) again.value(n, temps[n], now);
          if (n >= 3 || t < lost_at) killed.value(n, temps[n], now);
          if (n < 3 || t >= found_at) other.value(n, temps[n], now);
        }
        for (replica* r : {&whole, &killed, &other}) r->tick(now);
        if (restarted) again.tick(now);
        if (restarted) REQUIRE(again.says(now) == whole.says(now));
      }
    }
  }

  TEST_CASE("of two states a cool-down goes on from the later label, and of a file without an age from now") {
    replica first(false, 0s), second(false, 0s);
    instant now = store::at_s(1000);
    const auto label_one = [&now](replica& r) {
      r.begin(now);
      r.connect(0, now);
      for (int t = 0; t < 4; ++t) {
        now += 1s;
        r.value(0, 90, now);
        r.tick(now);
      }
      CHECK(r.objects["node-0"].contains("hot"));
    };
    label_one(first);
    const kept_state earlier = kept_by(first, first, now);
    label_one(second);
    const kept_state later = kept_by(second, second, now);
    const auto last_given = [&now](std::vector<kept_state> states) {
      replica again(false, 0s);
      again.whole->recall(std::move(states), now);
      again.begin(now);
      const snapshot kept = again.taken(now);
      for (const policy::strategy_mark& m : kept.strategies) {
        if (m.kind == policy::strategy_kind::deschedule) return m.last_given.value_or(instant{});
      }
      return instant{};
    };
    const instant then = last_given({later});
    CHECK(then > store::at_s(1004));
    CHECK(last_given({earlier, later}) == then);
    CHECK(last_given({later, earlier}) == then);
    kept_state undated = earlier;
    undated.all.nodes.at(0).labels.clear();  // a label that is found also begins a cool-down
    undated.shift = now - undated.all.taken;
    undated.is_dated = false;
    CHECK(last_given({undated}) == now);
  }

  TEST_CASE("of a file whose age nobody knows no value, window or rule counts") {
    replica whole(false, 0s);
    whole.text = each_for_itself;
    instant now = store::at_s(1000);
    whole.begin(now);
    whole.connect(0, now);
    for (const std::int64_t temp : {90, 90, 90, 90, 90, 90, 90, 70}) {
      now += 1s;
      whole.value(0, temp, now);
      whole.tick(now);
    }
    for (const bool is_dated : {true, false}) {
      CAPTURE(is_dated);
      replica again(false, 0s);
      again.text = each_for_itself;
      std::vector<kept_state> states;
      states.push_back(kept_by(whole, again, now));
      states[0].is_dated = is_dated;
      again.whole->recall(std::move(states), now);
      CHECK(again.whole->recalled_policies().size() == 1);
      again.begin(now);
      const auto id = again.whole->store().find("node-0").value();
      for (const auto& [key, p] : *again.whole->engine().table()) {
        for (const auto& s : p->strategies) {
          for (const auto& r : s.rules) CHECK(r.values->load(id).present(now) == is_dated);
          if (s.kind == policy::strategy_kind::dontschedule)
            CHECK(s.verdicts->load(id).violating == is_dated);
        }
      }
    }
  }

  std::size_t size_of_all(const snapshot& s) {
    std::size_t out = 0;
    for (const auto& n : s.nodes) out += size_of(n);
    for (const auto& c : s.columns) out += size_of(c);
    for (const auto& m : s.strategies) out += size_of(m);
    for (const auto& k : s.policies) out += size_of(k);
    return out;
  }

  TEST_CASE("a snapshot keeps within its bound: windows go first, and the rest goes on as it was") {
    const auto live = [](replica& r, instant& now) {
      r.begin(now);
      for (std::size_t n = 0; n < fleet; ++n) r.connect(n, now);
      for (int t = 0; t < 20; ++t) {
        now += 1s;
        for (std::size_t n = 0; n < fleet; ++n) r.value(n, n % 2 == 0 ? 90 : 50 + t % 3, now);
        r.tick(now);
      }
    };
    instant end = store::at_s(1000);
    replica all(false, 0s);
    live(all, end);
    const snapshot whole = all.taken(end);
    CHECK(whole.left_out == 0);
    const std::size_t full = size_of_all(whole);
    snapshot without_nodes = whole;
    without_nodes.nodes.clear();
    const std::size_t outline = size_of_all(without_nodes);
    std::uint64_t most_left_out = 0;
    bool only_windows = false;
    for (std::size_t bound = full; bound > full / 50; bound -= full / 50) {
      CAPTURE(bound);
      replica small(false, 0s, bound);
      instant now = store::at_s(1000);
      live(small, now);
      const snapshot kept = small.taken(now);
      REQUIRE(size_of_all(kept) <= std::max(bound, outline));
      most_left_out = std::max(most_left_out, kept.left_out);
      replica again(false, 0s);
      again.objects = small.objects;
      auto read = decode(encode(kept));
      REQUIRE(read.has_value());
      const std::size_t known = again.whole->recall(std::move(*read), 0s, now);
      CHECK(known <= fleet);
      again.begin(now);
      again.tick(now);
      // Continue only where nothing but the two windows of each node was left out. Left-out policies are not
      // counted here: they have their own share of the bound.
      const std::uint64_t of_nodes = kept.left_out - (whole.policies.size() - kept.policies.size());
      if (of_nodes > 2 * fleet) continue;
      only_windows = only_windows || of_nodes == 2 * fleet;
      REQUIRE(again.says(now) == small.says(now));
    }
    CHECK(only_windows);
    CHECK(most_left_out > 2 * fleet);
  }

  TEST_CASE("what nodes learned of their watts goes through a snapshot's bytes, and fits into its bound") {
    const auto learned_by = [](core& c, instant now) {
      auto d = c.begin_snapshot();
      while (!c.add_nodes(d, 1)) {
      }
      d.all.taken = now;
      return d.all;
    };
    const auto fresh = [](std::size_t bytes) {
      auto c = std::make_unique<core>(core_options{.snapshot_bytes = bytes},
                                      std::make_shared<const metrics::alias_table>(), [](const change&) {});
      policies_in_force all;
      for (const auto& p : policy::parse_policies("p.yaml", R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: watts, namespace: default}
spec: {strategies: {minimizepower: {}}}
)")
                               .policies)
        all.policies.push_back(p.value);
      all.complete = true;
      return std::pair(std::move(c), all);
    };
    instant now = store::at_s(1000);
    auto [whole, policies] = fresh(1 << 20);
    whole->policies(policies, now);
    auto announced = store::catalog_builder().group("os", 4'000).series("os_cpu_utilization_ratio", {}, -4);
    announced.series("os_cpus").series("host_hardware_info", {{"cpu", "EPYC"}, {"sockets", "1"}});
    announced.series("host_power_watts", {{"source", "rapl"}});
    const wire::catalog catalog = announced;
    const auto connect = [&catalog](core& c, instant at) {
      const auto id = c.node("a").value();
      c.connected(id, "1.0", "10.0.0.1", at);
      REQUIRE(c.catalog(id, catalog, at).has_value());
      return id;
    };
    const auto second = [&catalog](core& c, store::node_id id, instant at) {
      REQUIRE(c.batch(id, store::batch_at(catalog, at, {{0, 3000}, {1, 16}, {2, 1}, {3, 200}}), 0s, at)
                  .has_value());
      for (int i = 0; i < 10; ++i) c.tick(at + i * 100ms);
    };
    const auto id = connect(*whole, now);
    for (int t = 0; t < 40; ++t) second(*whole, id, now += 1s);
    REQUIRE(whole->learning().counted()[0] > 20);
    const snapshot kept = learned_by(*whole, now);
    store::words before, after;
    REQUIRE(whole->learning().save(id, before));

    auto read = decode(encode(kept));
    REQUIRE(read.has_value());
    auto [again, same] = fresh(1 << 20);
    CHECK(again->recall(std::move(*read), 0s, now) == 1);
    again->policies(same, now);
    REQUIRE(again->learning().save(again->node("a").value(), after));
    CHECK(after == before);
    // The next snapshot of the new core has the learned data, too, before and after the agent is back.
    CHECK(learned_by(*again, now).nodes.at(0).words.size() >= before.size());
    const auto there = connect(*again, now);
    for (int t = 0; t < 20; ++t) second(*again, there, now += 1s);
    after.clear();
    REQUIRE(again->learning().save(there, after));
    CHECK(after[1] > before[1]);  // the number of samples

    // If the bound is too small for all that a node learned, the rest is kept, and what is left out is
    // counted.
    const std::size_t full = size_of(kept.nodes.at(0));
    for (std::size_t bytes = 2 * full; bytes > 0; bytes -= bytes / 8 + 1) {
      CAPTURE(bytes);
      auto [tight, policies_of_it] = fresh(bytes);
      tight->policies(policies_of_it, now);
      const auto node = connect(*tight, now);
      for (int t = 0; t < 15; ++t) second(*tight, node, now += 1s);
      const snapshot some = learned_by(*tight, now);
      if (!some.nodes.empty()) CHECK(size_of(some.nodes[0]) <= bytes);
      auto back = decode(encode(some));
      REQUIRE(back.has_value());
      auto [other, p] = fresh(bytes);
      other->recall(std::move(*back), 0s, now);
    }
  }

  TEST_CASE("a snapshot of several messages is read as it was written, and one that is cut is refused") {
    snapshot s;
    s.boot_id = "boot";
    s.taken = store::at_s(5);
    s.columns.push_back({{"temp", 10s, store::statistic::p95}, "meaning"});
    for (int i = 0; i < 4; ++i)
      s.nodes.push_back({name_of(static_cast<std::size_t>(i)), store::words(40'000, 0), {{"key", "value"}}});
    s.nodes[3].words.back() = 7;
    const std::vector<std::byte> bytes = encode(s);
    const auto read = decode(bytes);
    REQUIRE(read.has_value());
    REQUIRE(read->nodes.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(read->nodes[i].name == s.nodes[i].name);
      CHECK(read->nodes[i].words == s.nodes[i].words);
      CHECK(read->nodes[i].labels == s.nodes[i].labels);
    }
    CHECK(read->columns.size() == 1);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      CAPTURE(cut);
      REQUIRE(decode(std::span(bytes).first(cut)).has_error());
    }
  }
}

}  // namespace restart_test
