#pragma once

#include "aggregator/policy/cost/limits.hpp"
#include "aggregator/policy/cost/report.hpp"
#include "aggregator/policy/policy.hpp"
#include "aggregator/policy/too_costly.hpp"

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace binnacle::policy {

/// Which policies are in force, of those that are wanted: as many as the limits allow, at the fleet's size.
/// A policy that is in force goes before a new one, so that no edit puts another policy out of force. Then an
/// older object goes before a younger one (policy::created, then by key). Pure.
///
/// The texts alone do not say what is in force: that depends on what came first. So a replica that starts
/// later, or again, takes what is in force from a snapshot (recall()), and then chooses as a replica that has
/// run all the time. Without a snapshot it chooses by age.
///
/// When the fleet outgrows the limits, the youngest policies go out of force: a process that is killed for
/// its memory judges nothing at all.
class affordable {
 public:
  explicit affordable(cost_limits limits) : limits_(limits) {}

  /// These versions were in force in an earlier process. Before the first choice.
  void recall(const std::vector<policy>& in_force);
  /// Chooses anew. `wanted` has each key once.
  void choose(const std::vector<policy>& wanted, std::size_t nodes, const metrics::alias_table& names);
  /// Whether a fleet of another size could change the choice: it has outgrown a limit, or shrunk so far that
  /// what was too much may fit again (by a tenth, so that policies do not go in and out of force).
  bool outdated(std::size_t nodes) const noexcept {
    return nodes > holds_up_to_ || (!refused_.empty() && nodes < chosen_for_ - chosen_for_ / 10);
  }

  /// By key.
  std::vector<policy> in_force() const;
  const std::vector<too_costly>& refused() const noexcept { return refused_; }
  cost_report report() const;
  /// The namespaces whose policies in force read each column.
  std::map<store::column_spec, std::set<std::string, std::less<>>> readers() const;

 private:
  struct version {
    policy text;
    priced takes;
  };
  struct excess {
    scope whose;
    resource what;
    std::uint64_t amount;
  };
  std::optional<excess> try_add(const version& v);
  void add(const version& v);
  void remove(const version& v);
  std::string sentence(const version& v, const excess& why, bool stays) const;

  cost_limits limits_;
  std::map<policy_key, std::shared_ptr<const version>> in_force_;
  std::vector<too_costly> refused_;
  bill all_;
  std::map<std::string, bill> namespaces_;
  std::size_t chosen_for_ = 0;
  std::size_t holds_up_to_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace binnacle::policy
