#include "aggregator/custom_metrics/path.hpp"

#include <algorithm>
#include <span>

namespace binnacle::custom_metrics {

path parse_path(const std::vector<std::string>& segments) {
  std::span<const std::string> s(segments);
  while (!s.empty() && s.back().empty()) s = s.first(s.size() - 1);

  path p;
  const bool hole = std::any_of(s.begin(), s.end(), [](const std::string& part) { return part.empty(); });
  if (hole || s.empty() || s[0] != "apis") return p;
  if (s.size() == 1) {
    p.kind = path::what::groups;
    return p;
  }
  if (s[1] != group) return p;
  if (s.size() == 2) {
    p.kind = path::what::group;
    return p;
  }
  if (s[2] != "v1beta1" && s[2] != "v1beta2") return p;
  p.api = s[2] == "v1beta1" ? version::v1beta1 : version::v1beta2;
  if (s.size() == 3) {
    p.kind = path::what::resources;
    return p;
  }

  s = s.subspan(3);
  if (s.size() == 4 && s[0] == "namespaces" && s[2] == "metrics") {
    if (s[1] == "*") return p;  // there is no wildcard form for namespaces
    p.resource = "namespaces";
    p.object = s[1];
    p.metric = s[3];
  } else if (s.size() == 5 && s[0] == "namespaces" && s[2] != "metrics") {
    p.name_space = s[1];
    p.resource = s[2];
    p.object = s[3];
    p.metric = s[4];
  } else if (s.size() == 3 && s[0] != "namespaces") {
    p.resource = s[0];
    p.object = s[1];
    p.metric = s[2];
  } else {
    return p;
  }
  p.kind = path::what::value;
  return p;
}

}  // namespace binnacle::custom_metrics
