#pragma once

#include "aggregator/policy/published/heartbeat.hpp"
#include "aggregator/policy/published/published.hpp"
#include "aggregator/predict/model.hpp"
#include "aggregator/store/view.hpp"

#include <memory>
#include <utility>

namespace binnacle::policy {

/// Everything the faces read: the store's nodes, the policies in force with their verdicts, and what is known
/// of the nodes' watts. It belongs to the faces loop, as the nodes do. The table of policies comes as a
/// message; verdicts are atomic and need none.
class view : public store::view {
 public:
  const policy_table& policies() const noexcept { return *policies_; }
  void set_policies(std::shared_ptr<const policy_table> p) { policies_ = std::move(p); }

  /// Of who writes the verdicts; before the first call they count as kept up.
  void set_heartbeat(std::shared_ptr<const heartbeat> h) { heartbeat_ = std::move(h); }
  /// Whether verdicts are no longer kept up: they count as missing data then.
  bool judging_stopped(instant now) const noexcept { return heartbeat_ && heartbeat_->stopped(now); }

  /// What is known of the nodes' watts, by the node's id.
  const predict::model_table& models() const noexcept { return models_; }
  predict::model_table& models() noexcept { return models_; }

 private:
  std::shared_ptr<const heartbeat> heartbeat_;
  predict::model_table models_;
  std::shared_ptr<const policy_table> policies_ = std::make_shared<policy_table>();
};

}  // namespace binnacle::policy
