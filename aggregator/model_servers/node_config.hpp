#pragma once

#include "aggregator/kube/events/event_recorder.hpp"
#include "aggregator/model_servers/node_model.hpp"
#include "common/error.hpp"

#include <boost/json/object.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace binnacle::model_servers {

/// The API groups of NodeConfigs and NodeConfigTemplates, the newer one first.
inline constexpr std::array<std::string_view, 2> node_config_groups{"node.waok8s.github.io",
                                                                    "wao.bitmedia.co.jp"};

/// Longer texts of these objects are refused: they are kept for each object, and those of templates are
/// filled in for each node again and again.
inline constexpr std::size_t longest_text = 1024;

/// The model that an object of WAO's names.
struct named_model {
  std::string object;                 ///< "NodeConfig wao-system/worker-0"
  result<node_model> model;           ///< the model, or why it cannot be used, as a clause
  kube::object_reference about = {};  ///< the object itself, for events about it
};

/// Reads the spec of a NodeConfig (WAO's second version). Each basicAuthSecret is one of the object's
/// namespace, as in WAO. A powerConsumptionEndpointProvider goes before the type and the endpoint of
/// powerConsumption, as in WAO, so that a fault of these two is none then.
named_model read_node_config(std::string object, std::string_view name_space,
                             const boost::json::object& spec);

}  // namespace binnacle::model_servers
