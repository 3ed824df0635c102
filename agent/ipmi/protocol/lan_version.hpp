#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::ipmi {

/// Which IPMI version is used over the network. It is a setting of the agent and of the helper.
enum class lan_version : unsigned char { ipmi_2_0, ipmi_1_5 };

inline std::string_view to_string(lan_version v) noexcept {
  return v == lan_version::ipmi_2_0 ? "2.0" : "1.5";
}
/// All of them by name, as config_spec wants them.
inline std::vector<std::pair<std::string, lan_version>> lan_versions() {
  return {{"2.0", lan_version::ipmi_2_0}, {"1.5", lan_version::ipmi_1_5}};
}

}  // namespace binnacle::ipmi
