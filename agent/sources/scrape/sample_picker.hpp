#pragma once

#include "agent/sources/foreign_series.hpp"
#include "agent/sources/scrape/sample_history.hpp"
#include "agent/sources/scrape/target.hpp"
#include "common/keyed_hash.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace binnacle::agent {

/// Picks samples of one exporter: drops labels, folds series, and computes the rates of counters, because the
/// times of the readings are known here. A folded series has a value only if all its parts have one, and its
/// rate is the sum of their rates. So a part that comes, goes or restarts does not look like a change of the
/// others. Use one object for each exporter, for all its readings. It holds only its series and at most
/// most_folded samples. Pure.
class sample_picker {
 public:
  static constexpr std::size_t most_folded = 10'000;  ///< samples of one reading that are folded into others

  explicit sample_picker(const scrape_target& wanted) : wanted_(wanted) {}

  void begin();
  void take(const exposition::sample& s);

  struct reading {
    std::vector<foreign_series> series;  ///< each x_total is followed by its rate, x_per_second
    std::size_t samples = 0;             ///< in the answer
    std::size_t beyond = 0;  ///< samples not taken because of scrape_target::series or most_folded
    std::string note;        ///< one sentence about samples that were not taken; empty if there are none
    std::string remark;      ///< about a glob that fits nothing; its metric may still come
  };
  /// The reading is complete. It was taken at `when`.
  reading finish(instant when);

 private:
  struct folded_series {
    std::size_t index = 0;  // in out_.series
    std::size_t count = 1;
  };
  struct part {
    std::size_t index = 0;  // in out_.series: the series that it became, or became a part of
    double value = 0;
    std::optional<std::int64_t> stamp_ms;
  };

  bool allowed(const exposition::sample& s);
  bool keeps(const std::string& label) const;
  bool drops_labels() const { return !wanted_.drop_labels.empty() || !wanted_.keep_labels.empty(); }
  std::optional<std::size_t> place(foreign_series s);
  std::optional<std::size_t> add(foreign_series s);
  void add_rates(instant when);
  std::string note() const;
  std::string remark() const;

  const scrape_target wanted_;
  std::string last_name_;  // cached, because samples of one name are next to each other
  std::string last_part_;
  bool last_allowed_ = false;
  std::vector<bool> fitted_;  // by glob: whether it fitted a sample of this reading
  reading out_;
  std::unordered_map<std::string, folded_series, keyed_hash> folded_;
  // The key is the hash of name and all labels, because 64 bits are shorter than the texts. An exporter that
  // makes two of its samples collide harms only itself. The map is ordered, so nobody can make it slow.
  std::map<std::uint64_t, part> parts_;
  std::map<std::uint64_t, sample_history> history_;  // same keys: the parts of the last whole reading
  std::size_t ambiguous_ = 0;
  std::size_t not_folded_ = 0;
  std::size_t old_ = 0;
};

}  // namespace binnacle::agent
