// Which policies the aggregator can afford.
//
// Whoever may write TASPolicy objects decides how much memory and time the aggregator spends. Without
// limits one namespace could stop the scheduling of all. Each policy therefore has a price (cost.hpp) in
// five resources, which is compared with three limits: of one policy, of one namespace, and of all
// together.
//
// The choice is greedy, and its order is the point:
//   1. what is in force already, oldest object first, so that nothing that works is put out of force by an
//      edit of somebody else's;
//   2. then each change, oldest first: the version in force is taken off, the new one is tried, and if it
//      does not fit, the old one stays. So an edit that makes a policy cheaper makes room for others, and
//      changes that did not fit before are tried again. The result does not depend on when the last choice
//      was made.
//
// Prices grow with the number of nodes. holds_up_to_ is the size of the fleet up to which the choice
// stands, so that a node that joins costs one comparison and not a new choice. A column that several policies
// read is paid once in each sum (the sums count readers). So a policy may add little to the sum of others and
// still be expensive alone.

#include "aggregator/policy/cost/affordable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace binnacle::policy {
namespace {

constexpr unsigned most_passes = 8;

std::string_view setting_of(resource r) {
  switch (r) {
    case resource::memory: return "policy-memory-mib, and the memory that the aggregator may have";
    case resource::columns: return "policy-columns";
    case resource::label_keys: return "policy-label-keys";
    case resource::rules: return "policy-rules";
    case resource::evaluations: return "policy-evaluations";
  }
  return {};
}

std::string_view remedy(resource r) {
  switch (r) {
    case resource::memory:
      return "let rules share a window and statistic, use avg instead of another statistic, or give fewer "
             "labels";
    case resource::columns: return "use fewer different metrics, windows and statistics";
    case resource::label_keys: return "give one key with different values instead of several keys";
    case resource::rules: return "use fewer rules";
    case resource::evaluations:
      return "give the strategy fewer rules, or use avg: other statistics read every point of the window "
             "each time";
  }
  return {};
}

}  // namespace

std::vector<std::string> cost_warnings(const cost_report& costs) {
  std::vector<std::string> out;
  for (const resource r : all_resources) {
    const std::uint64_t taken = amount_of(costs.all, r, costs.nodes), most = costs.limits.of(r, scope::all);
    if (taken < most - most / 10) continue;
    out.push_back(fmt::format(
        "policies take {} and may take {}: what is more is not in force; remove some, or raise {}",
        amount_text(r, taken), amount_text(r, most), setting_of(r)));
  }
  return out;
}

void affordable::recall(const std::vector<policy>& in_force) {
  for (const policy& p : in_force)
    in_force_[p.key] = std::make_shared<const version>(version{p, {}});  // choose() prices it
}

void affordable::choose(const std::vector<policy>& wanted, std::size_t nodes,
                        const metrics::alias_table& names) {
  all_ = {};
  namespaces_.clear();
  chosen_for_ = nodes;

  std::vector<std::shared_ptr<const version>> by_age;
  by_age.reserve(wanted.size());
  for (const policy& p : wanted) by_age.push_back(std::make_shared<version>(version{p, price(p, names)}));
  std::ranges::sort(by_age, [](const auto& a, const auto& b) {
    return std::tie(a->text.created, a->text.key) < std::tie(b->text.created, b->text.key);
  });

  // First the versions in force, then the versions that would replace them or be added.
  std::vector<std::shared_ptr<const version>> open;
  const auto before = std::exchange(in_force_, {});
  for (const auto& w : by_age) {
    const auto at = before.find(w->text.key);
    // An object that was deleted and created again does not continue with the rules of the deleted one.
    if (at == before.end() || at->second->text.uid != w->text.uid) {
      open.push_back(w);
      continue;
    }
    const bool same = at->second->text == w->text;
    // Names may have another meaning by now.
    const auto kept =
        same ? w : std::make_shared<const version>(version{at->second->text, price(at->second->text, names)});
    const bool fits = !try_add(*kept);
    if (fits) in_force_[w->text.key] = kept;
    if (!fits || !same) open.push_back(w);
  }
  // Repeated as long as a change makes room, which only a version that replaces a dearer one can do. So
  // choosing once more from the result would change nothing, but for chains of changes that are longer than
  // the number of passes: nobody may make the aggregator go on for ever.
  bool more_room = true;
  for (unsigned pass = 0; pass < most_passes && more_room; ++pass) {
    more_room = false;
    refused_.clear();
    std::vector<std::shared_ptr<const version>> still_open;
    for (const auto& w : open) {
      const auto at = in_force_.find(w->text.key);
      const auto last = at == in_force_.end() ? nullptr : at->second;
      if (last) remove(*last);
      const auto why = try_add(*w);
      if (!why) {
        in_force_[w->text.key] = w;
        more_room = more_room || last;
        continue;
      }
      if (last) add(*last);
      refused_.push_back({w->text.key, last != nullptr, sentence(*w, *why, last != nullptr)});
      still_open.push_back(w);
    }
    open = std::move(still_open);
  }

  holds_up_to_ = limits_.most_nodes(all_.total(), scope::all);
  for (const auto& [name_space, sum] : namespaces_)
    holds_up_to_ = std::min(holds_up_to_, limits_.most_nodes(sum.total(), scope::name_space));
  for (const auto& [key, v] : in_force_)
    holds_up_to_ = std::min(holds_up_to_, limits_.most_nodes(v->takes.total(), scope::policy));
}

