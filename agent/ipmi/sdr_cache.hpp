#pragma once

#include "agent/ipmi/bmc_link.hpp"
#include "agent/ipmi/known_sensor.hpp"

#include <freeipmi/sdr/ipmi-sdr.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::ipmi {

/// The BMC's sensor data records, kept in a file between starts, because reading them from a real BMC takes
/// seconds to minutes. The file is made anew if the BMC was replaced (its id, firmware or GUID differ from
/// what is stored beside the file), if the record count or timestamps of the repository differ, or if the
/// file is damaged.
class sdr_cache {
 public:
  /// `folder` is created if it is not there (mode 0700). The file is named after the address.
  sdr_cache(std::string folder, const std::string& address);

  /// Called after each record while records are read, so that pings can be answered meanwhile.
  using progress = std::function<void(unsigned record, unsigned records)>;

  /// The BMC's sensors. Errors: io (also if the folder cannot be used), timeout (the link is lost). Blocks:
  /// one command if the file is current, several for each record otherwise.
  result<std::vector<known_sensor>> sensors(const bmc_link& link, const bmc& who, const progress& tick);

  /// Whether the repository is unchanged since its records were read. Errors: timeout (the link is lost).
  /// Blocks: one command.
  result<bool> current(const bmc_link& link) const;

  unsigned records() const noexcept { return records_; }
  std::uint64_t rebuilds() const noexcept { return rebuilds_; }

 private:
  struct destroy {
    void operator()(struct ipmi_sdr_ctx* c) const noexcept { ::ipmi_sdr_ctx_destroy(c); }
  };
  using context = std::unique_ptr<struct ipmi_sdr_ctx, destroy>;

  result<context> open(const bmc_link& link) const;
  result<void> rebuild(const bmc_link& link, const std::string& written, const progress& tick);
  error failed(const bmc_link& link, const context& c, const char* what) const;

  std::string folder_;
  std::string file_;
  std::string identity_file_;
  std::string state_;  // state of the repository when its records were read
  unsigned records_ = 0;
  std::uint64_t rebuilds_ = 0;
};

}  // namespace binnacle::ipmi
