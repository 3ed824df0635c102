#pragma once

#include "common/wire/messages.hpp"

#include <chrono>
#include <cstddef>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Who gets how many of the readings that the ingest loop can take. Pure.
namespace binnacle::aggregator {

/// How often a family should be read, and the parties that wish so.
struct owned_wish {
  std::string_view family;
  std::chrono::milliseconds period{};
  std::set<std::string_view> parties;  ///< namespaces of policies; "": callers of the metrics API
};

struct reading_shares {
  /// Readings a second of one node: one over the period, for each family.
  struct line {
    std::string party;  ///< as in owned_wish
    double wished = 0, granted = 0;
  };
  wire::interest interest;    ///< by family; each at the shortest period that any party is granted
  std::vector<line> parties;  ///< by name
  std::size_t left_out = 0;   ///< families for which a message has no room (wire::max_wishes)
  double load = 0;            ///< of the loop, when it was measured last
  double wished() const;      ///< of all parties
  double granted() const;
};

/// No wish is granted less often than this: a value that is read once counts for ten seconds.
inline constexpr std::chrono::milliseconds slowest_wish{5'000};

/// Shares `budget` readings a second of one node so that no party could get more except at the cost of a
/// party that has less (max-min fairness). A party that wishes for less than its share gets its whole wish.
/// The families of a party that wishes for more are read more slowly, all alike. A family that two parties
/// wish for counts at both. If there are too many families for one message, the first ones of every party
/// come before the next ones of any party.
reading_shares share_readings(std::span<const owned_wish> wishes, double budget);

/// Sentences for a person, while a party gets less than it wishes for.
std::vector<std::string> reading_warnings(const reading_shares& now);

/// How many readings a second of one node the loop can take, learned from how busy it is.
class reading_budget {
 public:
  /// More than this in two measurements that follow one another, and wishes are cut so that the loop would be
  /// at `aim`. A fleet that comes back makes it busy for some seconds only.
  static constexpr double busy = 0.75;
  /// Less than this, and more is granted again, a quarter at a time.
  static constexpr double aim = 0.5;

  /// `load`: which part of the time since the last call the loop worked, 0 to 1, while `granted` was read.
  void measured(double load, double wished, double granted) noexcept;
  /// Infinity: as many as are wished for.
  double a_second() const noexcept { return most_; }

 private:
  double most_ = std::numeric_limits<double>::infinity();
  int busy_times_ = 0;
};

}  // namespace binnacle::aggregator
