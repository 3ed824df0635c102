#include "aggregator/policy/cost/affordable.hpp"
#include "aggregator/policy/engine/engine.hpp"
#include "aggregator/policy/label_keys.hpp"
#include "aggregator/policy/text/kept_policy.hpp"
#include "aggregator/policy/text/lint.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "common/metrics/alias_table.hpp"
#include "common/text/label_syntax.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fuzz_policy_yaml {

/// Any text as a policy file. It is read, linted and put in force without a crash and within its bounds, and
/// the resulting policies are valid. Input: the file.
namespace {

using namespace binnacle;
using namespace binnacle::policy;

void hold(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "fuzz_policy_yaml: %s\n", what);
  std::abort();
}

class no_columns : public column_source {
 public:
  watched watch(const store::column_spec& spec, instant) override {
    return {store::column_id{next_++}, std::make_shared<store::shared_column>(spec)};
  }
  void release(store::column_id) override { ++released_; }
  duration stale_after(store::column_id) const override { return {}; }
  family_names announced() const override { return announced_; }

 private:
  std::uint32_t next_ = 0;
  int released_ = 0;
  const family_names announced_{};
};

class nobody : public sink {
 public:
  void happened(const event&) override {}
  void changed(const condition&) override {}
  void relabel(store::node_id) override {}
  void published(std::shared_ptr<const policy_table>) override {}
};

void check(const rule& r) {
  hold(!r.metric.empty() && r.metric.size() <= 253, "a metric's name is out of bounds");
  hold(r.window >= duration::zero() && r.hold >= duration::zero(), "a negative duration got through");
  hold(!r.stale_after || *r.stale_after > duration::zero(), "a staleAfter of nothing got through");
  if (r.clear) {
    hold(!clearing_key(r.op).empty(), "Equals clears at a value of its own");
    hold(towards(r.op) == direction::larger ? *r.clear <= r.target : *r.clear >= r.target,
         "clears before it is violated");
  }
}

void check(const binnacle::policy::policy& p) {
  hold(is_dns_subdomain(p.key.name) && is_dns_subdomain(p.key.name_space), "an illegal name got through");
  for (const strategy& s : p.strategies) {
    hold(!s.rules.empty() && s.rules.size() <= most_rules, "a strategy's rules are out of bounds");
    hold(std::ranges::count(p.strategies, s.kind, &strategy::kind) == 1, "a strategy is there twice");
    for (const rule& r : s.rules) {
      check(r);
      for (const auto& [name, value] : r.labels) {
        hold(label_key_flaw(labeling_key(p.key, name)).empty() && label_value_flaw(value).empty(),
             "an illegal label got through");
      }
    }
    if (s.kind == strategy_kind::deschedule)
      hold(label_key_flaw(deschedule_key(p.key)).empty(), "an illegal label key got through");
  }
}

constexpr std::size_t small_fleet = 50, large_fleet = 100'000;

/// The cost of policies can be computed for any text and is not lower on a larger fleet. The policies that
/// are accepted keep within the limits.
void check_costs(const std::vector<binnacle::policy::policy>& wanted) {
  const metrics::alias_table names;
  const cost_limits limits;
  bill all;
  for (const binnacle::policy::policy& p : wanted) {
    const priced takes = price(p, names);
    const cost total = takes.total();
    std::size_t rules = 0;
    for (const strategy& s : p.strategies) rules += s.rules.size();
    hold(total.columns <= rules, "more columns than rules");
    hold(p.strategies.empty() || total.node_bytes > 0, "a policy is free");
    for (const resource r : all_resources)
      hold(amount_of(total, r, small_fleet) <= amount_of(total, r, large_fleet), "a larger fleet costs less");
    all.add(takes);
  }
  for (const binnacle::policy::policy& p : wanted) all.remove(price(p, names));
  hold(all.total() == cost{}, "what was added and removed costs something");

  affordable chosen(limits);
  for (const std::size_t nodes : {small_fleet, large_fleet, small_fleet}) {
    chosen.choose(wanted, nodes, names);
    hold(chosen.in_force().size() + chosen.refused().size() >= wanted.size(), "a policy is nowhere");
    hold(!limits.exceeded(chosen.report().all, scope::all, nodes), "what is taken is beyond the limits");
    for (const too_costly& no : chosen.refused()) hold(!no.message.empty(), "a refusal without a sentence");
  }
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const parsed_text parsed = parse_policies("fuzz.yaml", text);
  hold(parsed.policies.size() <= most_policies, "too many policies");
  hold(parsed.problems.size() <= findings::most + 1, "too many problems");
  for (const problem& p : parsed.problems) {
    hold(!p.message.empty() && p.message.size() < 1'000 && p.field.size() < 1'000,
         "a message is empty or endless");
    hold(std::ranges::none_of(p.text(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }),
         "a message has control characters");
  }
  for (const parsed_policy& p : parsed.policies) {
    check(p.value);
    if (!p.usable) continue;
    const std::string manifest = manifest_of(p.value);
    hold(manifest.size() <= size_of(kept_policy{p.value, {}}), "a manifest is longer than its bound");
    hold(policy_of_manifest(manifest) == p.value,
         "what a snapshot keeps of a policy differs from the policy");
  }
  (void)lint("fuzz.yaml", text);

  policy_set set;
  set.put("fuzz.yaml", text);
  const auto first = set.policies();
  set.put("fuzz.yaml", text);
  hold(set.policies() == first, "the same text twice changed the policies");

  check_costs(first);

  no_columns columns;
  nobody listener;
  engine e(columns, listener);
  e.node_added(store::node_id{0}, instant(std::chrono::hours(1)));
  e.set_policies(first, instant(std::chrono::hours(1)));
  e.set_policies({}, instant(std::chrono::hours(2)));
  hold(e.deadlines_under_way() == 0, "deadlines stayed behind");
  return 0;
}

}  // namespace fuzz_policy_yaml
