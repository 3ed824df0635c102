#pragma once

#include "aggregator/store/view.hpp"
#include "common/clock.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::aggregator {

/// What one node draws, and what it is to be compared with.
struct power_reading {
  std::string node;
  std::string hardware;        ///< nodes with the same text are alike
  double watts = 0;            ///< host_power_watts
  std::optional<double> load;  ///< of its CPUs, 0..1
  std::string source{};        ///< which way the node measured: "dcmi", "rapl"
};

/// The reading of a connected node that has host_power_watts now and says what it is (host_hardware_info).
std::optional<power_reading> power_of(const store::node_view& node, instant now);

/// A node that is named: its watts, and those of the nodes like it.
struct power_outlier {
  double watts = 0;
  double least = 0, most = 0;  ///< the range of the others
  std::size_t others = 0;      ///< similar nodes
  std::string hardware;
  std::string source{};        ///< by which the node measured
  std::string usual_source{};  ///< if it is named for what it measures: that of the others
  bool other_part = false;     ///< else: the others measure another part of the machine
  friend bool operator==(const power_outlier&, const power_outlier&) = default;
};

/// Which nodes draw far more or less power than similar nodes: their sensors are wrong, or the hardware is
/// not what it seems to be. Such a node is named, but its values are used as before. Pure.
///
/// Equal machines may differ several times over by their load alone, and a class may be half idle and half
/// busy. So a node is compared with the range of its class. A fifth of the nodes at either end is left out,
/// since up to so many sensors may be wrong, and only a multiple beyond the range counts. A node whose load
/// differs from that of its class in the same direction is not named: the load explains it. One look may be
/// wrong (a batch came late), so the difference must last for a while. A time without a value is a pause: a
/// sensor that drops out once a minute must not begin anew each time.
///
/// Nodes of equal hardware are compared if the same way measured them. A node that has fallen back to another
/// meter would be compared with nobody then. So each node is also compared with all that measure the same
/// part (the machine, the platform or the processors) in any way, and with those that measure another part,
/// if these are more. There only one side is odd: a machine cannot draw less than its processors, but it may
/// draw more.
///
/// Where nearly all nodes measure the same part, a node that measures another part is named, too: its number
/// cannot be compared with theirs.
class power_outliers {
 public:
  struct settings {
    std::size_t least_class = 5;  ///< nodes that are alike; fewer say nothing
    double left_out = 0.2;        ///< share of the class at either end, at least one node
    double other_way = 0.2;       ///< share of those with equal hardware that may measure another part
    double factor = 4;            ///< beyond the range of the others
    double load_apart = 0.2;
    duration lasting = std::chrono::minutes(1);
    duration longest_pause = std::chrono::minutes(10);  ///< without a value; after it the node begins anew
    double comes_back = 0.8;  ///< of the factor's logarithm, so that a node at the edge does not come and go
  };
  power_outliers() : power_outliers(settings{}) {}
  explicit power_outliers(settings s) : settings_(s) {}

  /// Compares all nodes that have a reading. A node that has none now is not named until it has one again.
  void look(std::span<const power_reading> all, instant now);
  /// The outliers that were named, by node, with the watts that they drew then.
  const std::map<std::string, power_outlier>& named() const noexcept { return found_.named; }

 private:
  using group = std::vector<const power_reading*>;
  /// A node that stands out: since when, moved on by each pause, and when it last had a value and did so.
  struct doubt {
    instant since, last;
  };
  using doubts = std::map<std::string, doubt>;
  struct findings {
    doubts far, other_way;
    std::map<std::string, power_outlier> named;
  };
  /// What the nodes of a class usually draw, as logarithms of watts, their usual load, and how much of the
  /// machine they measure.
  struct usual {
    double least = 0, most = 0;
    std::optional<double> load;
    int reach = 0;
  };
  usual usual_of(const group& nodes) const;
  /// Takes the node's doubt over from the last look, or begins one. True: it is old enough.
  bool lasted(const std::string& node, instant now, const doubts& before, doubts& after) const;
  /// Takes over the doubts about nodes that have no reading now.
  void pause(doubts before, std::span<const power_reading> all, instant now, doubts& after) const;
  /// Compares `judged` with `of_class`, which measures in the same way, or (`part` is not empty) the same
  /// part.
  void name_far(const group& judged, const group& of_class, std::string_view part, instant now,
                findings& next) const;
  void name_other_ways(const std::map<std::string_view, group>& alike, instant now, findings& next) const;
  bool is_far(const power_reading& r, const usual& of_class, double bound) const;

  settings settings_;
  findings found_;  // by the last look
  instant last_look_{};
};

/// One sentence for a person, with what to look at.
std::string sentence_of(const std::string& node, const power_outlier& o);

}  // namespace binnacle::aggregator
