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

/// Which samples of an exporter are taken, and what of them: labels dropped, series folded, and for counters
/// their rates, since the times of reading are known here. A series that was folded has a value only when all
/// that it is made of have one, and its rate is the sum of their rates: a part that comes, goes or restarts
/// is not taken for what the others counted. Pure; one for each exporter, reading after reading. Holds no
/// more than its series and most_folded samples.
class sample_picker {
 public:
  static constexpr std::size_t most_folded = 10'000;  ///< samples of one reading, into others

  explicit sample_picker(const scrape_target& wanted) : wanted_(wanted) {}

  void begin();
  void take(const exposition::sample& s);

  struct reading {
    std::vector<foreign_series> series;  ///< rates behind them: x_total gives x_per_second
    std::size_t samples = 0;             ///< there were
    std::size_t beyond = 0;              ///< not taken: scrape_target::series, most_folded
    std::string note;                    ///< one sentence about what was not taken; empty when all is well
    std::string remark;                  ///< a glob that fits nothing: its metric may come yet
  };
  /// The reading is complete, taken at `when`.
  reading finish(instant when);

 private:
  struct folded_series {
    std::size_t index = 0;  // in out_.series
    std::size_t count = 1;
  };
  struct part {
    std::size_t index = 0;  // in out_.series, of what it is or became part of
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
  std::string last_name_;  // samples of one name stand together
  std::string last_part_;
  bool last_allowed_ = false;
  std::vector<bool> fitted_;  // the globs, in this reading
  reading out_;
  std::unordered_map<std::string, folded_series, keyed_hash> folded_;
  // By the hash of name and all labels, since 64 bits are shorter; an exporter that makes two samples collide
  // spoils its own. Ordered, so that nobody can make them slow to find.
  std::map<std::uint64_t, part> parts_;
  std::map<std::uint64_t, sample_history> history_;  // of the parts of the last whole reading
  std::size_t ambiguous_ = 0;
  std::size_t not_folded_ = 0;
  std::size_t old_ = 0;
};

}  // namespace binnacle::agent
