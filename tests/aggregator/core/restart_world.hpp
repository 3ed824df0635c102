#pragma once

#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// Replicas that are killed and go on, beside one that was never stopped, in one process.
namespace restart_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

inline constexpr auto policies_text = R"(
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
inline constexpr auto unlabelled_text = R"(
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
inline constexpr auto edited_text = R"(
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
inline int unlabelled_temp(std::size_t n, int t) {
  if (n % 2 == 0) return t < 5 ? 90 : 65;
  return t < 11 ? 50 : 90;
}

// What each node does by itself, however many others a replica hears.
inline constexpr auto each_for_itself = R"(
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

inline constexpr std::size_t fleet = 6;
inline std::string name_of(std::size_t n) { return "node-" + std::to_string(n); }

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

inline std::vector<second> a_random_day(unsigned seed, std::size_t seconds) {
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

}  // namespace restart_test
