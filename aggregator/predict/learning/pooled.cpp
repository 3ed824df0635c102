// The shape of a class and the heights of its nodes, found together.
//
// Of a node i at bin b: log watts = log median_shape(load) + height[i] + shape[b] + an error. Where the shape
// is known, it gives the height of each node that has been there. A node of known height is a voice about the
// shape at each other bin that it has had. So the shape grows: it begins at the bin that most nodes have had,
// and the next bin is always the one of which most voices speak. So heights are found however the nodes'
// loads overlap: node 1 with node 2, node 2 with node 3. In the end shape and heights are found again, some
// times, from all voices.
//
// Any node may lie, and then its voice must not count for much. At a bin with
//
//   three voices or more, the one in the middle counts, and the others by 2 % at most. While most of them are
//     honest, the middle one is honest, or is between two that are;
//   two, each may lie. The shape of published servers, brought to the nearest bin that is sure, is the third
//     voice, and again the one in the middle counts;
//   one, it counts, but only so far from that third voice (most_bend_alone);
//   none, the shape of published servers counts, brought to the nearest bin with a shape. So nodes without a
//     common load come together.
//
// A bin is sure if three voices speak of it, or two that agree. The others count for a node's height only if
// it has had no bin that is sure. In a class of two nodes nobody knows which one lies, and both are believed.

#include "aggregator/predict/learning/pooled.hpp"

#include "aggregator/predict/learning/estimate.hpp"
#include "aggregator/predict/learning/median_server.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace binnacle::predict {
namespace {

constexpr std::size_t all_bins = statistics::bins;
using by_bin = std::array<double, all_bins>;

constexpr double enough_samples = 50;  // samples: a bin's mean is no better with more
constexpr double sure = 1, unsure = 1e-3;
constexpr double usual_error = 0.02;
constexpr double agreed = 0.1;  // so far apart, as a logarithm, two voices of one bin may be
constexpr int rounds = 3;
constexpr std::ptrdiff_t nodes_of_a_bin = 16;
/// How far one node alone may bend its class's shape from the nearest load that is sure, as a logarithm. With
/// half of it, loads that one honest node alone has had would no longer count as they should.
constexpr double most_bend_alone = 0.3;

/// A node's watts over the median server's, as logarithms, and how much each counts.
struct measured {
  by_bin log_watts{}, weight{};         // weight 0: it has not been there
  std::array<bool, all_bins> stayed{};  // it has been there for more than a moment
  std::optional<double> height{};       // nothing: no shape is known where it has been
};

measured relative(const statistics& node) {
  measured out;
  for (std::size_t b = 0; b < all_bins; ++b) {
    if (node.samples(b) == 0 || node.watts(b) <= 0) continue;
    out.log_watts[b] = std::log(node.watts(b) / median_shape(node.load(b)));
    out.weight[b] = std::min<double>(node.samples(b), enough_samples) / enough_samples;
    out.stayed[b] = node.samples(b) >= least_samples;
  }
  return out;
}

/// The value in the middle; of an even number the mean of the two there. `all` is not empty.
double middle_of(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  if (all.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(all.begin(), middle)) / 2;
}

class class_shape {
 public:
  explicit class_shape(std::vector<measured> nodes) : nodes_(std::move(nodes)) {
    trust_[most_visited()] = sure;
    find_heights();
    for (auto next = best_known(); next; next = best_known()) {
      settle(*next);
      find_heights();
    }
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t b = 0; b < all_bins; ++b) settle(b);
      find_heights();
    }
  }

  double at(std::size_t b) const { return shape_[b]; }
  double middle_height() const {
    std::vector<double> all;
    for (const measured& m : nodes_) all.push_back(m.height.value_or(0));
    return middle_of(std::move(all));
  }

 private:
  struct voice {
    double says = 0, weight = 0;
  };

  std::size_t most_visited() const {
    std::size_t best = 0;
    std::pair<std::ptrdiff_t, std::ptrdiff_t> most{-1, -1};
    for (std::size_t b = 0; b < all_bins; ++b) {
      const std::pair visits{
          std::ranges::count_if(nodes_, [b](const measured& m) { return m.stayed[b]; }),
          std::ranges::count_if(nodes_, [b](const measured& m) { return m.weight[b] > 0; })};
      if (visits > most) most = visits, best = b;
    }
    return best;
  }

  /// The bin without a shape yet of which most voices speak; of equal ones the nearest to those with one.
  std::optional<std::size_t> best_known() const {
    std::optional<std::size_t> best;
    std::pair<std::ptrdiff_t, std::ptrdiff_t> most;
    for (std::size_t b = 0; b < all_bins; ++b) {
      if (trust_[b] > 0) continue;
      const auto voices =
          std::ranges::count_if(nodes_, [b](const measured& m) { return m.height && m.stayed[b]; });
      const std::size_t near = nearest(b, unsure).value_or(b);
      const std::pair rank{voices, -static_cast<std::ptrdiff_t>(std::max(b, near) - std::min(b, near))};
      if (!best || rank > most) most = rank, best = b;
    }
    return best;
  }

  void find_heights() {
    for (measured& m : nodes_) {
      double sum = 0, both = 0;
      for (std::size_t b = 0; b < all_bins; ++b) {
        const double w = m.weight[b] * trust_[b];
        sum += w;
        both += w * (m.log_watts[b] - shape_[b]);
      }
      m.height = sum > 0 ? std::optional(both / sum) : std::nullopt;
    }
  }

  /// The nearest other bin with this trust or more.
  std::optional<std::size_t> nearest(std::size_t b, double trust) const {
    for (std::size_t away = 1; away < all_bins; ++away) {
      for (const std::size_t near : {b - away, b + away}) {
        if (near < all_bins && trust_[near] >= trust) return near;
      }
    }
    return std::nullopt;
  }
  /// The shape of published servers at `b`, from there.
  double published(std::size_t b, double trust) const {
    const auto near = nearest(b, trust);
    return near ? shape_[*near] : 0;
  }

  void settle(std::size_t b) {
    const bool stayed = listen(b);
    if (voices_.empty()) {
      shape_[b] = published(b, unsure);
      trust_[b] = unsure;
      return;
    }
    said_.clear();
    for (const voice& v : voices_) said_.push_back(v.says);
    const double middle = middle_of(said_), usual = published(b, sure);
    if (nodes_.size() <= 2 || (stayed && voices_.size() > 2)) {
      shape_[b] = around(middle);
      trust_[b] = sure;
    } else if (stayed && voices_.size() == 2) {
      const auto [low, high] = std::minmax(said_[0], said_[1]);
      shape_[b] = around(std::clamp(usual, low, high));
      trust_[b] = high - low <= agreed ? sure : unsure;
    } else {
      shape_[b] = usual + std::clamp(middle - usual, -most_bend_alone, most_bend_alone);
      trust_[b] = unsure;
    }
  }

  /// Collects what the nodes of known height say of a bin: those that have been there for more than a moment;
  /// if there are none, those that had a moment there. Returns whether it was the former.
  bool listen(std::size_t b) {
    voices_.clear();
    for (const bool stayed : {true, false}) {
      for (const measured& m : nodes_) {
        if (m.height && m.weight[b] > 0 && m.stayed[b] == stayed)
          voices_.push_back({m.log_watts[b] - *m.height, m.weight[b]});
      }
      if (!voices_.empty()) return stayed;
    }
    return false;
  }

  /// The mean of the voices, as if none of them were further from `middle` than the usual error.
  double around(double middle) const {
    double sum = 0, off = 0;
    for (const voice& v : voices_) {
      sum += v.weight;
      off += v.weight * std::clamp(v.says - middle, -usual_error, usual_error);
    }
    return middle + off / sum;
  }

  std::vector<measured> nodes_;
  by_bin shape_{};
  by_bin trust_{};             // how much the bin counts for heights; 0: it has no shape yet
  std::vector<voice> voices_;  // about the bin that is settled now
  std::vector<double> said_;
};

