#pragma once

#include "aggregator/predict/pod_cpu.hpp"

#include <boost/json/object.hpp>

#include <string_view>

namespace binnacle::predict {

/// What the spec of a pod says of its CPU. A field that is missing, of another type or no quantity says
/// nothing, and neither does one below zero: the API server has checked what comes from it.
/// Source: Kubernetes' core/v1 PodSpec: containers, initContainers (restartPolicy: Always makes a side-car),
/// overhead, resources.
pod_cpu pod_cpu_of(const boost::json::object& spec);

/// The same of the text of a whole Pod. A text that is no JSON object, or has no spec, is a pod that says
/// nothing. The text may be of any length; a caller who reads from a stranger bounds it.
pod_cpu pod_cpu_of(std::string_view pod);

}  // namespace binnacle::predict
