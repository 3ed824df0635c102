#include "aggregator/predict/model.hpp"

#include <algorithm>
#include <chrono>

namespace binnacle::predict {

std::string_view to_string(model_source s) noexcept {
  switch (s) {
    case model_source::node: return "node";
    case model_source::hardware_class: return "class";
    case model_source::server: return "server";
    case model_source::rated: return "rated";
  }
  return "unknown";
}

model_note note_of(const model& m) noexcept {
  const auto made = std::chrono::duration_cast<std::chrono::seconds>(m.made - instant{}).count();
  model_note out;
  out.made_s = static_cast<std::uint32_t>(std::clamp<std::int64_t>(made, 0, model_note::none - 1));
  out.noise_permille = static_cast<std::uint16_t>(std::clamp(1000 * m.noise, 0.0, 1000.0));
  out.covered_percent = static_cast<std::uint8_t>(std::clamp(100 * m.covered, 0.0, 100.0));
  out.from = m.from;
  out.idle_guessed = m.idle_guessed();
  return out;
}

}  // namespace binnacle::predict
