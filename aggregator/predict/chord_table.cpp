#include "aggregator/predict/chord_table.hpp"

#include <algorithm>

namespace binnacle::predict {

void chord_table::catch_up(kept& k) {
  bool changed = false;
  std::size_t nodes = k.of.size();
  for (std::size_t i = 0; i < k.versions.size(); ++i) {
    const model_table* t = k.by.tables[i];
    if (t == nullptr || t->version() == k.versions[i]) continue;
    changed = true;
    k.versions[i] = t->version();
    nodes = std::max(nodes, t->size());
  }
  if (!changed) return;
  k.of.resize(nodes);
  k.rows.resize(nodes);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const model_table* in = k.by.table_of(node);
    const model* now = in == nullptr ? nullptr : in->find(node);
    if (k.of[node].get() == now) continue;
    k.of[node] = now == nullptr ? nullptr : in->share(node);
    k.rows[node].known = now == nullptr
                             ? std::nullopt
                             : std::optional(known_power{chords(now->power, k.max_load), note_of(*now)});
  }
}

chord_table::known_nodes chord_table::up_to(double max_load, const model_sources& by) {
  const auto at =
      std::ranges::find_if(kept_, [&](const kept& k) { return k.max_load == max_load && k.by == by; });
  if (at == kept_.end()) {
    if (kept_.size() >= most_kept) kept_.pop_back();
    kept_.push_front({max_load, by, {}, {}, {}});
  } else {
    kept_.splice(kept_.begin(), kept_, at);  // known_nodes that were given out stay valid
  }
  catch_up(kept_.front());
  return known_nodes(kept_.front().rows);
}

}  // namespace binnacle::predict
