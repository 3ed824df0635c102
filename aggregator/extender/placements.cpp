// Pods that are on their way to a node, and how they are forgotten again.
//
// The scheduler asks about a pod, and a second later about the next, while the watts of the node change
// only when the first one runs. Without this ledger all pods of a burst would go to one node. The ledger
// is two maps (pods by uid, residents by node) and three queues in the order of time. All pods may be on one
// node and end together, so a pod knows its place among the residents, and none is searched for.
//
//   expected_   our guess of where a pod goes   → after `unconfirmed` only its cores count, unless it is
//               bound by then; empty where nobody tells of bindings
//   by_age_     every pod                       → ends after `lifetime`, which begins anew when it is Ready
//   starting_   bound, not Ready, and old       → only its cores still count; ends when it is Ready or gone,
//               or after `longest_start`
//
// An entry of a queue is (since, uid). A pod that is heard of late has its place among older ones. An entry
// stays in the queue when its pod goes or is put again; still() then finds that the entry is out of date. So
// no queue has to be searched. The price is that one pod may leave many entries, because a scheduler may
// retry a pod that does not fit for hours. bound_entries() limits a queue to four times `most` entries.
//
// When there are more than `most` pods, those that have been starting for long go first, then the oldest.
// A pod that is dropped too early makes a score a little wrong; it is counted (dropped()).

#include "aggregator/extender/placements.hpp"

#include <utility>

namespace binnacle::extender {

void placements::expected(const std::string& uid, std::string_view node, instant now, double cores) {
  expire(now);
  const auto at = pods_.find(uid);
  if (uid.empty() || (at != pods_.end() && at->second.confirmed)) return;
  put(uid, node, now, cores, false);
}

void placements::bound(const std::string& uid, std::string_view node, instant now, double cores,
                       duration ago) {
  expire(now);
  const auto at = pods_.find(uid);
  if (uid.empty() || (at != pods_.end() && at->second.confirmed && at->second.node == node)) return;
  put(uid, node, now - ago, cores, true);
}

void placements::ready(const std::string& uid, bool is, instant now) {
  expire(now);
  bound_entries(by_age_);
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  resident& seen = resident_of(at->second);
  if (!is) {
    seen.ready.reset();
    return;
  }
  if (!seen.ready) seen.ready = now;
  if (std::exchange(at->second.was_ready, true) || !at->second.confirmed) return;
  at->second.since = now;
  by_age_.emplace(now, uid);
}

void placements::gone(const std::string& uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  take_from_node(at->second);
  pods_.erase(at);
}

void placements::put(const std::string& uid, std::string_view node, instant since, double cores,
                     bool confirmed) {
  gone(uid);
  for (queue* in : {&starting_, &by_age_, &expected_}) bound_entries(*in);
  for (queue* in : {&starting_, &by_age_}) {
    while (pods_.size() >= settings_.most && !in->empty()) drop_front(*in);
  }
  auto on = nodes_.find(node);
  if (on == nodes_.end()) on = nodes_.emplace(std::string(node), std::vector<resident>()).first;
  pods_.emplace(uid, pod{std::string(node), since, confirmed, false, on->second.size()});
  on->second.push_back({uid, std::nullopt, cores});
  by_age_.emplace(since, uid);
  if (!confirmed && followed_) expected_.emplace(since, uid);
}

placements::resident& placements::resident_of(const pod& p) { return nodes_.find(p.node)->second[p.place]; }

/// Limits the queue: a pod that the scheduler asks about again and again leaves an entry each time.
void placements::bound_entries(queue& in) {
  while (in.size() >= 4 * settings_.most && !in.empty()) drop_front(in);
}

void placements::drop_front(queue& from) {
  const entry& first = *from.begin();
  const bool counts = (&from == &expected_ ? still_expected(first) : still(first)) != nullptr;
  if (counts) {
    gone(first.second);
    ++dropped_;
  }
  from.erase(from.begin());
}

/// The pod of this entry; null if it has gone or was put again since.
placements::pod* placements::still(const entry& put) {
  const auto at = pods_.find(put.second);
  return at == pods_.end() || at->second.since != put.first ? nullptr : &at->second;
}

placements::pod* placements::still_expected(const entry& put) {
  pod* p = still(put);
  return p == nullptr || p->confirmed ? nullptr : p;
}

/// The last resident takes the place of the one that goes.
void placements::take_from_node(const pod& p) {
  const auto on = nodes_.find(p.node);
  resident& free = on->second[p.place];
  resident& last = on->second.back();
  if (&free != &last) {
    pods_.find(last.uid)->second.place = p.place;
    free = std::move(last);
  }
  on->second.pop_back();
  if (on->second.empty()) nodes_.erase(on);
}

void placements::expire(instant now) {
  const auto has_older = [now](const queue& in, duration than) {
    return !in.empty() && now - in.begin()->first >= than;
  };
  for (; has_older(by_age_, settings_.lifetime); by_age_.erase(by_age_.begin())) {
    const entry& oldest = *by_age_.begin();
    const pod* p = still(oldest);
    if (p == nullptr) continue;
    if (p->confirmed && !p->was_ready) {
      resident_of(*p).only_cores = true;
      starting_.insert(oldest);
    } else {
      gone(oldest.second);
    }
  }
  for (; has_older(starting_, settings_.longest_start); starting_.erase(starting_.begin())) {
    const entry& oldest = *starting_.begin();
    if (still(oldest) != nullptr) gone(oldest.second);
  }
  for (; has_older(expected_, settings_.unconfirmed); expected_.erase(expected_.begin())) {
    const entry& oldest = *expected_.begin();
    const pod* p = still_expected(oldest);
    if (p != nullptr) resident_of(*p).only_cores = true;
  }
}

std::vector<placements::crowd> placements::crowds(instant now) {
  expire(now);
  std::vector<crowd> out;
  out.reserve(nodes_.size());
  for (const auto& [node, residents] : nodes_) out.push_back({node, residents});
  return out;
}

placements::unseen placements::counting(const crowd& on, instant read_at, duration window) const {
  unseen out;
  for (const resident& r : on.pods) {
    if (r.ready && read_at >= *r.ready + settings_.settle + window) continue;
    if (!r.only_cores) ++out.pods;
    out.cores += r.cores;
  }
  return out;
}

}  // namespace binnacle::extender
