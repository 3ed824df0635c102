#pragma once

#include "agent/sources/counter_rate.hpp"
#include "agent/sources/foreign_series.hpp"
#include "agent/sources/scrape/target.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace binnacle::agent {

/// Which samples of an exporter are taken, and what of them: labels dropped, series folded, and for counters
/// their rates, since the times of reading are known here. Pure; one for each exporter, reading after
/// reading.
class selection {
 public:
  explicit selection(const scrape_target& wanted) : wanted_(wanted) {}

  void begin();
  void take(const exposition::sample& s);

  struct reading {
    std::vector<foreign_series> series;  ///< rates behind them: x_total gives x_per_second
    std::size_t samples = 0;             ///< there were
    std::size_t beyond = 0;              ///< left out by scrape_target::series
    std::string note;                    ///< one sentence about what was not taken; empty when all is well
  };
  /// The reading is complete, taken at `when`.
  reading finish(instant when);

 private:
  struct folded_series {
    std::size_t index = 0;  // in out_.series
    std::size_t count = 1;
  };
  struct counter {
    basic_counter_rate<double> rate;
    std::uint64_t round = 0;
  };

  bool allowed(const exposition::sample& s);
  bool keeps(const std::string& label) const;
  bool drops_labels() const { return !wanted_.drop_labels.empty() || !wanted_.keep_labels.empty(); }
  void add(foreign_series s);
  void fold_in(foreign_series s, std::string whole_key);
  void add_rates(instant when);

  const scrape_target wanted_;
  std::string last_name_;  // samples of one name stand together
  std::string last_part_;
  bool last_allowed_ = false;
  reading out_;
  std::unordered_map<std::string, folded_series> folded_;
  std::unordered_set<std::string> whole_keys_;  // of what was folded: a series given twice counts once
  std::size_t ambiguous_ = 0;
  std::unordered_map<std::string, counter> counters_;
  std::uint64_t round_ = 0;
};

}  // namespace binnacle::agent
