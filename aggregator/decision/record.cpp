#include "aggregator/decision/record.hpp"

#include <algorithm>

namespace binnacle::decision {

std::string_view to_string(verb v) noexcept {
  switch (v) {
    case verb::filter: return "filter";
    case verb::prioritize: return "prioritize";
    case verb::preempt: return "preempt";
  }
  return "unknown";
}

std::string_view to_string(outcome o) noexcept {
  switch (o) {
    case outcome::decided: return "decided";
    case outcome::no_label: return "no_label";
    case outcome::no_policy: return "no_policy";
    case outcome::no_strategy: return "no_strategy";
    case outcome::no_data: return "no_data";
  }
  return "unknown";
}

std::string_view to_string(candidate_outcome o) noexcept {
  switch (o) {
    case candidate_outcome::passed: return "passed";
    case candidate_outcome::refused: return "refused";
    case candidate_outcome::refused_missing: return "refused_missing";
    case candidate_outcome::refused_spread: return "refused_spread";
    case candidate_outcome::unknown: return "unknown";
    case candidate_outcome::scored: return "scored";
    case candidate_outcome::unscored: return "unscored";
  }
  return "unknown";
}

std::shared_ptr<const policy_facts> facts_of(const policy::published_policy& from,
                                             const policy::published_strategy& s) {
  auto facts = std::make_shared<policy_facts>();
  facts->key = from.key;
  facts->revision = from.revision;
  facts->how = from.how;
  facts->kind = s.kind;
  facts->op = s.op;
  for (const auto& published : s.rules) {
    const policy::rule& r = published.definition;
    facts->rules.push_back(
        {published.text, r.metric, r.op, r.target, r.clear, r.hold, published.values->plausible()});
  }
  if (policy::description_of(s.kind).has_power_terms) facts->power = s.power;
  return facts;
}

std::chrono::seconds record::age_of(const predict::model_note& model) const noexcept {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(at - instant{});
  return std::max(now - std::chrono::seconds(model.made_s), std::chrono::seconds(0));
}

std::size_t policy_facts::bytes() const noexcept {
  std::size_t n = sizeof(policy_facts) + key.name_space.capacity() + key.name.capacity() +
                  rules.capacity() * sizeof(rule);
  for (const rule& r : rules) n += r.text.capacity() + r.metric.capacity();
  return n;
}

std::size_t record::bytes() const noexcept {
  std::size_t n = sizeof(record) + candidates.capacity() * sizeof(candidate) +
                  cells.capacity() * sizeof(cell) + power.capacity() * sizeof(watts_cell) +
                  pod.name_space.capacity() + pod.name.capacity() + pod.uid.capacity() + wanted.capacity() +
                  strangers.capacity() * sizeof(std::string);
  for (const auto& s : strangers) n += s.capacity();
  if (spread) n += sizeof(spread::facts) + spread->areas.capacity() * sizeof(spread::facts::area);
  return n;
}

}  // namespace binnacle::decision
