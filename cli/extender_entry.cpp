#include "cli/extender_entry.hpp"

namespace binnacle::cli {

YAML::Node telemetry_resource(const YAML::Node& extender) {
  const YAML::Node none(YAML::NodeType::Undefined);
  const YAML::Node resources = extender.IsMap() ? extender["managedResources"] : none;
  for (std::size_t i = 0; resources && resources.IsSequence() && i < resources.size(); ++i) {
    const YAML::Node name = resources[i].IsMap() ? resources[i]["name"] : none;
    if (name && name.IsScalar() && name.Scalar() == "telemetry/scheduling") return resources[i];
  }
  return none;
}

}  // namespace binnacle::cli
