#include "aggregator/kube/objects/node_objects.hpp"

#include "common/text/json_members.hpp"
#include "common/text/label_syntax.hpp"

#include <utility>

namespace binnacle::kube {
namespace {

namespace json = boost::json;

/// The keys in the annotation's value. People may edit it, so blanks are dropped and invalid keys are left
/// out.
std::set<std::string, std::less<>> keys_in(std::string_view list) {
  std::set<std::string, std::less<>> out;
  while (!list.empty()) {
    std::string_view key = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), key.size() + 1));
    while (key.starts_with(' ')) key.remove_prefix(1);
    while (key.ends_with(' ')) key.remove_suffix(1);
    if (!key.empty() && label_key_flaw(key).empty()) out.emplace(key);
  }
  return out;
}

/// Compares two versions of one object. Source: Kubernetes API concepts, "Resource versions": decimal numbers
/// that may be compared (KEP-5504). If a server has versions of another form, none counts as older.
bool is_older(std::string_view version, std::string_view than) {
  const auto number = [](std::string_view v) {
    return !v.empty() && v.find_first_not_of("0123456789") == v.npos;
  };
  if (!number(version) || !number(than)) return false;
  return version.size() != than.size() ? version.size() < than.size() : version < than;
}

/// Whether a watch that has reached `watched` has shown everything up to `version`.
bool has_reached(std::string_view watched, std::string_view version) {
  return version == watched || is_older(version, watched);
}

}  // namespace

void label_values::changed(const packed_labels& before, const packed_labels& now) {
  const auto was = before.find(key_), is = now.find(key_);
  if (was == is) return;
  if (is) ++nodes_[std::string(*is)];
  if (!was) return;
  const auto at = nodes_.find(*was);
  if (--at->second == 0) nodes_.erase(at);
}

std::map<std::string, std::string> node_objects::node::written() const {
  std::map<std::string, std::string> out;
  for (const std::string& key : ours) {
    if (const auto value = labels.find(key)) out.emplace(key, *value);
  }
  return out;
}

reflector::settings node_objects::collection() {
  reflector::settings out;
  out.path = "/api/v1/nodes";
  out.what = "Nodes";
  out.list_accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  out.watch_accept = accept;
  out.page = 200;  // some milliseconds to read, with managedFields
  return out;
}

const node_objects::node* node_objects::find(std::string_view name) const noexcept {
  const auto at = nodes_.find(name);
  return at == nodes_.end() ? nullptr : &at->second;
}

void node_objects::patched(const std::string& name, const json::object& object) {
  const node* known = find(name);
  const json::object* meta = object_in(object, "metadata");
  if (known == nullptr || meta == nullptr || text_in(*meta, "uid") != known->uid) return;
  update({{}, name}, object);
  nodes_.find(name)->second.patched = text_in(*meta, "resourceVersion");
}

// The pages of a list come from one moment, and the watch goes on meanwhile. If the watch has gone beyond a
// version and does not know that node, the node has been deleted. The list alone would bring it back, and
// nobody would ever report it as gone.
void node_objects::read_again(const object_key& key, const json::object& object, std::string_view watched) {
  const json::object* meta = object_in(object, "metadata");
  if (meta == nullptr) return;
  const std::string_view version = text_in(*meta, "resourceVersion");
  const node* known = find(key.name);
  const bool is_same = known != nullptr && text_in(*meta, "uid") == known->uid;
  if (is_same ? is_older(version, known->version) : has_reached(watched, version)) return;
  update(key, object);
  nodes_.find(key.name)->second.patched = version;
  if (!is_same) unwatched_.insert(key.name);
}

void node_objects::watched_up_to(std::string_view version) {
  std::vector<std::string> deleted;
  for (const std::string& name : unwatched_) {
    if (has_reached(version, nodes_.at(name).version)) deleted.push_back(name);
  }
  for (const std::string& name : deleted) gone({{}, name});
}

std::vector<std::string> node_objects::take() {
  const std::set<std::string> out = std::exchange(changed_, {});
  return {out.begin(), out.end()};
}

void node_objects::changed(const object_key& key, const json::object& object) {
  unwatched_.erase(key.name);
  update(key, object);
}

void node_objects::update(const object_key& key, const json::object& object) {
  const json::object* meta = object_in(object, "metadata");
  if (meta == nullptr) return;
  const json::object* annotations = object_in(*meta, "annotations");
  packed_labels labels(object_in(*meta, "labels"));
  std::set<std::string, std::less<>> ours;
  if (annotations != nullptr) ours = keys_in(text_in(*annotations, annotation));

  const auto [at, fresh] = nodes_.try_emplace(key.name);
  node& known = at->second;
  // A node that was created again under the same name counts as changed, even if its labels look the same.
  const bool another = known.uid != text_in(*meta, "uid");
  // The watch may lag behind and bring the node as it was before our patch. Ignore that: the answer to the
  // patch is newer.
  if (!another && is_older(text_in(*meta, "resourceVersion"), known.patched)) return;
  known.patched.clear();
  known.version = text_in(*meta, "resourceVersion");
  if (!fresh && !another && labels == known.labels && ours == known.ours) return;
  known.uid = text_in(*meta, "uid");
  regions_.changed(known.labels, labels);
  zones_.changed(known.labels, labels);
  known.labels = std::move(labels);
  known.ours = std::move(ours);
  changed_.insert(key.name);
}

/// After a list the versions of our patches are forgotten, because versions may be lower if etcd was restored
/// from a backup. If the list showed a node as it was before our patch, the watch brings the newer state.
void node_objects::synced() {
  for (auto& [name, node] : nodes_) node.patched.clear();
}

void node_objects::gone(const object_key& key) {
  const auto at = nodes_.find(key.name);
  if (at == nodes_.end()) return;
  regions_.changed(at->second.labels, {});
  zones_.changed(at->second.labels, {});
  nodes_.erase(at);
  unwatched_.erase(key.name);
  changed_.insert(key.name);
}

}  // namespace binnacle::kube
