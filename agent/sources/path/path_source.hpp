#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/sources/path/peer.hpp"

#include <memory>
#include <string>
#include <vector>

namespace binnacle::agent {

struct path_options {
  std::vector<path_peer> peers;
  duration period = std::chrono::seconds(1);   ///< between two probes of one peer; not below 100 ms
  duration timeout = std::chrono::seconds(1);  ///< of one probe; no longer than the period
  duration window = std::chrono::seconds(10);  ///< for round trip, jitter and loss
};

/// Round trip, jitter and loss to named peers: what a policy needs for a service level or a network slice.
/// Each peer has its own group of series and its own coroutine, which sends one probe a period. The probes to
/// all peers are spread over the period.
class path_source final : public source {
 public:
  explicit path_source(path_options options, clocks time = {});
  ~path_source() override;

  std::string_view name() const noexcept override { return "path"; }
  duration period() const noexcept override { return options_.period; }
  bool waits() const noexcept override { return true; }
  void start(async::task_group& beside, std::function<void()> arrived) override;
  /// Probes every peer once, all at the same time.
  std::vector<finding> probe() override;
  result<void> discover(board& out) override;
  std::string limitation() const override;
  result<void> read(board& out) override;

 private:
  struct inbox;
  struct watched;

  void take(watched& w, board& out);

  path_options options_;
  clocks time_;
  std::vector<std::unique_ptr<watched>> peers_;
};

}  // namespace binnacle::agent
