#include "aggregator/extender/placements.hpp"

#include <algorithm>

namespace binnacle::extender {

void placements::expected(const std::string& uid, std::string_view node, instant now, double cores) {
  expire(now);
  const auto at = pods_.find(uid);
  if (uid.empty() || (at != pods_.end() && at->second.confirmed)) return;
  put(uid, node, now, cores, false);
}

void placements::bound(const std::string& uid, std::string_view node, instant now, double cores) {
  expire(now);
  const auto at = pods_.find(uid);
  if (uid.empty() || (at != pods_.end() && at->second.confirmed && at->second.node == node)) return;
  put(uid, node, now, cores, true);
}

void placements::ready(const std::string& uid, bool is, instant now) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  resident& pod = *std::ranges::find(nodes_.find(at->second.node)->second, uid, &resident::uid);
  if (!is) {
    pod.ready.reset();
  } else if (!pod.ready) {
    pod.ready = now;
  }
}

void placements::gone(const std::string& uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  take_from_node(uid, at->second.node);
  pods_.erase(at);
}

void placements::put(const std::string& uid, std::string_view node, instant now, double cores,
                     bool confirmed) {
  gone(uid);
  // A pod that is asked about again and again leaves an entry each time.
  const auto full = [this] { return pods_.size() >= settings_.most || by_age_.size() >= 4 * settings_.most; };
  for (; full() && !by_age_.empty(); by_age_.pop_front()) {
    if (still(by_age_.front()) != nullptr) give_way(by_age_.front().second);
  }
  for (; expected_.size() >= 4 * settings_.most; expected_.pop_front()) {
    if (still_expected(expected_.front())) give_way(expected_.front().second);
  }
  pods_.emplace(uid, pod{std::string(node), now, confirmed});
  auto on = nodes_.find(node);
  if (on == nodes_.end()) on = nodes_.emplace(std::string(node), std::vector<resident>()).first;
  on->second.push_back({uid, std::nullopt, cores});
  by_age_.emplace_back(now, uid);
  if (!confirmed) expected_.emplace_back(now, uid);
}

/// The pod that was put then, unless it has gone or was put again.
const placements::pod* placements::still(const std::pair<instant, std::string>& put) const {
  const auto at = pods_.find(put.second);
  return at == pods_.end() || at->second.since != put.first ? nullptr : &at->second;
}

bool placements::still_expected(const std::pair<instant, std::string>& put) const {
  const pod* p = still(put);
  return p != nullptr && !p->confirmed;
}

void placements::give_way(const std::string& uid) {
  gone(uid);
  ++dropped_;
}

void placements::take_from_node(const std::string& uid, const std::string& node) {
  const auto on = nodes_.find(node);
  std::erase_if(on->second, [&uid](const resident& r) { return r.uid == uid; });
  if (on->second.empty()) nodes_.erase(on);
}

void placements::expire(instant now) {
  for (; !by_age_.empty() && now - by_age_.front().first >= settings_.lifetime; by_age_.pop_front()) {
    if (still(by_age_.front()) != nullptr) gone(by_age_.front().second);
  }
  const duration wait = followed_ ? settings_.unconfirmed : settings_.lifetime;
  for (; !expected_.empty() && now - expected_.front().first >= wait; expected_.pop_front()) {
    if (still_expected(expected_.front())) gone(expected_.front().second);
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
    ++out.pods;
    out.cores += r.cores;
  }
  return out;
}

}  // namespace binnacle::extender
