#include "aggregator/predict/chord_table.hpp"

#include <algorithm>

namespace binnacle::predict {

void chord_table::view::renew(entry& e, std::uint32_t node) {
  e.of = models_->share(node);
  const model& m = *e.of;
  e.made.emplace(known_power{chords(m.power, in_->max_load), m.made,
                             static_cast<std::uint16_t>(std::clamp(1000 * m.noise, 0.0, 1000.0)),
                             static_cast<std::uint8_t>(std::clamp(100 * m.covered, 0.0, 100.0)), m.from});
}

chord_table::view chord_table::up_to(double max_load, const model_table& models) {
  const auto at = std::ranges::find_if(
      caps_, [&](const of_cap& c) { return c.max_load == max_load && c.models == &models; });
  if (at == caps_.end()) {
    if (caps_.size() >= most_caps) caps_.pop_back();
    caps_.push_front({max_load, &models, {}});
  } else {
    caps_.splice(caps_.begin(), caps_, at);  // views that were given stay valid
  }
  if (caps_.front().nodes.size() < models.size()) caps_.front().nodes.resize(models.size());
  return {caps_.front(), models};
}

}  // namespace binnacle::predict