/// Adds the version if it fits; otherwise says what it exceeds.
std::optional<affordable::excess> affordable::try_add(const version& v) {
  const auto over = [this](const cost& c, scope whose) -> std::optional<excess> {
    const auto what = limits_.exceeded(c, whose, chosen_for_);
    return what ? std::optional(excess{whose, *what, amount_of(c, *what, chosen_for_)}) : std::nullopt;
  };
  if (const auto alone = over(v.takes.total(), scope::policy)) return alone;
  auto why = over(namespaces_[v.text.key.name_space].with(v.takes), scope::name_space);
  if (!why) why = over(all_.with(v.takes), scope::all);
  if (!why) add(v);
  return why;
}

void affordable::add(const version& v) {
  all_.add(v.takes);
  namespaces_[v.text.key.name_space].add(v.takes);
}

void affordable::remove(const version& v) {
  all_.remove(v.takes);
  namespaces_[v.text.key.name_space].remove(v.takes);
}

std::string affordable::sentence(const version& v, const excess& why, bool stays) const {
  const bool grows = why.what == resource::memory || why.what == resource::evaluations;
  const std::string at = grows ? fmt::format(" at {} nodes", chosen_for_) : std::string();
  const std::string takes = amount_text(why.what, amount_of(v.takes.total(), why.what, chosen_for_));
  const std::string most = amount_text(why.what, limits_.of(why.what, why.whose));
  std::string out;
  switch (why.whose) {
    case scope::policy:
      out = fmt::format("the policy would take {}{}, and one may take {}", takes, at, most);
      break;
    case scope::name_space:
      out = fmt::format(
          "the policy would take {}{}; the policies of namespace {} would then take {}, and may "
          "take {}",
          takes, at, v.text.key.name_space, amount_text(why.what, why.amount), most);
      break;
    case scope::all:
      out = fmt::format("the policy would take {}{}; all policies would then take {}, and may take {}", takes,
                        at, amount_text(why.what, why.amount), most);
      break;
  }
  return too_costly_text(std::move(out), stays, remedy(why.what));
}

std::vector<policy> affordable::in_force() const {
  std::vector<policy> out;
  out.reserve(in_force_.size());
  for (const auto& [key, v] : in_force_) out.push_back(v->text);
  return out;
}

std::map<store::column_spec, std::set<std::string, std::less<>>> affordable::readers() const {
  std::map<store::column_spec, std::set<std::string, std::less<>>> out;
  for (const auto& [key, v] : in_force_) {
    for (const auto& [column, takes] : v->takes.columns) out[column].insert(key.name_space);
  }
  return out;
}

cost_report affordable::report() const {
  cost_report out;
  out.nodes = chosen_for_;
  out.limits = limits_;
  for (const auto& [key, v] : in_force_) out.policies.push_back({key, v->takes.total()});
  out.all = all_.total();
  return out;
}

}  // namespace binnacle::policy
