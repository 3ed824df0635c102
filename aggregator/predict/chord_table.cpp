#include "aggregator/predict/chord_table.hpp"

#include <algorithm>

namespace binnacle::predict {

void chord_table::catch_up(kept& k) {
  std::size_t nodes = k.of.size();
  for (const model_table* t : k.by.tables) {
    if (t != nullptr) nodes = std::max(nodes, t->size());
  }
  k.of.resize(nodes);
  k.rows.resize(nodes);
  k.last.resize(nodes);
  bool any_may_have_changed = false;
  for (std::size_t i = 0; i < k.versions.size(); ++i) {
    const model_table* t = k.by.tables[i];
    if (t == nullptr) continue;
    const bool all_told = t->each_set_since(k.versions[i], [&](std::uint32_t node) { catch_up(k, node); });
    any_may_have_changed = any_may_have_changed || !all_told;
    k.versions[i] = t->version();
  }
  if (!any_may_have_changed) return;
  for (std::uint32_t node = 0; node < nodes; ++node) catch_up(k, node);
}

void chord_table::catch_up(kept& k, std::uint32_t node) {
  const model_table* in = k.by.table_of(node);
  const model* now = in == nullptr ? nullptr : in->find(node);
  if (k.of[node].get() == now) return;
  k.last[node] = last_watts();
  k.of[node] = now == nullptr ? nullptr : in->share(node);
  k.rows[node].known = now == nullptr
                           ? std::nullopt
                           : std::optional(known_power{chords(now->power, k.max_load), note_of(*now)});
}

chord_table::known_nodes chord_table::up_to(double max_load, const model_sources& by) {
  const auto at =
      std::ranges::find_if(kept_, [&](const kept& k) { return k.max_load == max_load && k.by == by; });
  if (at == kept_.end()) {
    if (kept_.size() >= most_kept) kept_.pop_back();
    kept_.push_front({max_load, by, {}, {}, {}, {}, {}});
  } else {
    kept_.splice(kept_.begin(), kept_, at);  // known_nodes that were given out stay valid
  }
  catch_up(kept_.front());
  return known_nodes(kept_.front());
}

}  // namespace binnacle::predict
