#include "tests/bench/power/churn.hpp"

#include "tests/bench/power/optimum.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace binnacle::bench {
namespace {

constexpr double descheduler_period = 0.1;  // in mean lives of a pod

/// The time over which the fleet is measured, in mean lives of a pod.
struct times {
  double from = 5, to = 15;
};
times times_of(const churn& how) { return how.begins_at > how.load ? times{0, 3} : times{}; }

struct pod {
  double cores = 0;
  double ends = 0;
  std::size_t node = 0;
};

/// Every rule gets the same pods at the same times; only their places differ.
class world {
 public:
  world(const fleet& empty, rule by, const churn& how, std::uint64_t seed)
      : nodes_(empty), by_(by), how_(how), arrivals_(seed), random_(seed + 1000) {
    mean_size_ =
        std::accumulate(how.sizes.begin(), how.sizes.end(), 0.0) / static_cast<double>(how.sizes.size());
    every_ = mean_size_ / (how.load * cores(nodes_));
  }

  /// Runs the simulation. Calls `look(span)` after each span of time in which nothing changed.
  template <class Look>
  void run(Look look) {
    const auto [settling, end_of_time] = times_of(how_);
    const double at_first = (how_.begins_at < 0 ? how_.load : how_.begins_at) * cores(nodes_);
    for (double placed = 0; placed + mean_size_ <= at_first;) placed += arrive(0);
    double now = 0, next_arrival = arrivals_.exponential(every_), next_sweep = descheduler_period;
    while (now < end_of_time) {
      const double next_end = ends_.empty() ? end_of_time : ends_.top().first;
      const double next = std::min({next_arrival, next_end, next_sweep, end_of_time});
      if (next > settling) look(nodes_, next - std::max(now, settling));
      now = next;
      if (now == next_end && !ends_.empty()) {
        leave(ends_.top().second);
        ends_.pop();
      } else if (now == next_arrival) {
        arrive(now);
        next_arrival = now + arrivals_.exponential(every_);
      } else {
        if (how_.empty_below > 0) sweep();
        next_sweep = now + descheduler_period;
      }
    }
  }
  double moved() const { return static_cast<double>(moved_) / static_cast<double>(came_); }
  double refused() const { return static_cast<double>(refused_) / static_cast<double>(came_); }

 private:
  double arrive(double now) {
    const double size = how_.sizes[arrivals_.below(how_.sizes.size())], life = arrivals_.exponential(1);
    ++came_;
    const auto at = choose(nodes_, by_, {size}, ties::random, random_);
    if (at < 0) {
      ++refused_;
      return size;
    }
    pods_.push_back({size, now + life, static_cast<std::size_t>(at)});
    nodes_[pods_.back().node].used += size;
    ends_.emplace(pods_.back().ends, pods_.size() - 1);
    return size;
  }
  void leave(std::size_t which) {
    pod& p = pods_[which];
    nodes_[p.node].used -= p.cores;
    if (nodes_[p.node].used < 1e-9) nodes_[p.node].used = 0;
    p.cores = 0;
  }
  void sweep() {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const double share = nodes_[n].used / nodes_[n].truth.cores();
      if (share <= 0 || share >= how_.empty_below) continue;
      for (pod& p : pods_) {
        if (p.node != n || p.cores == 0) continue;
        const auto to = choose(nodes_, by_, {p.cores}, ties::random, random_, static_cast<std::ptrdiff_t>(n));
        if (to < 0) continue;
        nodes_[n].used -= p.cores;
        p.node = static_cast<std::size_t>(to);
        nodes_[p.node].used += p.cores;
        ++moved_;
      }
      if (nodes_[n].used < 1e-9) nodes_[n].used = 0;
    }
  }

  fleet nodes_;
  rule by_;
  const churn& how_;
  dice arrivals_, random_;
  double mean_size_ = 0, every_ = 0;
  std::vector<pod> pods_;
  using ending = std::pair<double, std::size_t>;
  std::priority_queue<ending, std::vector<ending>, std::greater<>> ends_;
  std::size_t came_ = 0, moved_ = 0, refused_ = 0;
};

}  // namespace

lived live(const fleet& empty, rule by, const churn& how, std::uint64_t runs) {
  lived out;
  const auto [from, to] = times_of(how);
  const double whole = (to - from) * static_cast<double>(runs);
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    world w(empty, by, how, seed);
    w.run([&](const fleet& nodes, double span) {
      out.watts += watts(nodes) * span / whole;
      out.fullest += share_of_fullest(nodes) * span / whole;
    });
    out.moved += w.moved() / static_cast<double>(runs);
    out.refused += w.refused() / static_cast<double>(runs);
  }
  return out;
}

double least_while_living(const fleet& empty, const churn& how, std::uint64_t runs) {
  const double unit = std::ranges::min(how.sizes);
  const auto least = least_watts(empty, {unit});
  const auto [from, to] = times_of(how);
  const double whole = (to - from) * static_cast<double>(runs);
  double out = 0;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    world w(empty, rule::spread, how, seed);
    w.run([&](const fleet& nodes, double span) {
      double used = 0;
      for (const node& n : nodes) used += n.used;
      out += least.at(static_cast<std::size_t>(std::lround(used / unit))) * span / whole;
    });
  }
  return out;
}

}  // namespace binnacle::bench
