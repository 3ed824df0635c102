#include "aggregator/model_servers/node_configs.hpp"

#include "common/text/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::model_servers {
namespace {

namespace json = boost::json;

/// Of a Kubernetes object (RFC 1123 subdomain).
constexpr std::size_t longest_node_name = 253;

kube::object_reference reference_of(std::string_view kind, const std::string& api_version,
                                    const kube::object_key& key, const json::object& given) {
  const json::object* meta = object_in(given, "metadata");
  return {std::string(kind), api_version, key.name_space, key.name,
          std::string(meta == nullptr ? "" : text_in(*meta, "uid"))};
}

}  // namespace

node_configs::node_configs() {
  for (std::size_t g = 0; g < groups; ++g) {
    configs_[g].kind = "NodeConfig";
    templates_[g].kind = "NodeConfigTemplate";
    configs_[g].api_version = templates_[g].api_version = fmt::format("{}/v1beta1", node_config_groups[g]);
  }
}

kube::reflector::settings node_configs::collection(std::size_t i) {
  kube::reflector::settings out;
  const std::string_view group = node_config_groups[i % groups];
  const bool templates = i >= groups;
  out.path = fmt::format("/apis/{}/v1beta1/nodeconfig{}s", group, templates ? "template" : "");
  out.what = fmt::format("NodeConfig{} objects ({})", templates ? "Template" : "", group);
  out.if_unknown = "WAO is not installed, which is no trouble";
  out.look_again = std::chrono::minutes(1);
  out.page = 20;  // whoever writes them may make each as large as the API server takes
  return out;
}

node_configs::collection_of& node_configs::collection_at(std::size_t i) noexcept {
  if (i < groups) return configs_[i];
  return templates_[i % groups];
}

kube::watcher& node_configs::watcher_of(std::size_t i) noexcept { return collection_at(i); }

bool node_configs::take_freed(std::size_t collection) noexcept {
  return std::exchange(collection_at(collection).freed, false);
}

void node_configs::configs_of::unlist(const kube::object_key& key) {
  const auto known = objects.find(key);
  if (known == objects.end()) return;
  const auto of_node = by_node.find(known->second.node);
  if (of_node == by_node.end()) return;
  of_node->second.erase(claim{known->second.what.model.has_error(), key});
  if (of_node->second.empty()) by_node.erase(of_node);
}

void node_configs::configs_of::changed(const kube::object_key& key, const json::object& given) {
  const json::object* spec = object_in(given, "spec");
  if (spec == nullptr) return gone(key);
  left_out.erase(key);
  if (objects.size() >= most_configs && !objects.contains(key)) {
    if (left_out.size() < most_configs) left_out.insert(key);
    return;
  }
  unlist(key);
  object o{{}, read_node_config("NodeConfig " + key.text(), key.name_space, *spec)};
  o.what.about = reference_of(kind, api_version, key, given);
  if (const std::string_view node = text_in(*spec, "nodeName"); node.size() <= longest_node_name) {
    o.node = node;
  } else {
    o.what.model =
        error{errc::invalid_input, fmt::format("nodeName has more than {} bytes", longest_node_name)};
  }
  if (!o.node.empty()) by_node[o.node].insert(claim{o.what.model.has_error(), key});
  objects.insert_or_assign(key, std::move(o));
}

void node_configs::configs_of::gone(const kube::object_key& key) {
  unlist(key);
  left_out.erase(key);
  if (objects.erase(key) != 0 && !left_out.empty()) freed = true;
}

void node_configs::templates_of::changed(const kube::object_key& key, const json::object& given) {
  const json::object* spec = object_in(given, "spec");
  if (spec == nullptr) return gone(key);
  left_out.erase(key);
  objects.erase(key);
  if (objects.size() >= most_templates) {
    if (left_out.size() < most_configs) left_out.insert(key);
    return;
  }
  objects.emplace(key, object{reference_of(kind, api_version, key, given), node_template::read(key, *spec)});
}

void node_configs::templates_of::gone(const kube::object_key& key) {
  left_out.erase(key);
  if (objects.erase(key) != 0 && !left_out.empty()) freed = true;
}

