#include "aggregator/core/recollection.hpp"

#include <algorithm>

namespace binnacle::aggregator {

void recollection::drop_others() {
  std::vector<std::vector<bool>> named;
  for (const kept_state& s : states_) named.emplace_back(s.all.nodes.size());
  for (const auto& [id, at] : places_) named[at.state][at.node] = true;
  for (std::size_t s = 0; s < states_.size(); ++s) {
    for (std::size_t n = 0; n < named[s].size(); ++n) {
      if (!named[s][n]) states_[s].all.nodes[n] = {};
    }
  }
}

void recollection::drop_policies() {
  for (kept_state& s : states_) s.all.policies = std::vector<policy::kept_policy>();
}

const kept_node* recollection::place_of(store::node_id node) const {
  const auto place = places_.find(store::index(node));
  return place == places_.end() ? nullptr : &place->second;
}

/// A node's words hold few sections, so looking through them costs less than an index of them would.
std::optional<store::word_reader> recollection::find(section which, std::size_t number, kept_node at) const {
  if (!states_[at.state].is_dated) return std::nullopt;
  store::word_reader from(node(at).words, states_[at.state].shift);
  for (const section s : {section::columns, section::strategies}) {
    for (std::int64_t left = from.next(); left > 0 && from.ok(); --left) {
      const std::int64_t named = from.next(), length = from.next();
      const store::word_reader part = from.part(length);
      if (!from.ok()) return std::nullopt;
      if (s == which && named == static_cast<std::int64_t>(number)) return part;
    }
  }
  return std::nullopt;
}

std::optional<store::word_reader> recollection::learned(kept_node at) const {
  store::word_reader from(node(at).words, states_[at.state].shift);
  for (const section before : {section::columns, section::strategies}) {
    (void)before;
    for (std::int64_t left = from.next(); left > 0 && from.ok(); --left) {
      (void)from.next();
      const std::int64_t length = from.next();
      (void)from.part(length);
    }
  }
  const std::int64_t length = from.next();  // 0 or absent: nothing was learned, or an older snapshot
  const store::word_reader part = from.part(length);
  return from.ok() && length > 0 ? std::optional(part) : std::nullopt;
}

std::optional<store::word_reader> recollection::column(const store::column_spec& spec,
                                                       std::string_view meaning, store::node_id node) const {
  const kept_node* const place = place_of(node);
  if (place == nullptr) return std::nullopt;
  const auto& columns = states_[place->state].all.columns;
  const auto at = std::ranges::find(columns, spec, &snapshot::column::spec);
  if (at == columns.end() || at->meaning != meaning) return std::nullopt;
  return find(section::columns, static_cast<std::size_t>(at - columns.begin()), *place);
}

std::optional<policy::remembered_strategy> recollection::strategy(const policy::policy_key& key,
                                                                  std::string_view uid,
                                                                  policy::strategy_kind kind) const {
  std::vector<std::optional<std::size_t>> numbers;  // of the strategy, by state
  std::optional<std::size_t> followed;              // the state of most nodes
  std::optional<instant> last_given;
  std::optional<bool> disowned;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const kept_state& s = states_[i];
    const auto at = std::ranges::find_if(s.all.strategies, [&](const policy::strategy_mark& m) {
      return m.key == key && m.kind == kind && (m.uid.empty() || m.uid == uid);
    });
    numbers.emplace_back();
    if (at == s.all.strategies.end()) {
      // Labels' keys hold the policy's name alone, so a policy in another namespace has given them.
      const bool others = std::ranges::any_of(s.all.strategies, [&](const policy::strategy_mark& m) {
        return m.key != key && m.key.name == key.name && m.kind == kind && !m.disowned;
      });
      if (others && !disowned) disowned = true;
      continue;
    }
    if (!disowned) disowned = at->disowned;
    numbers.back() = static_cast<std::size_t>(at - s.all.strategies.begin());
    if (!followed || nodes_of_[i] > nodes_of_[*followed]) followed = i;
    if (!at->last_given) continue;
    // A cool-down may go on for too long rather than end too early.
    const instant given = (s.is_dated ? *at->last_given : s.all.taken) + s.shift;
    last_given = last_given ? std::max(*last_given, given) : given;
  }
  if (!followed && !disowned) return std::nullopt;

  policy::remembered_strategy out;
  out.disowned = disowned.value_or(false);
  if (!followed) return out;
  out.content = states_[*followed].all.strategies[*numbers[*followed]].content;
  out.taken = instant::max();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const kept_state& s = states_[i];
    if (numbers[i] && s.all.strategies[*numbers[i]].content != out.content) numbers[i].reset();
    // Of the oldest: `for` may begin anew rather than go on through a time that nobody has seen.
    const bool gives_nodes = nodes_of_[i] > 0 || i == *followed;
    if (numbers[i] && gives_nodes) out.taken = std::min(out.taken, s.all.taken + s.shift);
  }
  out.last_given = last_given;
  for (const policy::kept_policy& k : states_[*followed].all.policies) {
    if (!k.in_force || k.value.key != key || k.value.uid != uid) continue;
    if (const policy::strategy* then = k.value.find(kind)) out.definition = *then;
  }
  out.of = [this, numbers = std::move(numbers)](store::node_id n) -> std::optional<store::word_reader> {
    const kept_node* const place = place_of(n);
    if (place == nullptr || anew_.contains(store::index(n)) || !numbers[place->state]) return std::nullopt;
    return find(section::strategies, *numbers[place->state], *place);
  };
  return out;
}

}  // namespace binnacle::aggregator
