#include "agent/sampling/stuck_watch.hpp"

#include <algorithm>

namespace binnacle::agent {

void stuck_watch::look(const std::vector<reading>& all, std::optional<double> witness,
                       const std::set<std::string>& witnessed, instant now) {
  if (began_ && now >= *began_ + settings_.window) name_stuck(witnessed, now);
  if (!began_ || now >= *began_ + settings_.window) begin(now);
  ++looks_;
  if (witness) {
    least_ = std::min(least_, *witness);
    most_ = std::max(most_, *witness);
  }
  for (const auto& r : all) {
    const bool first_look = now == *began_;
    auto at = tracks_.find(r.id);
    // The board may give the id of a removed series to another sensor.
    if (at != tracks_.end() && at->second.kind != r.kind) {
      tracks_.erase(at);
      stuck_.erase(r.id);
      at = tracks_.end();
    }
    if (at == tracks_.end()) {
      at = tracks_.emplace(r.id, track{.kind = r.kind, .values = {}, .last_value = now, .whole = first_look})
               .first;
    }
    track& t = at->second;
    t.seen = looks_;
    if (!r.value) continue;
    if (gap_is_too_long(t, now)) t.whole = false;
    t.last_value = now;
    if (const auto f = stuck_.find(r.id); f != stuck_.end() && f->second.value != *r.value) stuck_.erase(f);
    if (r.read_at == t.last_read) continue;
    t.last_read = r.read_at;
    ++t.reads;
    if (t.values.size() < settings_.peer_values) t.values.insert(*r.value);
  }
  std::erase_if(tracks_, [&](const auto& t) { return t.second.seen != looks_; });
  std::erase_if(stuck_, [&](const auto& f) { return !tracks_.contains(f.first); });
}

void stuck_watch::name_stuck(const std::set<std::string>& witnessed, instant now) {
  struct peers {
    std::size_t all = 0, moved = 0;
  };
  std::map<std::string, peers> kinds;
  for (const auto& [id, t] : tracks_) {
    if (t.reads < settings_.reads || stuck_.contains(id)) continue;
    auto& k = kinds[t.kind];
    ++k.all;
    if (moved(t)) ++k.moved;
  }
  const bool witness_moved = most_ - least_ >= settings_.witness_span;
  for (const auto& [id, t] : tracks_) {
    if (!constant(t) || gap_is_too_long(t, now) || stuck_.contains(id)) continue;
    const auto others = kinds[t.kind].all - 1;  // without itself
    const bool alone = others == 0 ? witnessed.contains(t.kind) && witness_moved
                                   : static_cast<double>(kinds[t.kind].moved) >=
                                         settings_.peer_share * static_cast<double>(others);
    if (alone) stuck_[id] = {*t.values.begin(), *began_};
  }
}

void stuck_watch::begin(instant now) {
  began_ = now;
  for (auto& [id, t] : tracks_) {
    t.values.clear();
    t.reads = 0;
    t.last_value = now;
    t.whole = true;
  }
  least_ = 2;
  most_ = -1;
}

}  // namespace binnacle::agent
