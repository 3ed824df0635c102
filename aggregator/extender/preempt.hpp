#pragma once

#include "aggregator/extender/context.hpp"
#include "common/http/exchange.hpp"

#include <memory>

namespace binnacle::extender {

/// POST /scheduler/preempt: ExtenderPreemptionArgs in, ExtenderPreemptionResult out. kube-scheduler asks it
/// when no node has room for a pod, and pods of a lower priority could be evicted: at which nodes, and which
/// pods there. The answer is the map as it came, without the nodes that the policy's dontschedule refuses
/// now: the pod could not go there when the victims are gone. Spreading (aggregator/spread) does not count.
/// Form:     always NodeNameToMetaVictims. Victims and numPDBViolations are echoed; a node without victims
///           stays, because another extender may name some (kubernetes #135486).
/// Source:   k8s.io/kube-scheduler/extender/v1; kube-scheduler's framework/preemption, callExtenders().
std::unique_ptr<http::exchange> make_preempt(context& shared);

}  // namespace binnacle::extender
