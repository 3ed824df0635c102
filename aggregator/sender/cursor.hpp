#pragma once

#include "aggregator/sender/fleet.hpp"
#include "aggregator/store/shape.hpp"
#include "common/clock.hpp"
#include "common/keyed_hash.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace binnacle::sender {

/// One thing that a series has to say.
struct point {
  const std::string& node;
  const store::shape::series& series;
  double value = 0;  ///< the nearest double of what was read; stale_marker() when the series ended
  instant at{};      ///< when it was read; of an end: when we saw it
  std::string_view node_uid = {};  ///< fleet_node's
};

/// A NaN of Prometheus' own: the series has no value from here on. Without it a query shows the last value
/// for five minutes more. Source: prometheus.io/docs/concepts/remote_write_spec, "Stale Markers".
double stale_marker() noexcept;

/// Remembers what of each series has been told, so that each reading leaves once, with the time at which it
/// was read, and a series that ends says so once. Pure: the rows and the time are given.
/// Cost: one look at every chosen series; 8 bytes of memory for each.
class cursor {
 public:
  /// `families`: globs of families that count; none: all.
  explicit cursor(std::vector<std::string> families) : families_(std::move(families)) {}

  /// Begins anew: only what is read after `now` counts, and nothing ends that was told before. For the first
  /// round, and after rounds that another replica told.
  void begin(instant now);

  /// Tells everything new since the last call. Series of nodes that are missing from `nodes` end, and so do
  /// those of a node whose uid is another now: its series begin anew.
  void take(const fleet& nodes, instant now, const std::function<void(const point&)>& tell);

 private:
  struct told {
    std::shared_ptr<const store::shape> of;
    std::vector<std::uint32_t> chosen;  // of the shape's series
    // By place in `chosen`: when the newest value that was told was read. Below zero: minus when it ended.
    // 0: nothing was told.
    std::vector<std::int64_t> at_ns;
    std::uint64_t round = 0;
    std::string uid;
  };
  bool chooses(const store::shape::series& s) const;
  void reshape(told& node, const std::string& name, const std::shared_ptr<const store::shape>& now_of,
               instant now, const std::function<void(const point&)>& tell) const;
  static void end(told& node, const std::string& name, std::size_t place, instant now,
                  const std::function<void(const point&)>& tell);

  std::vector<std::string> families_;
  std::unordered_map<std::string, told, keyed_hash> nodes_;
  std::int64_t since_ns_ = 0;
  std::uint64_t round_ = 0;
};

}  // namespace binnacle::sender
