#pragma once

#include "aggregator/callers/agent_tokens.hpp"
#include "aggregator/cluster.hpp"
#include "aggregator/custom_metrics/face.hpp"
#include "aggregator/ingest/authorise.hpp"
#include "aggregator/ops/node_labels.hpp"

/// Give other rooms access to pods and Node objects. `known` must outlive what is returned. Include from .cpp
/// files only. Threads: the faces loop.
namespace binnacle::aggregator {

custom_metrics::pod_source pods_of(const cluster& known);
custom_metrics::node_source objects_of(const cluster& known);
ops::label_reader object_labels_of(const cluster& known);

/// Who holds a token that came from the address `from`, by the API server's answer about the token and by the
/// known pods. `pods_read`: whether these are all that there are.
ingest::token_holder holder_of(const callers::agent_tokens::answer& said, const network& from,
                               const kube::pod_objects& pods, bool pods_read);

}  // namespace binnacle::aggregator
