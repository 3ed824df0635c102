#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/kernel/counter_rate.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/rdt/resctrl_tree.hpp"

#include <array>
#include <string>
#include <vector>

namespace binnacle::agent {

struct rdt_options {
  std::string sys_root = "/sys";
  std::string proc_root = "/proc";
  duration period = std::chrono::seconds(1);
  std::size_t most_groups =
      64;  ///< groups at most: a machine has a few hundred RMIDs, each with up to five series per L3 cache
};

/// How much of the last-level cache the groups of the resctrl filesystem hold, and how much they move over
/// the memory bus, for each L3 cache. Other programs make and remove the groups; the agent only reads.
class rdt_source final : public source {
 public:
  explicit rdt_source(rdt_options options, clocks time = {});

  std::string_view name() const noexcept override { return "rdt"; }
  duration period() const noexcept override { return options_.period; }
  std::vector<finding> probe() override;
  result<void> discover(board& out) override;
  std::string limitation() const override { return limitation_; }
  result<void> read(board& out) override;

 private:
  // The series of a byte counter: total and rate.
  struct traffic {
    kernel_file file;
    counter_rate rate;
    board::series_ref total = board::no_series, per_second = board::no_series;
  };
  struct cache {
    kernel_file occupancy;
    board::series_ref occupied = board::no_series;
    std::array<traffic, 2> moved;  // mbm_total_bytes, mbm_local_bytes (memory of the cache's own NUMA node)
  };
  struct group {
    resctrl_group about;
    std::vector<cache> caches;
  };

  void adopt(resctrl_tree tree, board& out);
  group announce(resctrl_group about, board& out);
  void forget(const group& g, board& out);
  void read_cache(cache& c, board& out);
  void read_traffic(traffic& t, board& out);

  rdt_options options_;
  clocks time_;
  board::group_ref board_group_ = board::no_group;
  std::vector<group> groups_;
  std::string limitation_;
  instant looked_at_{};
  std::vector<char> buffer_;
};

}  // namespace binnacle::agent
