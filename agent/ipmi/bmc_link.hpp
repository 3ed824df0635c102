#pragma once

#include "agent/ipmi/credentials.hpp"
#include "agent/ipmi/protocol/protocol.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

#include <freeipmi/api/ipmi-api.h>

#include <memory>
#include <string>

namespace binnacle::ipmi {

struct link_options {
  std::string device;  ///< of the in-band interface; used if `host` is empty
  std::string host;
  bool lan_1_5 = false;
  int privilege = 0;  ///< IPMI_PRIVILEGE_LEVEL_…
  unsigned cipher_suite = 3;
  unsigned workarounds = 0;
  duration call_timeout{};  ///< over LAN only; in-band the driver itself waits for up to 60 s
};

/// What a failed command means for the link.
enum class trouble : unsigned char {
  none,
  lost,       ///< no answer, session gone, device gone: the link must be opened again
  timed_out,  ///< the BMC, or its driver, says that this command took too long. Others may work: answers()
  busy,       ///< the BMC says that it is busy: ask again later
  forbidden,  ///< this user may not do that
  refused,    ///< the BMC does not do it now, and may do it later
  unknown,    ///< the BMC does not know the command or the thing asked for
  malformed,  ///< an answer that breaks the specification
};

/// One open connection to a BMC: a session over LAN, or the kernel's device. Every call blocks, at most for
/// the times of link_options. After `lost` the link can only be destroyed, because FreeIPMI's contexts do not
/// recover.
///
/// Nothing in here can change anything in a BMC. Only functions that read are called
/// (tests/agent/ipmi/symbols.txt holds the list), and never a raw command.
class bmc_link {
 public:
  /// Opens the link. Errors: permission (wrong user or password; trying again may lock the account),
  /// unsupported (the BMC does not offer the configured level, suite or version, perhaps because it is still
  /// starting), overloaded (the BMC went silent when the password was sent, so the password may be wrong),
  /// not_found (no device or no such host), timeout, io.
  static result<std::unique_ptr<bmc_link>> open(const link_options& options, const credentials& who);
  ~bmc_link();
  bmc_link(const bmc_link&) = delete;
  bmc_link& operator=(const bmc_link&) = delete;

  ipmi_ctx_t context() const noexcept { return context_; }

  /// Asks the BMC who it is. If `patient`, a busy BMC is an error (io), since it has not said yet what it
  /// has. Otherwise everything that it does not say counts as not there. `sdr_records` is left zero. Errors:
  /// timeout (it does not even say who it is, or the link is lost), io.
  result<bmc> identify(bool patient);
  /// To be called after a question failed. Success if the failure is the BMC's own answer. Errors: timeout
  /// (the link is lost), io (the BMC is busy, only if `patient`).
  result<void> answered(bool patient) const;
  /// Whether the BMC answers at all. Linux' driver says `timed_out` for a BMC that is gone, too. Blocks: one
  /// command.
  bool answers() const;
  /// Whether the BMC said at identify() that DCMI can measure power here. True if this user may not ask that.
  bool measures_power() const noexcept { return measures_power_; }

  /// What the last failed FreeIPMI call with this context means; last_message() says it in a sentence.
  trouble last_trouble() const;
  std::string last_message() const;

 private:
  explicit bmc_link(std::string address);
  error busy() const;

  std::string address_;
  ipmi_ctx_t context_;
  bool measures_power_ = false;
};

}  // namespace binnacle::ipmi
