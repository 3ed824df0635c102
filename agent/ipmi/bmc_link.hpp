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
  std::string device;  ///< in-band, if host is empty
  std::string host;
  bool lan_1_5 = false;
  int privilege = 0;  ///< IPMI_PRIVILEGE_LEVEL_…
  unsigned cipher_suite = 3;
  unsigned workarounds = 0;
  duration call_timeout{};  ///< over LAN; in-band the driver waits for up to 60 s
};

/// What a failed command means for the link.
enum class trouble : unsigned char {
  none,
  lost,       ///< no answer, session gone, device gone: the link must be opened again
  busy,       ///< the BMC says so: ask again later
  forbidden,  ///< this user may not
  unknown,    ///< the BMC does not know the command or the thing asked for
  malformed,  ///< an answer that breaks the specification
};

/// One open way to a BMC: a session over LAN, or the kernel's device. Every call blocks, at most for the
/// times of link_options. After `lost` nothing but destroying it makes sense: FreeIPMI's contexts do not
/// recover.
///
/// Nothing in here can change anything in a BMC: only functions that read are called
/// (tests/agent/ipmi/symbols holds the list), never a raw command.
class bmc_link {
 public:
  /// Errors: permission (wrong user or password: trying again may lock the account), unsupported (the BMC
  /// does not give the level, suite or version that is configured, or not yet: it may be starting),
  /// overloaded (silent at the password: it may be wrong), not_found (no device, no such host), timeout, io.
  static result<std::unique_ptr<bmc_link>> open(const link_options& options, const credentials& who);
  ~bmc_link();
  bmc_link(const bmc_link&) = delete;
  bmc_link& operator=(const bmc_link&) = delete;

  ipmi_ctx_t context() const noexcept { return context_; }

  /// Who the BMC is. A busy BMC is an error (io) if `patient`, since it has not said what it has; otherwise
  /// what it does not say counts as not there. Errors: timeout, io. `sdr_records` is left zero.
  result<bmc> identify(bool patient) const;
  /// After a question that failed: whether the failure is the BMC's answer. Errors: timeout (the link is
  /// lost), io (the BMC is busy, if `patient`).
  result<void> answered(bool patient) const;

  /// What the last failed call of FreeIPMI with this context means, and in a sentence.
  trouble last_trouble() const;
  std::string last_message() const;

 private:
  explicit bmc_link(std::string address);

  std::string address_;
  ipmi_ctx_t context_;
};

}  // namespace binnacle::ipmi