/// Picks enough nodes to know the shape: for each bin the nodes that have measured it most. So the cost of a
/// large class is bounded, and no load is lost.
std::vector<const statistics*> best_measured(std::span<const statistics* const> nodes) {
  if (std::ssize(nodes) <= nodes_of_a_bin) return {nodes.begin(), nodes.end()};
  std::vector<const statistics*> out, order(nodes.begin(), nodes.end());
  for (std::size_t b = 0; b < all_bins; ++b) {
    const auto end = order.begin() + nodes_of_a_bin;
    std::ranges::nth_element(order, end - 1, std::greater<>{},
                             [b](const statistics* s) { return s->samples(b); });
    out.insert(out.end(), order.begin(), end);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

statistics pooled(std::span<const statistics* const> nodes) {
  std::vector<measured> all;
  struct sums {
    double load = 0;  // the sum of load × samples
    std::uint32_t samples = 0;
  };
  std::array<sums, all_bins> seen{};
  for (const statistics* node : best_measured(nodes)) {
    if (node->empty()) continue;
    all.push_back(relative(*node));
    for (std::size_t b = 0; b < all_bins; ++b) {
      seen[b].load += node->samples(b) * node->load(b);
      seen[b].samples += node->samples(b);
    }
  }
  statistics out;
  if (all.empty()) return out;
  const class_shape shape(std::move(all));
  const double height = shape.middle_height();
  for (std::size_t b = 0; b < all_bins; ++b) {
    if (seen[b].samples == 0) continue;
    const double load = seen[b].load / seen[b].samples;
    const auto weight = std::min<std::uint32_t>(seen[b].samples, statistics::remembered);
    out.add(load, median_shape(load) * std::exp(height + shape.at(b)), static_cast<std::uint16_t>(weight));
  }
  return out;
}

}  // namespace binnacle::predict