void node_configs::complain_of(const node& n, complaints& to, instant now, const named_model* counts) const {
  if (!n.labels) return;
  const kube::object_reference* first = nullptr;
  if (counts != nullptr && counts->about.kind == templates_[0].kind) first = &counts->about;
  for (const templates_of& t : templates_) {
    for (const auto& [key, o] : t.objects) {
      if (o.what.has_error() || !o.what->selects(n.labels)) continue;
      if (first == nullptr) first = &o.about;
      if (o.about == *first) continue;
      // The sentence does not name the node, so that it is the same for all nodes that both templates select.
      to.add(
          o.about,
          fmt::format("NodeConfigTemplate {}/{} ({}) selects nodes that it selects, too, and goes before it",
                      first->name_space, first->name, first->api_version),
          now);
    }
  }
}

const named_model* node_configs::config_of(std::string_view node) const {
  const named_model* out = nullptr;
  for (const configs_of& c : configs_) {
    const auto at = c.by_node.find(node);
    if (at == c.by_node.end()) continue;
    const named_model& first = c.objects.at(at->second.begin()->key).what;
    if (first.model.has_value()) return &first;
    if (out == nullptr) out = &first;
  }
  return out;
}

std::optional<named_model> node_configs::find(const node& n, std::vector<named_model>* passed_over) const {
  std::optional<named_model> out;
  if (const named_model* config = config_of(n.name)) out = *config;
  if (!n.labels || (out && out->model.has_value())) return out;
  std::size_t tried = 0;
  for (const templates_of& t : templates_) {
    for (const auto& [key, o] : t.objects) {
      if (o.what.has_error() || !o.what->selects(n.labels)) continue;
      auto made = o.what->model_of({n.labels("kubernetes.io/hostname").value_or(""), n.address});
      made.about = o.about;
      const bool is_usable = made.model.has_value();
      if (!out) {
        out = std::move(made);
      } else {
        if (is_usable) std::swap(*out, made);
        if (passed_over != nullptr) passed_over->push_back(std::move(made));
      }
      if (is_usable || ++tried == most_tried) return out;
    }
  }
  return out;
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

void node_configs::complain_of_config(const configs_of::object& o, complaints& to, instant now) const {
  const kube::object_reference& about = o.what.about;
  if (o.what.model.has_error()) return to.add(about, o.what.model.error().message, now);
  if (!o.what.model->remark.empty()) to.add(about, o.what.model->remark, now);
  const named_model* const counts = config_of(o.node);
  if (counts == nullptr || counts == &o.what) return;
  const std::string& group = counts->about.api_version;
  to.add(about,
         fmt::format("{}{} is for the node {}, too, and goes before it: delete one of them", counts->object,
                     group == about.api_version ? "" : fmt::format(" ({})", group), o.node),
         now);
}

bool node_configs::complain(complaints& to, instant now, const std::function<bool()>& enough) {
  while (complained_group_ < groups) {
    const configs_of& c = configs_[complained_group_];
    for (auto at = c.objects.upper_bound(complained_key_); at != c.objects.end(); ++at) {
      complain_of_config(at->second, to, now);
      if (!enough || !enough()) continue;
      complained_key_ = at->first;
      return false;
    }
    ++complained_group_;
    complained_key_ = {};
  }
  complained_group_ = 0;
  for (const templates_of& t : templates_) {
    for (const auto& [key, o] : t.objects) {
      if (o.what.has_error()) to.add(o.about, o.what.error().message, now);
    }
  }
  return true;
}

std::vector<std::string> node_configs::troubles() const {
  std::vector<std::string> out;
  const auto tell = [&out](const collection_of& c, std::size_t most) {
    if (c.left_out.empty()) return;
    out.push_back(fmt::format(
        "of the {} objects ({}) {} are read and {}{} are left out, {} first: delete those that nobody needs",
        c.kind, c.api_version, most, c.left_out.size() == most_configs ? "at least " : "", c.left_out.size(),
        c.left_out.begin()->text()));
  };
  for (const configs_of& c : configs_) tell(c, most_configs);
  for (const templates_of& t : templates_) tell(t, most_templates);
  return out;
}

}  // namespace binnacle::model_servers
