#include "aggregator/model_servers/node_configs.hpp"

#include "common/text/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::model_servers {
namespace {

namespace json = boost::json;

/// The newer one first.
constexpr std::array<std::string_view, 2> group_names{"node.waok8s.github.io", "wao.bitmedia.co.jp"};

kube::object_reference reference_of(std::string_view kind, const std::string& api_version,
                                    const kube::object_key& key, const json::object& given) {
  const json::object* meta = object_in(given, "metadata");
  return {std::string(kind), api_version, key.name_space, key.name,
          std::string(meta == nullptr ? "" : text_in(*meta, "uid"))};
}

}  // namespace

node_configs::node_configs() {
  for (std::size_t g = 0; g < groups; ++g)
    configs_[g].api_version = templates_[g].api_version = fmt::format("{}/v1beta1", group_names[g]);
}

kube::reflector::settings node_configs::collection(std::size_t i) {
  kube::reflector::settings out;
  const std::string_view group = group_names[i % groups];
  const bool templates = i >= groups;
  out.path = fmt::format("/apis/{}/v1beta1/nodeconfig{}s", group, templates ? "template" : "");
  out.what = fmt::format("NodeConfig{} objects ({})", templates ? "Template" : "", group);
  out.if_unknown = "WAO is not installed, which is no trouble";
  out.look_again = std::chrono::minutes(1);
  return out;
}

kube::watcher& node_configs::watcher_of(std::size_t i) noexcept {
  if (i < groups) return configs_[i];
  return templates_[i % groups];
}

void node_configs::configs_of::unlist(const kube::object_key& key) {
  const auto known = objects.find(key);
  if (known == objects.end()) return;
  const auto of_node = by_node.find(known->second.node);
  if (of_node == by_node.end()) return;
  std::erase(of_node->second, key);
  if (of_node->second.empty()) by_node.erase(of_node);
}

void node_configs::configs_of::changed(const kube::object_key& key, const json::object& given) {
  const json::object* spec = object_in(given, "spec");
  unlist(key);
  if (spec == nullptr) {
    objects.erase(key);
    return;
  }
  object o{std::string(text_in(*spec, "nodeName")),
           read_node_config("NodeConfig " + key.text(), key.name_space, *spec)};
  o.what.about = reference_of("NodeConfig", api_version, key, given);
  auto& of_node = by_node[o.node];
  of_node.insert(std::ranges::lower_bound(of_node, key), key);
  objects.insert_or_assign(key, std::move(o));
}

void node_configs::configs_of::gone(const kube::object_key& key) {
  unlist(key);
  objects.erase(key);
}

void node_configs::templates_of::changed(const kube::object_key& key, const json::object& given) {
  const json::object* spec = object_in(given, "spec");
  objects.erase(key);
  if (spec == nullptr) return;
  objects.emplace(key, object{reference_of("NodeConfigTemplate", api_version, key, given),
                              node_template::read(key, *spec)});
}

void node_configs::complain_of(const node& n, complaints& to, instant now) const {
  if (!n.labels) return;
  const templates_of::object* counts = nullptr;
  for (const templates_of& t : templates_) {
    for (const auto& [key, o] : t.objects) {
      if (o.what.has_error() || !o.what->selects(n.labels)) continue;
      if (counts == nullptr) {
        counts = &o;
        continue;
      }
      // The sentence does not name the node, so that it is the same for all nodes that both templates select.
      to.add(
          o.about,
          fmt::format("NodeConfigTemplate {}/{} ({}) selects nodes that it selects, too, and goes before it",
                      counts->about.name_space, counts->about.name, counts->about.api_version),
          now);
    }
  }
}

std::optional<named_model> node_configs::find(const node& n) const {
  for (const configs_of& c : configs_) {
    const auto at = c.by_node.find(n.name);
    if (at != c.by_node.end()) return c.objects.at(at->second.front()).what;
  }
  if (!n.labels) return std::nullopt;
  for (const templates_of& t : templates_) {
    for (const auto& [key, o] : t.objects) {
      if (o.what.has_error() || !o.what->selects(n.labels)) continue;
      auto out = o.what->model_of({n.labels("kubernetes.io/hostname").value_or(""), n.address});
      out.about = o.about;
      return out;
    }
  }
  return std::nullopt;
}

bool node_configs::need_addresses() const noexcept {
  return std::ranges::any_of(templates_, [](const templates_of& t) {
    return std::ranges::any_of(t.objects, [](const auto& one) {
      return one.second.what.has_value() && one.second.what->needs_address();
    });
  });
}

std::size_t node_configs::size() const noexcept {
  std::size_t out = 0;
  for (const configs_of& c : configs_) out += c.objects.size();
  for (const templates_of& t : templates_) out += t.objects.size();
  return out;
}

void node_configs::complain(complaints& to, instant now) const {
  for (std::size_t g = 0; g < groups; ++g) {
    const configs_of& c = configs_[g];
    for (const auto& [node, keys] : c.by_node) {
      // If the newer group has an object for the node, that one counts, and all objects of the older group
      // are unused.
      const configs_of* counts = &c;
      for (std::size_t newer = 0; newer < g; ++newer)
        if (configs_[newer].by_node.contains(node)) counts = &configs_[newer];
      const auto& first = counts->by_node.find(node)->second.front();
      for (std::size_t i = counts == &c ? 1 : 0; i < keys.size(); ++i) {
        const std::string of_group = counts == &c ? "" : fmt::format(" ({})", counts->api_version);
        to.add(c.objects.at(keys[i]).what.about,
               fmt::format("NodeConfig {}{} is for the node {}, too, and goes before it: delete one of them",
                           first.text(), of_group, node),
               now);
      }
    }
    for (const auto& [key, o] : c.objects) {
      if (o.what.model.has_error()) to.add(o.what.about, o.what.model.error().message, now);
    }
  }
  for (const templates_of& t : templates_) {
    for (const auto& [key, o] : t.objects) {
      if (o.what.has_error()) to.add(o.about, o.what.error().message, now);
    }
  }
}

}  // namespace binnacle::model_servers
