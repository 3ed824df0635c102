#include "aggregator/spread/in_flight.hpp"

namespace binnacle::spread {

void in_flight::put(const std::string& uid, std::string_view set_uid, std::string_view node, instant now) {
  expire(now);
  gone(uid);
  // A pod that is asked about again and again leaves an entry each time.
  while (pods_.size() >= most || by_age_.size() >= 2 * most) drop_oldest();
  pods_.emplace(uid, pod{std::string(set_uid), std::string(node), now});
  by_age_.emplace_back(now, uid);
}

void in_flight::settle(const std::string& uid, std::string_view node) {
  if (const auto at = pods_.find(uid); at != pods_.end()) at->second.node = node;
}

const in_flight::pod* in_flight::find(const std::string& uid, instant now) {
  expire(now);
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : &at->second;
}

void in_flight::expire(instant now) {
  while (!by_age_.empty() && now - by_age_.front().first >= lifetime) drop_oldest();
}

void in_flight::drop_oldest() {
  const auto& [since, uid] = by_age_.front();
  const auto at = pods_.find(uid);
  if (at != pods_.end() && at->second.since == since) pods_.erase(at);
  by_age_.pop_front();
}

}  // namespace binnacle::spread
