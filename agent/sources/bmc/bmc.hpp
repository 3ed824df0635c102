#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/sources/bmc/sensor_series.hpp"
#include "common/log/log.hpp"
#include "common/system/file_stamp.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

class helper_link;

struct bmc_options {
  /// How often the BMC's own series are set. Readings that no policy waits for also come to the board at
  /// these ticks.
  duration period = std::chrono::seconds(1);
  std::string helper;  ///< the program binnacle-ipmi
  std::string socket;  ///< of a sidecar with the helper; empty: the agent starts it as its child
  std::vector<std::string> arguments;  ///< of the child
  std::string device;                  ///< "/dev/ipmi0"; empty: a BMC over the network
  std::string sys_root = "/sys";
  std::string credentials_file;
  ipmi::wanted_sensors select;
};

/// The baseboard management controller, by IPMI and DCMI. A BMC may answer late or never, so another process
/// speaks with it: binnacle-ipmi, which is our child or a sidecar. This source supervises that process and
/// puts its readings on the board, each sensor with its own read time.
class bmc_source final : public source {
 public:
  bmc_source(bmc_options options, logger log, clocks time = {});
  ~bmc_source() override;

  std::string_view name() const noexcept override { return "bmc"; }
  duration period() const noexcept override { return options_.period; }
  bool waits() const noexcept override { return true; }
  /// Starts a helper of its own and listens to it for at most 20 s.
  std::vector<finding> probe() override;
  void start(async::task_group& beside, std::function<void()> arrived) override;
  result<void> discover(board& out) override;
  std::string limitation() const override;
  result<void> read(board& out) override;
  void set_interest(const wire::interest& wanted) override;
  std::vector<event_count> events() const override;

 private:
  void look_at_credentials();
  void show_about(board& out);
  void apply_interest();

  bmc_options options_;
  clocks time_;
  std::shared_ptr<helper_link> link_;
  sensor_series series_;
  std::uint32_t shown_version_ = 0;
  board::group_ref about_ = board::no_group;  // series about the BMC itself
  std::string info_;                          // the announced labels of bmc_info
  board::series_ref info_series_ = board::no_series;
  double slowest_read_s_ = 0;
  wire::interest wanted_;
  std::optional<file_stamp> credentials_;
};

/// What prevents a helper from being started.
struct bmc_obstacle {
  errc code = errc::not_found;
  std::string why;
  std::string remedy;
};
/// The obstacle, if there is one. A sidecar's socket is always dialled. A child needs its program and,
/// in-band, a device.
std::optional<bmc_obstacle> obstacle_to(const bmc_options& o);

/// What --probe says of the BMC. Starts a helper of its own and listens to it until it has said everything,
/// for at most `patience`.
std::vector<finding> probe_bmc(const bmc_options& o, duration patience);

}  // namespace binnacle::agent
