#include "aggregator/predict/model.hpp"

namespace binnacle::predict {

std::string_view to_string(model_source s) noexcept { return s == model_source::node ? "node" : "class"; }

}  // namespace binnacle::predict
