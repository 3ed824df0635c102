#pragma once

#include "agent/ipmi/protocol/protocol.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

/// The newest of everything that the helper has said about the BMC. Pure.
class bmc_snapshot {
 public:
  /// Errors: protocol (more sensors than allowed, an inventory that does not add up).
  result<void> take(const ipmi::from_helper& message);
  /// The helper is gone. The inventory that it had begun and the readings not yet taken are forgotten. The
  /// last whole inventory and its plan stay until the next ones come.
  void lost();

  const std::optional<ipmi::bmc>& identity() const noexcept { return identity_; }
  /// The last whole inventory.
  const std::vector<ipmi::sensor>& sensors() const noexcept { return sensors_; }
  const std::map<std::string, std::uint32_t>& plan() const noexcept { return plan_; }
  /// Whether a plan came for this inventory. Without one, an empty plan() does not mean that nothing is read.
  bool planned() const noexcept { return planned_; }
  const std::optional<ipmi::stats>& stats() const noexcept { return stats_; }
  /// Raised when the inventory or the plan changed.
  std::uint32_t version() const noexcept { return version_; }
  /// Raised with each complete inventory.
  std::uint32_t inventories() const noexcept { return inventories_; }

  /// The newest reading of each sensor that was read since the last call.
  std::vector<ipmi::reading> take_readings();

 private:
  result<void> close_inventory(std::uint32_t count);

  std::optional<ipmi::bmc> identity_;
  std::vector<ipmi::sensor> sensors_;
  std::optional<ipmi::bmc> coming_;  // an inventory that has begun and not ended
  std::vector<ipmi::sensor> coming_sensors_;
  std::map<std::string, std::uint32_t> plan_;
  std::map<std::string, ipmi::reading> readings_;
  std::optional<ipmi::stats> stats_;
  bool planned_ = false;
  std::uint32_t version_ = 0, inventories_ = 0;
};

}  // namespace binnacle::agent
