// Where the other pods of the ReplicaSet are decides where the next one may go. Pods that have a node are
// counted where they are. Pods that were let through a moment ago are counted where they will be:
//
//   open()    what the pod asks for, and how many of its ReplicaSet's pods each area has
//   choose()  the areas with the fewest, of those that have a candidate
//   settle()  prioritize knows which of several areas it will be, so that the next pod sees it there
//
// kube-scheduler has thrown out the nodes that the pod cannot have (taints, resources, affinity) before it
// asks, so an area that is full or gone is no candidate's, and nothing waits for it.

#include "aggregator/spread/spreader.hpp"

#include "aggregator/spread/rate.hpp"
#include "common/keyed_hash.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace binnacle::spread {

std::optional<spreader::plan> spreader::open(const std::string& uid, std::string_view name_space,
                                             std::string_view pod_text, instant now) {
  if (world_ == nullptr || (!world_->any_set_asks() && !may_ask(pod_text))) return std::nullopt;
  in_flight_.gone(uid);  // a pod that the scheduler asks about has no node yet
  plan out;
  out.pod = asking_pod_of(pod_text);
  facts& f = out.told;
  f.set = out.pod.set;
  const auto set = out.pod.set.empty() ? std::nullopt : world_->set(name_space, out.pod.set, out.pod.set_uid);
  f.rate = set && !set->rate.empty() ? std::string(set->rate) : out.pod.rate;
  if (f.rate.empty()) return std::nullopt;
  const auto rate = parse_rate(f.rate);
  if (!rate) {
    f.is = facts::state::bad_rate;
  } else if (out.pod.set.empty()) {
    f.is = facts::state::no_set;
  } else if (!set) {
    f.is = facts::state::unknown_set;
  } else {
    f.replicas = set->replicas;
    f.quota = quota_of(*rate, set->replicas);
    f.kind = world_->areas();
    count(out, now);
    if (f.placed >= f.quota) f.is = facts::state::enough;
  }
  return out;
}

/// The ReplicaSet's pods, in all and by area.
void spreader::count(plan& p, instant now) {
  facts& f = p.told;
  // A set may have all pods of the cluster, so an area is looked up once for a node.
  std::unordered_map<std::string_view, std::uint32_t, keyed_hash> on_node;
  std::unordered_set<std::string, keyed_hash> on_their_way;
  in_flight_.each(p.pod.set_uid, now,
                  [&](const std::string& uid, const in_flight::pod&) { on_their_way.insert(uid); });
  world_->each_pod(p.pod.set_uid, [&](std::string_view uid, std::string_view node) {
    ++f.placed;
    ++on_node[node];
    if (on_their_way.empty()) return;
    if (const std::string known(uid); on_their_way.erase(known) != 0) in_flight_.gone(known);
  });
  in_flight_.each(p.pod.set_uid, now, [&](const std::string&, const in_flight::pod& on_its_way) {
    ++f.placed;
    ++f.in_flight;
    ++on_node[on_its_way.node];
  });
  for (const auto& [node, pods] : on_node) {
    const std::string_view area = node.empty() ? node : world_->area_of(f.kind, node);
    if (!area.empty()) p.pods.try_emplace(std::string(area)).first->second += pods;
  }
}

void spreader::choose(plan& p, const std::string& uid, const name_of& name, std::span<std::uint8_t> may,
                      std::span<std::uint16_t> why, instant now) {
  facts& f = p.told;
  if (f.is != facts::state::spreading) return;
  std::vector<std::string_view> area(may.size());
  const auto take = [&](bool control_plane_too) {
    bool any = false;
    for (std::size_t i = 0; i < may.size(); ++i) {
      if (may[i] == 0) continue;
      const std::string_view node = name(i);
      const bool forbidden = !control_plane_too && world_->is_control_plane(node);
      area[i] = forbidden ? std::string_view() : world_->area_of(f.kind, node);
      why[i] = forbidden ? control_plane : without_area;
      any = any || !area[i].empty();
    }
    return any;
  };
  bool any = take(p.pod.to_control_plane);
  if (!any && !p.pod.to_control_plane) any = f.only_control_plane = take(true);
  if (std::ranges::find(may, std::uint8_t(1)) == may.end()) return;  // others refused them all
  if (!any) f.is = facts::state::no_area;

  std::map<std::string_view, std::uint32_t> open;
  f.least = std::numeric_limits<std::uint32_t>::max();
  for (const std::string_view a : area) {
    if (a.empty() || open.contains(a)) continue;
    const auto has = p.pods.find(a);
    const std::uint32_t pods = has == p.pods.end() ? 0 : has->second;
    open.emplace(a, pods);
    f.least = std::min(f.least, pods);
  }
  std::string_view first, first_area;  // a node that may have the pod
  bool several = false;                // nodes of more than one area may have it
  for (std::size_t i = 0; any && i < may.size(); ++i) {
    if (may[i] == 0) continue;
    const std::uint32_t pods = area[i].empty() ? 0 : open[area[i]];
    if (!area[i].empty() && pods == f.least) {
      if (first.empty()) {
        first = name(i);
        first_area = area[i];
      }
      several = several || area[i] != first_area;
      continue;
    }
    may[i] = 0;
    if (!area[i].empty()) why[i] = static_cast<std::uint16_t>(std::min<std::uint32_t>(pods, most_counted));
    ++f.refused;
  }
  std::vector<facts::area> listed;
  for (const auto& [a, pods] : open) listed.push_back({std::string(a), pods});
  std::ranges::stable_sort(listed, {}, &facts::area::pods);
  f.areas_left_out = static_cast<std::uint32_t>(listed.size() - std::min(listed.size(), facts::most_areas));
  listed.resize(std::min(listed.size(), facts::most_areas));
  f.areas = std::move(listed);
  in_flight_.put(uid, p.pod.set_uid, several ? std::string_view() : first, now);
}

std::optional<area_kind> spreader::undecided(const std::string& uid, instant now) {
  if (world_ == nullptr) return std::nullopt;
  const in_flight::pod* p = in_flight_.find(uid, now);
  return p == nullptr || !p->node.empty() ? std::nullopt : std::optional(world_->areas());
}

}  // namespace binnacle::spread
