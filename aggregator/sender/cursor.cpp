#include "aggregator/sender/cursor.hpp"

#include "common/text/glob.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace binnacle::sender {

double stale_marker() noexcept { return std::bit_cast<double>(std::uint64_t{0x7ff0'0000'0000'0002}); }

void cursor::begin(instant now) {
  nodes_.clear();
  since_ns_ = to_ns(now);
}

bool cursor::chooses(const store::shape::series& s) const {
  return families_.empty() ||
         std::ranges::any_of(families_, [&](const auto& glob) { return matches_glob(glob, s.family); });
}

void cursor::end(told& node, const std::string& name, std::size_t place, instant now,
                 const std::function<void(const point&)>& tell) {
  if (node.at_ns[place] <= 0) return;
  node.at_ns[place] = -to_ns(now);
  tell({name, node.of->all[node.chosen[place]], stale_marker(), now, node.uid});
}

/// The node has another catalog. Series that are in both go on; series that are gone end.
void cursor::reshape(told& node, const std::string& name, const std::shared_ptr<const store::shape>& now_of,
                     instant now, const std::function<void(const point&)>& tell) const {
  told fresh{now_of, {}, {}, node.round, node.uid};
  for (std::uint32_t i = 0; i < now_of->all.size(); ++i) {
    if (chooses(now_of->all[i])) fresh.chosen.push_back(i);
  }
  fresh.at_ns.resize(fresh.chosen.size());
  std::unordered_multimap<std::size_t, std::size_t> places;  // of series_hash() in `fresh`
  for (std::size_t k = 0; k < fresh.chosen.size(); ++k) {
    const auto& s = now_of->all[fresh.chosen[k]];
    places.emplace(store::series_hash(s.family, s.labels), k);
  }
  for (std::size_t k = 0; k < node.chosen.size(); ++k) {
    const auto& old = node.of->all[node.chosen[k]];
    const auto [from, to] = places.equal_range(store::series_hash(old.family, old.labels));
    const auto same = std::find_if(from, to, [&](const auto& at) {
      const auto& s = now_of->all[fresh.chosen[at.second]];
      return s.family == old.family && s.labels == old.labels;
    });
    if (same != to) {
      fresh.at_ns[same->second] = node.at_ns[k];
    } else {
      end(node, name, k, now, tell);
    }
  }
  node = std::move(fresh);
}

void cursor::take(const fleet& nodes, instant now, const std::function<void(const point&)>& tell) {
  ++round_;
  for (const fleet_node& n : nodes) {
    told& node = nodes_[n.name];
    node.round = round_;
    if (node.uid != n.uid) {
      for (std::size_t k = 0; k < node.chosen.size(); ++k) end(node, n.name, k, now, tell);
      node.uid = n.uid;
    }
    if (node.of != n.cells->shared_shape()) reshape(node, n.name, n.cells->shared_shape(), now, tell);
    for (std::size_t k = 0; k < node.chosen.size(); ++k) {
      const store::sample s = n.cells->load(node.chosen[k]);
      if (!s.present(now)) {
        end(node, n.name, k, now, tell);
        continue;
      }
      const std::int64_t at_ns = to_ns(s.read_at);
      // A late value from before the series' end would be out of order, and the server would refuse the whole
      // request.
      if (at_ns <= std::max(since_ns_, std::abs(node.at_ns[k]))) continue;
      node.at_ns[k] = at_ns;
      tell({n.name, node.of->all[node.chosen[k]], to_double(s.value), s.read_at, node.uid});
    }
  }
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    if (at->second.round == round_) {
      ++at;
      continue;
    }
    for (std::size_t k = 0; k < at->second.chosen.size(); ++k) end(at->second, at->first, k, now, tell);
    at = nodes_.erase(at);
  }
}

}  // namespace binnacle::sender
