#include "aggregator/core/recollection.hpp"

#include <algorithm>

namespace binnacle::aggregator {

/// A node's words hold few sections, so looking through them costs less than an index of them would.
std::optional<store::word_reader> recollection::find(section which, std::size_t number,
                                                     store::node_id node) const {
  const auto place = places_.find(store::index(node));
  if (place == places_.end()) return std::nullopt;
  store::word_reader from(all_.nodes[place->second].words, shift_);
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

std::optional<store::word_reader> recollection::learned(store::node_id node) const {
  const auto place = places_.find(store::index(node));
  if (place == places_.end()) return std::nullopt;
  store::word_reader from(all_.nodes[place->second].words, shift_);
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
  const auto at = std::ranges::find(all_.columns, spec, &snapshot::column::spec);
  if (at == all_.columns.end() || at->meaning != meaning) return std::nullopt;
  return find(section::columns, static_cast<std::size_t>(at - all_.columns.begin()), node);
}

std::optional<policy::remembered_strategy> recollection::strategy(const policy::policy_key& key,
                                                                  std::string_view uid,
                                                                  policy::strategy_kind kind) const {
  const auto at = std::ranges::find_if(all_.strategies, [&](const policy::strategy_mark& m) {
    return m.key == key && m.kind == kind && (m.uid.empty() || m.uid == uid);
  });
  if (at == all_.strategies.end()) return std::nullopt;
  const auto number = static_cast<std::size_t>(at - all_.strategies.begin());
  std::optional<instant> last_given = at->last_given;
  if (last_given) *last_given += shift_;
  return policy::remembered_strategy{
      at->content, {}, all_.taken + shift_, last_given, [this, number](store::node_id n) {
        return find(section::strategies, number, n);
      }};
}

}  // namespace binnacle::aggregator
