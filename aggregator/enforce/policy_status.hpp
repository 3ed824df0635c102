#pragma once

#include "aggregator/policy/engine/events.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/policy/text/problem.hpp"
#include "common/clock.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// What is written to the API server, as values: no sockets, no clocks.
namespace binnacle::enforce {

using wall = std::chrono::system_clock::time_point;

/// What there is to say about one policy now.
struct policy_facts {
  std::int64_t generation = 0;  ///< of the object's spec that all this is about
  bool in_force = false;
  bool dry_run = false;
  std::string would_label;                   ///< a sentence, in a dry run that would label nodes
  std::vector<std::string_view> strategies;  ///< in force
  std::size_t errors = 0;
  std::string first_error;  ///< with its place in the object
  std::string not_allowed, conflict, held, frozen, unmeasured,
      too_costly,  ///< sentences; empty: it is not so
      refused;     ///< why agents end their sessions over a metric of the policy
  std::size_t nodes = 0;
  std::size_t violating_nodes = 0;     ///< by any strategy
  std::vector<std::string> violating;  ///< the first hundred by name
  std::optional<duration> oldest_age;  ///< of the values that its rules see
};

/// `problems` are those of all policies, as last read; `object_name` is what they call this one.
policy_facts facts_of(const policy::policy_key& key, std::string_view object_name, std::int64_t generation,
                      const policy::view& nodes, const std::vector<policy::problem>& problems,
                      const std::vector<policy::condition>& conditions, instant now);

/// Adds what keeps this policy's labels from nodes: `foreign` are keys that somebody else has set, with the
/// names of the nodes.
void add_foreign(policy_facts& to, const std::string& policy,
                 const std::map<std::string, std::set<std::string>>& foreign);

/// The status as the CRD has it. A condition whose status is as in `present` (the object's status now) keeps
/// the time of its last transition.
boost::json::object status_of(const policy_facts& facts, const boost::json::object& present, wall clock);

/// "True", "False", "Unknown", or empty: there is no such condition.
std::string_view condition_in(const boost::json::object& status, std::string_view type);

enum class urgency : std::uint8_t {
  none,     ///< nothing differs
  refresh,  ///< only the data's age, by some minutes
  change,   ///< something that matters to a person
};
urgency difference(const boost::json::object& wanted, const boost::json::object& present);

/// What an event is to say when `wanted` is the status now and `present` was the one before.
struct news {
  bool warning = false;
  std::string reason, action, text;
};
std::vector<news> news_of(const boost::json::object& wanted, const boost::json::object& present);

/// As one JSON object for a merge patch: what `present` has and `wanted` has not is null.
std::string patch_of(const boost::json::object& wanted, const boost::json::object& present);

}  // namespace binnacle::enforce
