#include "aggregator/kube/objects/pod_objects.hpp"

#include "aggregator/kube/times.hpp"
#include "aggregator/predict/pod_spec.hpp"
#include "aggregator/spread/asking_pod.hpp"
#include "common/async/network.hpp"
#include "common/keyed_hash.hpp"
#include "common/text/json_members.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace binnacle::kube {

namespace json = boost::json;

namespace {

bool is_ready(const json::object& status) {
  const json::object* ready = condition_in(status, "Ready");
  return ready != nullptr && text_in(*ready, "status") == "True";
}

/// The pod's addresses: at most one of each family.
std::vector<network> addresses_in(const json::object& status) {
  std::vector<network> out;
  for (const json::value& one : array_in(status, "podIPs")) {
    const json::object* entry = one.if_object();
    const auto address = entry == nullptr ? std::nullopt : async::address_of(text_in(*entry, "ip"));
    if (address && out.size() < 2) out.push_back(*address);
  }
  return out;
}

/// The UID of the static pod that this object mirrors, or empty. Only a hash is taken: whoever creates a pod
/// may write any text there, and with another pod's UID would get that pod's numbers. Source:
/// k8s.io/kubernetes/pkg/kubelet/types, ConfigMirrorAnnotationKey.
std::string_view static_uid_in(const json::object& metadata) {
  constexpr std::size_t digits_of_a_hash = 32;  // a UID has 36
  const json::object* notes = object_in(metadata, "annotations");
  if (notes == nullptr) return {};
  const std::string_view uid = text_in(*notes, "kubernetes.io/config.mirror");
  return uid.size() == digits_of_a_hash ? uid : std::string_view();
}

pod_objects::pod pod_of(const json::object& given) {
  pod_objects::pod out;
  if (const json::object* meta = object_in(given, "metadata")) {
    out.uid = text_in(*meta, "uid");
    out.static_uid = static_uid_in(*meta);
    out.leaving = !text_in(*meta, "deletionTimestamp").empty();
    if (const json::object* set = spread::replica_set_in(*meta))
      out.set = pod_objects::set_key(text_in(*set, "uid"));
    out.labels = packed_labels(object_in(*meta, "labels"));
  }
  if (const json::object* spec = object_in(given, "spec")) {
    out.node = text_in(*spec, "nodeName");
    out.cores = predict::pod_cpu_of(*spec).cores();
    out.on_host_network = is_true(*spec, "hostNetwork");
  }
  if (const json::object* status = object_in(given, "status")) {
    out.started = parse_rfc3339(text_in(*status, "startTime"));
    out.ready = is_ready(*status);
    out.addresses = addresses_in(*status);
  }
  return out;
}

}  // namespace

reflector::settings pod_objects::collection() {
  reflector::settings out;
  out.path = "/api/v1/pods";
  out.what = "pods";
  out.field_selector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";
  out.page = 200;  // 1 to 4 MB of JSON: read without holding up the extender
  return out;
}

const pod_objects::pod* pod_objects::find(const object_key& key) const noexcept {
  const auto at = objects_.find(key);
  return at == objects_.end() ? nullptr : &at->second;
}

void pod_objects::changed(const object_key& key, const json::object& given) {
  pod now = pod_of(given);
  auto at = objects_.find(key);
  if (at == objects_.end()) {
    if (objects_.size() >= most_pods) {
      const std::size_t hash = keyed_hash{}(key.text());
      if (without_room_.size() < most_pods && without_room_.insert(hash).second) ++left_out_;
      return;
    }
    if (!without_room_.empty()) without_room_.erase(keyed_hash{}(key.text()));
    at = objects_.emplace(key, pod()).first;
  }
  pod& known = at->second;
  const bool another = known.uid != now.uid;  // another pod with the same name
  if (another && !known.uid.empty()) tell(event::gone, known);
  const bool placed = another || known.node != now.node;
  if (placed) tell(event::placed, now);
  if (now.ready != (!placed && known.ready)) tell(now.ready ? event::ready : event::unready, now);
  const bool was_without = !another && known.without_labels;
  unlist_addresses(*at);
  unlist_in_set(*at);
  forget_labels(*at);
  known = std::move(now);
  keep_labels(*at, was_without);
  list_in_set(*at);
  list_addresses(*at);
}

