#include "aggregator/sender/cursor.hpp"

#include "common/exposition/target_labels.hpp"
#include "common/text/glob.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace binnacle::sender {
namespace {

// Remote write, and Prometheus for OTLP too, keeps times in milliseconds. A second value in the same
// millisecond is refused, and the whole request with it. Two milliseconds instead of one, because the
// difference between the boot clock and the wall clock is measured anew for each round.
constexpr duration least_apart = std::chrono::milliseconds(2);

}  // namespace

double stale_marker() noexcept { return std::bit_cast<double>(std::uint64_t{0x7ff0'0000'0000'0002}); }

void cursor::begin(instant now) {
  nodes_.clear();
  since_ns_ = to_ns(now);
}

bool cursor::chooses(const store::shape::series& s) const {
  return families_.empty() ||
         std::ranges::any_of(families_, [&](const auto& glob) { return matches_glob(glob, s.family); });
}

/// Whether the database sees other labels than these.
bool cursor::looks_different(const metrics::label_set& own) const {
  return std::ranges::any_of(own, [this](const auto& label) {
    const std::string& name = label.first;
    return label.second.empty() || name.starts_with("__") ||
           std::ranges::any_of(target_, [&](const auto& of_target) { return of_target.first == name; });
  });
}

/// What the database tells series of a family and node apart by. To it, an empty label is none. Source:
/// prometheus.io/docs/concepts/data_model.
metrics::label_set cursor::as_seen(const metrics::label_set& own) const {
  metrics::label_set out = exposition::with_target(target_, own);
  std::erase_if(out, [](const auto& label) { return label.second.empty(); });
  std::ranges::sort(out);
  return out;
}

/// Chooses the shape's series that are told. If the database would see two under the same labels, the first
/// one is told: two values at one time would cost the whole request.
void cursor::choose(told& node) const {
  const auto& all = node.of->all;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!chooses(all[i])) continue;
    node.chosen.push_back(i);
    node.looks_different = node.looks_different || looks_different(all[i].labels);
  }
  if (!node.looks_different) return;  // a shape has no series twice
  std::set<std::pair<std::string_view, metrics::label_set>> seen;
  node.left_out = std::erase_if(node.chosen, [&](std::uint32_t i) {
    return !seen.emplace(all[i].family, as_seen(all[i].labels)).second;
  });
}

void cursor::end(told& node, const std::string& name, std::size_t place, instant now,
                 const std::function<void(const point&)>& tell) {
  if (node.at_ns[place] <= 0) return;
  const instant at = std::max(now, from_ns(node.at_ns[place]) + least_apart);
  node.at_ns[place] = -to_ns(at);
  tell({name, node.of->all[node.chosen[place]], stale_marker(), at, node.uid});
}

/// The node has another catalog. Series that are in both go on; series that are gone end. If the database
/// takes a new series for one that is gone, the new one begins after that end.
void cursor::reshape(told& node, const std::string& name, const std::shared_ptr<const store::shape>& now_of,
                     instant now, const std::function<void(const point&)>& tell) const {
  told fresh{now_of, {}, {}, node.round, node.uid};
  choose(fresh);
  fresh.at_ns.resize(fresh.chosen.size());
  std::unordered_multimap<std::size_t, std::size_t> places;  // of series_hash() in `fresh`
  for (std::size_t k = 0; k < fresh.chosen.size(); ++k) {
    const auto& s = now_of->all[fresh.chosen[k]];
    places.emplace(store::series_hash(s.family, s.labels), k);
  }
  const bool may_meet = node.looks_different || fresh.looks_different;
  std::map<std::pair<std::string_view, metrics::label_set>, std::int64_t>
      ended_ns;  // as the database sees it
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
      if (may_meet)
        ended_ns.emplace(std::pair(std::string_view(old.family), as_seen(old.labels)), node.at_ns[k]);
    }
  }
  for (std::size_t k = 0; k < fresh.chosen.size() && !ended_ns.empty(); ++k) {
    if (fresh.at_ns[k] != 0) continue;
    const auto& s = now_of->all[fresh.chosen[k]];
    const auto same = ended_ns.find(std::pair(std::string_view(s.family), as_seen(s.labels)));
    if (same != ended_ns.end()) fresh.at_ns[k] = same->second;
  }
  node = std::move(fresh);
}

void cursor::take(const fleet& nodes, instant now, const std::function<void(const point&)>& tell) {
  ++round_;
  left_out_ = 0;
  for (const fleet_node& n : nodes) {
    told& node = nodes_[n.name];
    node.round = round_;
    if (node.uid != n.uid) {
      for (std::size_t k = 0; k < node.chosen.size(); ++k) end(node, n.name, k, now, tell);
      node.uid = n.uid;
    }
    if (node.of != n.cells->shared_shape()) reshape(node, n.name, n.cells->shared_shape(), now, tell);
    left_out_ += node.left_out;
    for (std::size_t k = 0; k < node.chosen.size(); ++k) {
      const store::sample s = n.cells->load(node.chosen[k]);
      if (!s.present(now)) {
        end(node, n.name, k, now, tell);
        continue;
      }
      const std::int64_t at_ns = to_ns(s.read_at);
      // A value from before the series' end would be out of order, and the server would refuse the whole
      // request.
      if (at_ns <= since_ns_ || at_ns - std::abs(node.at_ns[k]) < least_apart.count()) continue;
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
