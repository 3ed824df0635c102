#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/sampling/sampler.hpp"
#include "agent/uplink/uplink.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::agent {

/// The metrics that the agent gives about itself (binnacle_agent_*): the health of its sources, its links,
/// what it costs.
class self_source final : public source {
 public:
  /// Functions that give the figures. All are called at each read.
  struct origins {
    std::function<std::vector<sampler::health>()> sources;
    std::function<uplink_report()> links;
    std::function<bool()> reload_failed;  ///< of certificate files that changed
    /// Connections that the agent's ports closed to make room for others, by reason. Null if no port is
    /// served.
    std::function<std::vector<std::pair<std::string, std::uint64_t>>()> dropped = {};
  };
  self_source(origins from, duration period, clocks time = {});

  std::string_view name() const noexcept override { return "agent"; }
  duration period() const noexcept override { return period_; }
  std::vector<finding> probe() override { return {}; }
  result<void> discover(board& out) override;
  result<void> read(board& out) override;
  /// Says so if the links' budget holds series back.
  std::string limitation() const override { return limitation_; }

 private:
  void read_sources(board& out);
  void read_absences(board& out);
  void read_links(board& out);
  void read_budget(board& out, const uplink_report& report);
  void read_cost(board& out);
  void read_ports(board& out);
  board::series_ref labelled(board& out, const char* family, const char* label, const std::string& value);

  origins from_;
  duration period_;
  clocks time_;
  board::group_ref group_ = board::no_group;
  std::map<std::pair<std::string, absence>, board::series_ref> absences_;  // by source and reason
  std::vector<std::string> replicas_;                                      // the replicas that have series
  std::string limitation_;
};

}  // namespace binnacle::agent
