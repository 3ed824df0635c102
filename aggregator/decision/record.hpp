#pragma once

#include "aggregator/policy/published/published.hpp"
#include "aggregator/predict/last_watts.hpp"
#include "aggregator/spread/facts.hpp"
#include "aggregator/store/name_index.hpp"
#include "aggregator/store/types.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What one answer to the scheduler was made from, in a form so compact that thousands can be kept.
namespace binnacle::decision {

enum class verb : std::uint8_t {
  filter,
  prioritize,
  preempt,  ///< at which of the full nodes kube-scheduler may evict pods to make room for this one
};
inline constexpr std::array all_verbs{verb::filter, verb::prioritize, verb::preempt};

/// How the whole call was decided.
enum class outcome : std::uint8_t {
  decided,      ///< by the policy
  no_label,     ///< the pod has no telemetry-policy label: every node passes, no scores
  no_policy,    ///< the pod's namespace has no policy of the label's name: treated as no_label
  no_strategy,  ///< the policy has no strategy for this verb: treated as no_label
  no_data,  ///< the aggregator knows no value for any candidate (start, cut-off), or the pod says too little:
            ///< every node passes, no scores
};
inline constexpr std::size_t outcomes = static_cast<std::size_t>(outcome::no_data) + 1;

/// What became of one candidate. In the API and the metrics its name is `verdict`.
enum class candidate_outcome : std::uint8_t {
  passed,
  refused,          ///< the policy's rules hold there
  refused_missing,  ///< onMissing: Reject, and data is missing
  refused_spread,   ///< by the pod's annotation: other areas have fewer pods of the workload
  unknown,          ///< passed: no agent of that name was ever seen
  scored,           ///< prioritize
  unscored,         ///< prioritize: no fresh value, or the true value may be worse: score 0
};
inline constexpr std::size_t candidate_outcomes = static_cast<std::size_t>(candidate_outcome::unscored) + 1;
constexpr bool is_refused(candidate_outcome o) noexcept {
  return o == candidate_outcome::refused || o == candidate_outcome::refused_missing ||
         o == candidate_outcome::refused_spread;
}

/// What a strategy must yield so that it can answer the verb.
constexpr policy::yield asked_for(verb v) noexcept {
  return v == verb::prioritize ? policy::yield::scores : policy::yield::refusals;
}

std::string_view to_string(verb v) noexcept;
std::string_view to_string(outcome o) noexcept;
std::string_view to_string(candidate_outcome o) noexcept;

/// The part of a policy that explains a decision. It is a copy, so that a record does not keep the columns of
/// a replaced policy in memory.
struct policy_facts {
  policy::policy_key key;
  std::uint64_t revision = 0;
  policy::mode how = policy::mode::enforce;
  policy::strategy_kind kind = policy::strategy_kind::dontschedule;
  policy::logic op = policy::logic::any_of;
  struct rule {
    std::string text;  ///< "rapl_power_watts GreaterThan 60"
    std::string metric;
    policy::comparison op = policy::comparison::greater_than;
    quantity target;
    std::optional<quantity> clear;
    duration hold{};
    metrics::plausible_range plausible = {};  ///< the range of possible values
  };
  std::vector<rule> rules;                   ///< prioritize: the one rule that ranks nodes
  std::optional<policy::power_terms> power;  ///< minimizepower

  std::size_t bytes() const noexcept;
};

/// Copies the facts that records need from strategy `s` of the policy `from`.
std::shared_ptr<const policy_facts> facts_of(const policy::published_policy& from,
                                             const policy::published_strategy& s);

/// One rule's value at one node, read once, at the decision.
struct cell {
  std::int64_t mantissa = 0;
  std::int32_t age_ms = -1;  ///< at the decision; -1: never read
  std::int8_t exponent = 0;
  absence reason = absence::not_read_yet;  ///< none: there was a value
  bool partial : 1 = false;                ///< some members gave no value
  std::uint8_t unknown_percent : 7 = 0;    ///< store::sample's: of the rule's window
  store::certainty sure = store::certainty::exact;

  bool present() const noexcept { return reason == absence::none; }
  decimal value() const noexcept { return {mantissa, exponent}; }
  /// store::sample::covers_window().
  bool covers_window() const noexcept { return unknown_percent <= 100 - store::least_covered_percent; }
};
static_assert(sizeof(cell) == 16, "thousands of records of thousands of nodes: a cell is two words");

/// The candidate has no id: see record::strangers.
inline constexpr store::node_id no_node = store::name_index::none;

/// How prioritize treated a value.
enum class standing : std::uint8_t {
  usual,        ///< as it is
  beyond,       ///< far outside the others' range; counted as the end of that range
  implausible,  ///< impossible; counted as absent
};

struct candidate {
  store::node_id id = no_node;
  candidate_outcome what = candidate_outcome::passed;
  std::int8_t score = 0;  ///< prioritize
  std::uint16_t rule =
      0;  ///< index of the rule that decided, for refused; for refused_spread, spread::why()'s
  std::uint8_t crowd = 0;            ///< prioritize: points taken off for pods just placed there
  standing value = standing::usual;  ///< prioritize
};

/// What the pod would cost on a candidate, as it was predicted (minimizepower).
using watts_cell = predict::watts_cell;

struct pod_ref {
  std::string name_space;
  std::string name;
  std::string uid;
};

struct record {
  std::uint64_t id = 0;  ///< given by the ring, ascending from 1
  verb what = verb::filter;
  outcome how = outcome::decided;
  instant at{};
  std::chrono::system_clock::time_point wall{};
  duration took{};               ///< from the last piece of the request to the answer
  bool judging_stopped = false;  ///< verdicts were out of date, so onMissing decided
  pod_ref pod;
  std::string wanted;                          ///< the policy name on the pod's label
  std::shared_ptr<const policy_facts> policy;  ///< null unless the policy was found and has the strategy

  std::uint32_t asked = 0;    ///< candidates in the request
  std::uint32_t refused = 0;  ///< in DryRun also nodes that the policy would refuse
  std::uint32_t unknown = 0;  ///< candidates that this aggregator has never seen
  /// The first candidates in request order, as many as the bounds allowed; empty unless outcome is decided or
  /// no_data.
  std::vector<candidate> candidates;
  std::vector<cell> cells;        ///< candidates.size() × policy->rules.size(), candidate by candidate
  std::vector<watts_cell> power;  ///< minimizepower: one for each of `candidates`; else empty
  double pod_cores = 0;           ///< minimizepower: what the pod is taken to use
  std::shared_ptr<const spread::facts> spread;  ///< null: the pod does not ask to be spread
  std::vector<std::string> strangers;           ///< names of the first unknown candidates, in order

  bool dry_run() const noexcept { return policy && policy->how == policy::mode::dry_run; }
  std::uint32_t refused_by_spread() const noexcept { return spread ? spread->refused : 0; }
  std::size_t rules() const noexcept { return policy ? policy->rules.size() : 0; }
  std::span<const cell> cells_of(std::size_t candidate) const noexcept {
    return std::span(cells).subspan(candidate * rules(), rules());
  }
  /// How old a model was at the decision.
  std::chrono::seconds age_of(const predict::model_note& model) const noexcept;
  /// Bytes that this record holds. The policy's facts are not counted, because many records share them.
  std::size_t bytes() const noexcept;
};

}  // namespace binnacle::decision
