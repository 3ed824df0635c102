// The shape of a class and the heights of its nodes, found together.
//
// Of a node i at bin b: log watts = log median_shape(load) + height[i] + shape[b] + an error. Least squares
// over all nodes and bins gives heights and shape at once, however the nodes' loads overlap: node 1 with
// node 2, node 2 with node 3. A node's height follows from the shape, so only the 21 unknowns of the shape
// are solved for.
//
// Two more terms are added. The first says that neighbouring bins differ from the shape of published servers
// by nearly the same factor. Its weight is so small that it decides only where nothing else joins two groups
// of nodes, or where a node is alone. The second keeps the shape near 0, since only the sum of height and
// shape is measured.
//
// A node that is unlike the others must not bend the shape. So errors beyond 2 % count by their size and not
// by its square (Huber): solved again with weights by the errors of the last round.

#include "aggregator/predict/learning/pooled.hpp"

#include "aggregator/predict/learning/cholesky.hpp"
#include "aggregator/predict/learning/estimate.hpp"
#include "aggregator/predict/learning/median_server.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace binnacle::predict {
namespace {

constexpr std::size_t all_bins = statistics::bins;
using by_bin = std::array<double, all_bins>;

constexpr double enough_samples = 50;  // samples: a bin's mean is no better with more
constexpr double joined = 1e-3;        // weight of the term for neighbouring bins; a bin of one node has 1
constexpr double near_zero = 1e-6;
constexpr double usual_error = 0.02;
constexpr int rounds = 4;
constexpr std::ptrdiff_t nodes_of_a_bin = 16;
/// How far one node alone may bend its class's shape from the nearest load that several nodes have had, as a
/// logarithm. With half of it, loads that one honest node alone has had would no longer count as they should.
constexpr double most_bend_alone = 0.3;

/// A node's watts over the median server's, as logarithms, and how much each counts.
struct measured {
  by_bin log_watts{}, weight{};
  by_bin counts{};  // the weight of this round
  double height = 0;
};

measured relative(const statistics& node) {
  measured out;
  for (std::size_t b = 0; b < all_bins; ++b) {
    if (node.samples(b) == 0 || node.watts(b) <= 0) continue;
    out.log_watts[b] = std::log(node.watts(b) / median_shape(node.load(b)));
    out.weight[b] = std::min<double>(node.samples(b), enough_samples) / enough_samples;
  }
  out.counts = out.weight;
  return out;
}

/// How much a bin of a node counts, by its distance from the shape of the last round.
by_bin weights(const measured& m, const by_bin& shape) {
  by_bin out = m.weight;
  for (std::size_t b = 0; b < all_bins; ++b) {
    const double off = std::abs(m.log_watts[b] - m.height - shape[b]);
    if (off > usual_error) out[b] *= usual_error / off;
  }
  return out;
}

/// The shape that fits all nodes best, with these weights; then each node's height by it.
by_bin fitted(std::vector<measured>& all, const by_bin& before, bool first) {
  triangle<all_bins> matrix{};
  by_bin right{};
  for (std::size_t b = 0; b < all_bins; ++b) {
    matrix[in_triangle(b, b)] += near_zero;
    if (b == 0) continue;
    matrix[in_triangle(b, b)] += joined;
    matrix[in_triangle(b - 1, b - 1)] += joined;
    matrix[in_triangle(b, b - 1)] -= joined;
  }
  for (measured& m : all) {
    if (!first) m.counts = weights(m, before);
    const by_bin& w = m.counts;
    double sum = 0, mean = 0;
    for (std::size_t b = 0; b < all_bins; ++b) sum += w[b], mean += w[b] * m.log_watts[b];
    mean /= sum;
    for (std::size_t i = 0; i < all_bins; ++i) {
      if (w[i] == 0) continue;
      right[i] += w[i] * (m.log_watts[i] - mean);
      matrix[in_triangle(i, i)] += w[i];
      const double share = w[i] / sum;
      for (std::size_t j = 0; j <= i; ++j) matrix[in_triangle(i, j)] -= share * w[j];
    }
  }
  if (!solve_positive<all_bins>(matrix, right)) return before;
  for (measured& m : all) {
    double sum = 0, mean = 0;
    for (std::size_t b = 0; b < all_bins; ++b)
      sum += m.counts[b], mean += m.counts[b] * (m.log_watts[b] - right[b]);
    m.height = mean / sum;
  }
  return right;
}

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
  const auto twice = std::ranges::unique(out);
  out.erase(twice.begin(), twice.end());
  return out;
}

double middle_height(const std::vector<measured>& all) {
  std::vector<double> heights;
  for (const measured& m : all) heights.push_back(m.height);
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::ranges::nth_element(heights, middle);
  if (heights.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(heights.begin(), middle)) / 2;
}

}  // namespace

statistics pooled(std::span<const statistics* const> nodes) {
  std::vector<measured> all;
  struct sums {
    double load = 0;  // the sum of load × samples
    std::uint32_t samples = 0;
    std::size_t nodes = 0;  // that have been there for more than a moment
  };
  std::array<sums, all_bins> seen{};
  for (const statistics* node : best_measured(nodes)) {
    if (node->empty()) continue;
    all.push_back(relative(*node));
    for (std::size_t b = 0; b < all_bins; ++b) {
      seen[b].load += node->samples(b) * node->load(b);
      seen[b].samples += node->samples(b);
      if (node->samples(b) >= least_samples) ++seen[b].nodes;
    }
  }
  statistics out;
  if (all.empty()) return out;
  by_bin shape{};
  for (int round = 0; round < rounds; ++round) shape = fitted(all, shape, round == 0);
  const double height = middle_height(all);
  // Where of several nodes only one has been, nobody can contradict it, and it may lie. So it may bend the
  // shape only so far from where it is at the nearest load that several have had.
  const auto bend_at = [&](std::size_t b) {
    if (seen[b].nodes > 1 || all.size() <= 2) return shape[b];
    for (std::size_t away = 1; away < all_bins; ++away) {
      for (const std::size_t near : {b - away, b + away}) {
        if (near >= all_bins || seen[near].nodes < 2) continue;
        return shape[near] + std::clamp(shape[b] - shape[near], -most_bend_alone, most_bend_alone);
      }
    }
    return shape[b];
  };
  for (std::size_t b = 0; b < all_bins; ++b) {
    if (seen[b].samples == 0) continue;
    const double load = seen[b].load / seen[b].samples;
    const auto weight = std::min<std::uint32_t>(seen[b].samples, statistics::remembered);
    out.add(load, median_shape(load) * std::exp(height + bend_at(b)), static_cast<std::uint16_t>(weight));
  }
  return out;
}

}  // namespace binnacle::predict
