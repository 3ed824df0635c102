#pragma once

#include "aggregator/policy/published/heartbeat.hpp"
#include "aggregator/policy/published/published.hpp"
#include "aggregator/store/view.hpp"

#include <memory>
#include <utility>

namespace binnacle::policy {

/// Everything the faces read: the store's nodes, and the policies in force with their verdicts. It belongs to
/// the faces loop as the nodes do; the table comes as a message (verdicts are atomic and need none).
class view : public store::view {
 public:
  const policy_table& policies() const noexcept { return *policies_; }
  void set_policies(std::shared_ptr<const policy_table> p) { policies_ = std::move(p); }

  /// Of who writes the verdicts; before the first call they count as kept up.
  void set_heartbeat(std::shared_ptr<const heartbeat> h) { heartbeat_ = std::move(h); }
  /// Whether verdicts are no longer kept up: they count as missing data then.
  bool judging_stopped(instant now) const noexcept { return heartbeat_ && heartbeat_->stopped(now); }

 private:
  std::shared_ptr<const heartbeat> heartbeat_;
  std::shared_ptr<const policy_table> policies_ = std::make_shared<policy_table>();
};

}  // namespace binnacle::policy
