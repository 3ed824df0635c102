// A state file is read at a start and may have any content. Input: bytes of a file, or words that replace
// words of a valid snapshot.
#include "aggregator/core/core.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "aggregator/snapshot/kept_state.hpp"
#include "tests/fuzz/target.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fuzz_snapshot {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

constexpr auto policies_text = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: p}
spec:
  strategies:
    dontschedule:
      rules: [{metricname: temp, operator: GreaterThan, target: 80, for: 3s}]
    deschedule:
      maxNodes: 1
      coolDown: 5s
      rules: [{metricname: temp, operator: GreaterThan, target: 80, clearBelow: 70}]
    labeling:
      rules:
      - {metricname: temp, operator: GreaterThan, target: 75, window: 10s, labels: ["a=b"]}
      - {metricname: temp, operator: LessThan, target: 60, window: 15s, statistic: p95, labels: ["c=d"]}
      - {metricname: temp, operator: GreaterThan, target: 1, window: 15s, statistic: trend, labels: ["e=f"]}
)";

struct replica {
  void begin() {
    policy::policy_set texts;
    texts.recall(whole.recalled_policies());
    texts.put("p.yaml", policies_text);
    texts.put("torn.yaml", "{ torn");  // what was recalled of it stays
    texts.forget_recalled();
    whole.policies({texts.policies(), texts.wrong_ones(), true, texts.sources()}, now);
  }
  void live(int seconds) {
    wire::catalog announced{.version = 1};
    announced.groups.push_back({"os", {}, 1000, 4000});
    announced.series.push_back({.family = "temp"});
    const auto id = whole.node("node").value();
    whole.welcomed(id, network{{1}}, "boot", {}, now);
    whole.connected(id, "1", "10.0.0.1", now);
    if (whole.catalog(id, announced, now).has_error()) std::abort();
    for (int s = 0; s < seconds; ++s) {
      now += 1s;
      wire::batch b{.catalog_version = 1, .sent_at_ns = to_ns(now)};
      b.reads.push_back({0, to_ns(now)});
      b.values.push_back({0, 70 + s * 3});
      if (whole.batch(id, b, 0s, now).has_error()) std::abort();
      whole.tick(now);
    }
  }
  snapshot taken() const {
    auto d = whole.begin_snapshot();
    (void)whole.add_nodes(d, 100);
    return std::move(d.all);
  }

  instant now = from_ns(1'000'000'000'000);
  std::shared_ptr<const metrics::alias_table> names = std::make_shared<metrics::alias_table>();
  core whole{{.limits = {.nodes = 10}}, names, [](const change&) {}};
};

/// Whatever the core recalled, it goes on. What it then knows can be saved and read again, each policy
/// unchanged.
void go_on_from(kept_state s) {
  replica r;
  std::vector<kept_state> states;
  states.push_back(std::move(s));
  r.whole.recall(std::move(states), r.now);
  r.begin();
  r.live(3);
  const snapshot kept = r.taken();
  const auto again = decode(encode(kept));
  if (again.has_error() || again->policies.size() != kept.policies.size()) std::abort();
  for (std::size_t i = 0; i < kept.policies.size(); ++i) {
    if (again->policies[i].value != kept.policies[i].value) std::abort();
  }
  for (std::size_t i = 0; i < kept.nodes.size(); ++i) {
    if (again->nodes.at(i).tenants != kept.nodes[i].tenants) std::abort();
  }
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    auto read = decode(std::as_bytes(rest));
    if (read.has_error()) return 0;
    const clocks now{"boot", from_ns(1'000'000'000'000), std::chrono::system_clock::time_point(1h)};
    const auto age = age_of(*read, now);
    if (age && *age > 1h) return 0;
    const duration shift = shift_of(*read, now);
    go_on_from({std::move(*read), shift, age.has_value()});
    return 0;
  }
  // A snapshot of a core with some words replaced: the input is pairs of place and word.
  static const snapshot right = [] {
    replica r;
    r.begin();
    r.live(12);
    return r.taken();
  }();
  snapshot s = right;
  auto& words = s.nodes.at(0).words;
  for (std::size_t at = 0; at + 9 <= rest.size(); at += 9) {
    std::int64_t word = 0;
    std::memcpy(&word, rest.data() + at + 1, sizeof word);
    words[rest[at] % words.size()] = word;
  }
  if (rest.size() % 3 == 1) words.resize(words.size() / 2);
  go_on_from({std::move(s), data[0] % 4 == 1 ? duration(0s) : duration(5000s)});
  return 0;
}

}  // namespace fuzz_snapshot
