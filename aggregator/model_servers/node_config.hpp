#pragma once

#include "aggregator/kube/events/event_recorder.hpp"
#include "aggregator/model_servers/node_model.hpp"
#include "common/error.hpp"

#include <boost/json/object.hpp>

#include <string>

namespace binnacle::model_servers {

/// Which model an object of WAO's names.
struct named_model {
  std::string object;                 ///< "NodeConfig wao-system/worker-0"
  result<node_model> model;           ///< or, in a clause, why it cannot be used
  kube::object_reference about = {};  ///< where the API server told of it
};

/// What the spec of a NodeConfig says (WAO's second version).
named_model read_node_config(std::string object, const boost::json::object& spec);

}  // namespace binnacle::model_servers
