#include "aggregator/predict/model.hpp"

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

}  // namespace binnacle::predict
