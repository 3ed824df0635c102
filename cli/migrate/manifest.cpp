#include "cli/migrate/manifest.hpp"

#include "common/text/load_yaml.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

namespace binnacle::cli::migrate {
namespace {

constexpr std::size_t deepest = 4;  // how deep lists in lists and YAML in ConfigMaps are followed

void add(const YAML::Node& node, std::size_t depth, std::vector<manifest>& out) {
  if (!node.IsMap() || depth > deepest) return;
  manifest m{text_of(node, "kind"), text_of(node, "metadata.name"), text_of(node, "metadata.namespace"),
             node};
  if (m.kind.empty()) return;
  if (const auto items = below(node, "items"); m.kind.ends_with("List") && items.IsSequence()) {
    for (const auto& item : items) add(item, depth + 1, out);
    return;
  }
  const auto data = m.kind == "ConfigMap" ? below(node, "data") : YAML::Node();
  const std::size_t at = out.size();
  out.push_back(std::move(m));
  if (!data.IsMap()) return;
  for (const auto& entry : data) {
    const std::string text = entry.second.IsScalar() ? entry.second.Scalar() : std::string();
    if (text.find("kind:") == text.npos) continue;
    try {
      for (const auto& document : load_all_yaml(text)) add(document, depth + 1, out);
    } catch (const YAML::Exception& e) {
      // A ConfigMap may hold any text. Text that is no YAML holds no manifest, if it does not look like one.
      if (contains(text, "KubeSchedulerConfiguration"))
        out[at].unread = fmt::format(
            "line {} of its entry {} is no YAML: {}. Nothing of that configuration is "
            "carried over: mend it, and give it again",
            e.mark.line + 1, entry.first.Scalar(), e.msg);
    }
  }
}

}  // namespace

YAML::Node below(YAML::Node from, std::string_view path) {
  while (!path.empty() && from.IsMap()) {
    const auto dot = path.find('.');
    const std::string key(path.substr(0, dot));
    path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
    const YAML::Node& here = from;  // operator[] on a node that is not const would add the key
    const YAML::Node next = here[key];
    if (!next) return {};
    from.reset(next);
  }
  return path.empty() ? from : YAML::Node();
}

std::string text_of(const YAML::Node& from, std::string_view path) {
  const auto found = below(from, path);
  return found.IsScalar() ? found.Scalar() : std::string();
}

std::string entry_of(const YAML::Node& from, std::string_view path, const std::string& key) {
  const YAML::Node map = below(from, path);  // operator[] on a node that is not const would add the key
  const YAML::Node value = map.IsMap() ? map[key] : YAML::Node();
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

result<std::vector<manifest>> read_manifests(const std::string& file, const std::string& text) {
  std::vector<manifest> out;
  try {
    for (const auto& document : load_all_yaml(text)) add(document, 0, out);
  } catch (const YAML::Exception& e) {
    return error{errc::invalid_input, fmt::format("{}:{}: {}: mend it, or give the files that `kubectl get "
                                                  "-o yaml` prints",
                                                  file, e.mark.line + 1, e.msg)};
  }
  return out;
}

}  // namespace binnacle::cli::migrate
