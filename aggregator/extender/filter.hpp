#pragma once

#include "aggregator/extender/context.hpp"
#include "common/http/exchange.hpp"

#include <memory>

namespace binnacle::extender {

/// POST /scheduler/filter: ExtenderArgs in, ExtenderFilterResult out.
/// Names mode:  the surviving names. Full mode: the bytes of the surviving nodes as they came, decided as
///              each ends, so that memory holds survivors only.
/// Refusals:    in FailedAndUnresolvableNodes, since FailedNodes would start a preemption that cannot help:
///              evicting pods makes no node cooler in time. Source: k8s.io/kube-scheduler/extender/v1,
///              ExtenderFilterResult.
/// `announced`: see args_parser.
std::unique_ptr<http::exchange> make_filter(context& shared, std::size_t announced);

}  // namespace binnacle::extender
