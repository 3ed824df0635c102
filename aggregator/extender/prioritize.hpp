#pragma once

#include "aggregator/extender/context.hpp"
#include "common/http/exchange.hpp"

#include <memory>

namespace binnacle::extender {

/// POST /scheduler/prioritize: ExtenderArgs in, HostPriorityList out. It lists all candidates in their order,
/// with scores from 0 to 10 as plain integers, or is `[]` if nothing is there to score by. `announced`: see
/// args_parser.
std::unique_ptr<http::exchange> make_prioritize(context& shared, std::size_t announced);

}  // namespace binnacle::extender
