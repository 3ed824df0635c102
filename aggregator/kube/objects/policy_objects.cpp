#include "aggregator/kube/objects/policy_objects.hpp"

#include "common/keyed_hash.hpp"
#include "common/text/json_members.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace binnacle::kube {

namespace json = boost::json;

namespace {

// A hundred names of violating nodes and six conditions of 2,000 bytes are some 40 KiB.
constexpr std::size_t most_status_bytes = 64 << 10;

std::string text_of(const object_key& key, const json::object& given) {
  json::object metadata;
  metadata["name"] = key.name;
  metadata["namespace"] = key.name_space;
  if (const json::object* meta = object_in(given, "metadata")) {
    for (const char* name : {"creationTimestamp", "uid"}) {
      if (const auto value = text_in(*meta, name); !value.empty()) metadata[name] = value;
    }
  }
  // Items of a list lack the first two fields.
  std::string out = R"({"apiVersion":"telemetry.intel.com/v1alpha1","kind":"TASPolicy","metadata":)" +
                    json::serialize(metadata);
  if (const json::value* spec = given.if_contains("spec")) out += R"(,"spec":)" + json::serialize(*spec);
  return out + "}";
}

/// One that is larger than ours can be is somebody else's: it counts as none, and is then overwritten.
json::object status_of(const json::object& given) {
  const json::object* status = object_in(given, "status");
  return status == nullptr || json::serialize(*status).size() > most_status_bytes ? json::object() : *status;
}

}  // namespace

reflector::settings policy_objects::collection() {
  reflector::settings out;
  out.path = "/apis/telemetry.intel.com/v1alpha1/taspolicies";
  out.what = "TASPolicy objects";
  out.if_unknown = "kubectl apply -f charts/binnacle/crds/taspolicy.yaml";
  // An object may have 1.5 MiB, and a page of them has a deadline.
  out.page = 20;
  return out;
}

void policy_objects::changed(const object_key& key, const json::object& given) {
  std::string text = text_of(key, given), uid, created;
  std::int64_t generation = 0;
  if (const json::object* meta = object_in(given, "metadata")) {
    uid = text_in(*meta, "uid");
    created = text_in(*meta, "creationTimestamp");
    generation = integer_in(*meta, "generation").value_or(0);
  }
  // An object that was made again under its old name has a claim of its own.
  auto known = objects_.find(key);
  if (known != objects_.end() && known->second.uid != uid) {
    forget(key);
    changed_[key] = std::nullopt;
    known = objects_.end();
  }
  const std::uint64_t mark = siphash13(process_hash_key, text);
  const bool same = known != objects_.end() && known->second.text_mark == mark;
  const bool waited = known != objects_.end() && known->second.waits_for_room;
  std::optional<policy_room::refusal> no;
  const bool asks = !same || waited;
  if (asks) {
    std::vector<policy_room::displaced> younger;
    no = room_.put(key, created, text.size(), synced_ ? nullptr : &younger);
    for (auto& [other, why] : younger) displace(other, std::move(why));
    if (no && known == objects_.end() && refused_ >= room_.most().objects) {
      left_out_ = true;
      return;
    }
  }
  object& now = objects_[key];
  now.uid = std::move(uid);
  now.generation = generation;
  now.status = status_of(given);
  now.text_mark = mark;
  if (!asks || (no && same)) return;
  if (no) return refuse(key, std::move(*no));
  if (std::exchange(now.refused, false)) --refused_;
  now.waits_for_room = false;
  changed_[key] = news{std::move(text), std::nullopt};
}

void policy_objects::refuse(const object_key& key, policy_room::refusal why) {
  object& of = objects_.at(key);
  if (!std::exchange(of.refused, true)) ++refused_;
  of.waits_for_room = why.may_fit_later;
  changed_[key] = news{{}, std::move(why)};
}

/// Only while the first list comes, so nothing of the object has been passed on yet.
void policy_objects::displace(const object_key& key, policy_room::refusal why) {
  if (refused_ < room_.most().objects) return refuse(key, std::move(why));
  objects_.erase(key);
  changed_.erase(key);
  left_out_ = true;
}

void policy_objects::forget(const object_key& key) {
  room_.remove(key);
  const auto at = objects_.find(key);
  if (at->second.refused) --refused_;
  objects_.erase(at);
}

void policy_objects::gone(const object_key& key) {
  if (!objects_.contains(key)) return;
  forget(key);
  changed_[key] = std::nullopt;
}

std::vector<policy_objects::change> policy_objects::take() {
  std::vector<change> out;
  for (auto& [key, there] : std::exchange(changed_, {})) {
    change c{name_of(key), std::nullopt, std::nullopt, key, {}};
    if (there && there->refused) {
      c.refused = std::move(there->refused);
      c.uid = objects_.at(key).uid;
    } else if (there) {
      c.text = std::move(there->text);
    }
    out.push_back(std::move(c));
  }
  return out;
}

bool policy_objects::take_wants_all_again() {
  if (!room_.take_freed()) return false;
  const bool waits = std::ranges::any_of(objects_, [](const auto& o) { return o.second.waits_for_room; });
  return std::exchange(left_out_, false) || waits;
}

}  // namespace binnacle::kube