void pod_objects::gone(const object_key& key) {
  const auto at = objects_.find(key);
  if (at == objects_.end()) {
    if (!without_room_.empty()) without_room_.erase(keyed_hash{}(key.text()));
    return;
  }
  tell(event::gone, at->second);
  unlist_addresses(*at);
  unlist_in_set(*at);
  forget_labels(*at);
  objects_.erase(at);
}

/// Keeps the labels that a pod has now, or counts that they find no room, unless it had no room before.
void pod_objects::keep_labels(known_pod& of, bool was_without) {
  const std::size_t bytes = of.second.labels.bytes();
  if (bytes > most_label_bytes) {
    of.second.labels.clear();
    return leave_out_labels(of, was_without);
  }
  label_room_.changed(of.first.name_space, &of, 0, bytes);
  while (known_pod* one = label_room_.excess()) leave_out_labels(*one, one == &of && was_without);
}

void pod_objects::leave_out_labels(known_pod& of, bool was_counted) {
  forget_labels(of);
  of.second.without_labels = true;
  ++without_labels_;
  if (!was_counted) ++labels_left_out_;
  last_without_labels_ = of.first.text();
}

void pod_objects::forget_labels(known_pod& of) {
  label_room_.changed(of.first.name_space, &of, of.second.labels.bytes(), 0);
  of.second.labels.clear();
  if (std::exchange(of.second.without_labels, false)) --without_labels_;
}

const object_key* pod_objects::at_address(const network& address) const noexcept {
  const auto at = by_address_.find(address);
  return at == by_address_.end() ? nullptr : &at->second->first;
}

void pod_objects::list_addresses(const known_pod& of) {
  if (of.second.on_host_network) return;
  for (const network& address : of.second.addresses) by_address_.insert_or_assign(address, &of);
}

void pod_objects::unlist_addresses(const known_pod& of) {
  for (const network& address : of.second.addresses) {
    const auto at = by_address_.find(address);
    if (at != by_address_.end() && at->second == &of) by_address_.erase(at);
  }
}

std::uint64_t pod_objects::set_key(std::string_view uid) noexcept {
  return uid.empty() ? 0 : std::max<std::uint64_t>(keyed_hash{}(uid), 1);
}

const std::vector<const pod_objects::known_pod*>* pod_objects::made_by(std::uint64_t set) const noexcept {
  const auto at = by_set_.find(set);
  return at == by_set_.end() ? nullptr : &at->second;
}

void pod_objects::list_in_set(known_pod& of) {
  if (of.second.set == 0) return;
  auto& all = by_set_[of.second.set];
  of.second.place_in_set = all.size();
  all.push_back(&of);
}

// The last pod takes the place of the one that goes. All pods may be of one set and go together, so none is
// searched for.
void pod_objects::unlist_in_set(const known_pod& of) {
  const auto at = by_set_.find(of.second.set);
  if (at == by_set_.end()) return;
  const known_pod* last = at->second.back();
  objects_.find(last->first)->second.place_in_set = of.second.place_in_set;
  at->second[of.second.place_in_set] = last;
  at->second.pop_back();
  if (at->second.empty()) by_set_.erase(at);
}

void pod_objects::tell(event what, const pod& whose) {
  if (changes_.size() < most_pods)
    changes_.push_back({what, whose.uid, whose.node, !synced_, whose.cores, whose.started});
}

std::vector<pod_objects::change> pod_objects::take() { return std::exchange(changes_, {}); }

}  // namespace binnacle::kube
