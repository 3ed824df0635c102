#pragma once

#include "agent/base/source_kind.hpp"
#include "agent/ipmi/protocol/lan_version.hpp"
#include "agent/sources/bmc/bmc.hpp"

#include <string>
#include <vector>

namespace binnacle::agent {

/// The BMC and its helper, binnacle-ipmi. The file of credentials is not among the files that the agent must
/// be able to open: the helper reads it, and has no capability.
class bmc_kind final : public source_kind {
 public:
  std::string_view name() const noexcept override { return "bmc"; }
  bool of_this_machine() const override { return host_.empty() && socket_.empty(); }
  void bind(config_spec& spec) override;
  result<void> complete(const settings& s) override;
  /// Errors: invalid_input, one sentence with the remedy.
  result<bmc_options> options(const settings& s) const;
  std::unique_ptr<source> make(const settings& s, const source_parts& with) const override;

 private:
  std::string device_ = "/dev/ipmi0";
  std::string host_;  // empty: the BMC of this machine, in-band
  ipmi::lan_version protocol_ = ipmi::lan_version::ipmi_2_0;
  std::string credentials_file_;
  bool defaults_ = true;
  std::vector<std::string> sensors_, exclude_, roles_;
  duration period_ = std::chrono::seconds(1);
  double budget_percent_ = 5;
  std::string helper_;  // empty: binnacle-ipmi beside this program
  std::string helper_config_;
  std::string socket_;
};

}  // namespace binnacle::agent
