#pragma once

#include "aggregator/decision/ring.hpp"

#include <chrono>

/// A decision about node-a (41.2 W), node-b (71.4 W) and others, by default/power-policy: rapl_power_watts
/// GreaterThan 60.
namespace binnacle::test {

inline decision::cell seen(std::int64_t mantissa, std::int8_t exponent = -1, std::int32_t age_ms = 180) {
  return {mantissa, age_ms, exponent, absence::none, false};
}
inline decision::cell absent(absence why) { return {0, -1, 0, why, false}; }

inline std::shared_ptr<decision::policy_facts> power_facts(
    policy::comparison op = policy::comparison::greater_than, std::int64_t target = 60) {
  auto facts = std::make_shared<decision::policy_facts>();
  facts->key = {"default", "power-policy"};
  facts->revision = 3;
  facts->rules.push_back(
      {"rapl_power_watts " + std::string(policy::to_string(op)) + " " + std::to_string(target),
       "rapl_power_watts",
       op,
       from_integer(target),
       {},
       {}});
  return facts;
}

inline decision::record power_record(std::string pod = "web-1") {
  decision::record r;
  r.wall = std::chrono::system_clock::time_point(std::chrono::seconds(1'767'225'600));
  r.took = std::chrono::microseconds(310);
  r.pod = {"default", std::move(pod), "u-1"};
  r.wanted = "power-policy";
  r.policy = power_facts();
  return r;
}

/// Adds a candidate. The node with id 0 is "node-a", with id 1 "node-b", and so on.
inline void add(decision::record& r, decision::candidate c, std::vector<decision::cell> cells) {
  ++r.asked;
  if (c.what == decision::candidate_outcome::refused ||
      c.what == decision::candidate_outcome::refused_missing)
    ++r.refused;
  if (c.id == decision::no_node) ++r.unknown;
  r.candidates.push_back(c);
  r.cells.insert(r.cells.end(), cells.begin(), cells.end());
}

inline decision::node_names letters() {
  decision::node_names names;
  for (int i = 0; i < 26; ++i)
    names.learn(store::node_id(i), std::string("node-") + static_cast<char>('a' + i));
  return names;
}

}  // namespace binnacle::test
