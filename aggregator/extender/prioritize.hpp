#pragma once

#include "aggregator/extender/context.hpp"
#include "common/http/exchange.hpp"

#include <memory>

namespace binnacle::extender {

/// POST /scheduler/prioritize: ExtenderArgs in, HostPriorityList out: scores 0..10 as plain integers, all
/// candidates listed, in their order; `[]` when there is nothing to score by. `announced`: see args_parser.
std::unique_ptr<http::exchange> make_prioritize(context& shared, std::size_t announced);

}  // namespace binnacle::extender
