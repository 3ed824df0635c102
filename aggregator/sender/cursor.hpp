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

/// One reading of a series, or its end.
struct point {
  const std::string& node;
  const store::shape::series& series;
  double value = 0;  ///< the nearest double of what was read; stale_marker() when the series ended
  instant at{};      ///< when it was read; for an end: when we noticed it, but after the last reading
  std::string_view node_uid = {};  ///< fleet_node's
};

/// Prometheus' special NaN, which says that the series has no value from here on. Without it a query would
/// show the last value for five more minutes. Source: prometheus.io/docs/concepts/remote_write_spec, "Stale
/// Markers".
double stale_marker() noexcept;

/// Remembers which reading of each series was sent last. So each reading is sent once, with the time at which
/// it was read, and the end of a series is sent once. Pure: the rows and the time are given. Cost: one look
/// at every chosen series; 8 bytes of memory for each.
class cursor {
 public:
  /// `families`: globs of families that count; none: all. `target`: the labels that the protocol adds to each
  /// series of a node. A series' own label of such a name is renamed.
  explicit cursor(std::vector<std::string> families, metrics::label_set target = {})
      : families_(std::move(families)), target_(std::move(target)) {}

  /// Begins anew: only values read after `now` are sent, and no end is sent for earlier series. Call it for
  /// the first round, and after rounds that another replica sent.
  void begin(instant now);

  /// Calls `tell` for everything that is new since the last call. If a node is missing from `nodes`, its
  /// series end. If a node has another uid now, its old series end and new ones begin.
  void take(const fleet& nodes, instant now, const std::function<void(const point&)>& tell);

  /// Series that are not told because the database would take each for another one of its node; at the last
  /// take().
  std::size_t left_out() const noexcept { return left_out_; }

 private:
  struct told {
    std::shared_ptr<const store::shape> of;
    std::vector<std::uint32_t> chosen;  // of the shape's series
    // For each series in `chosen`: the time at which the last value sent was read. A negative number is minus
    // the time at which the series ended. 0: nothing was sent yet.
    std::vector<std::int64_t> at_ns;
    std::uint64_t round = 0;
    std::string uid;
    bool looks_different = false;  // some series look different to the database
    std::size_t left_out = 0;
  };
  bool chooses(const store::shape::series& s) const;
  bool looks_different(const metrics::label_set& own) const;
  metrics::label_set as_seen(const metrics::label_set& own) const;
  void choose(told& node) const;
  void reshape(told& node, const std::string& name, const std::shared_ptr<const store::shape>& now_of,
               instant now, const std::function<void(const point&)>& tell) const;
  static void end(told& node, const std::string& name, std::size_t place, instant now,
                  const std::function<void(const point&)>& tell);

  std::vector<std::string> families_;
  metrics::label_set target_;
  std::unordered_map<std::string, told, keyed_hash> nodes_;
  std::int64_t since_ns_ = 0;
  std::uint64_t round_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace binnacle::sender
