#pragma once

#include "agent/ipmi/bmc_link.hpp"
#include "agent/ipmi/known_sensor.hpp"

#include <freeipmi/sensor-read/ipmi-sensor-read.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace binnacle::ipmi {

/// Reads single sensors over one link, with whichever commands they need.
class sensor_reader {
 public:
  /// The link must outlive this object. `who` is needed for the states that makers define.
  sensor_reader(const bmc_link& link, const bmc& who);

  struct outcome {
    trouble how = trouble::none;  ///< why the command failed
    reading got;                  ///< with value, state or reason; without key and time
  };
  /// Blocks: one command.
  outcome read(const known_sensor& s);

  /// The sensors that the SDR does not list: DCMI power and temperatures, chassis status. Errors: those of
  /// bmc_link::answered. Blocks: up to five commands; `between` is called after each.
  result<std::vector<known_sensor>> extras(bool patient, const std::function<void()>& between);

 private:
  outcome read_sdr(const known_sensor& s);
  outcome read_other_lun(const known_sensor& s);
  outcome read_dcmi_power();
  outcome read_dcmi_temperature(const known_sensor& s);
  outcome read_chassis();
  std::vector<std::string> words_of(const known_sensor& s, std::uint16_t bits) const;

  struct destroy {
    void operator()(struct ipmi_sensor_read_ctx* c) const noexcept { ::ipmi_sensor_read_ctx_destroy(c); }
  };
  const bmc_link& link_;
  bmc who_;
  std::unique_ptr<struct ipmi_sensor_read_ctx, destroy> context_;
};

}  // namespace binnacle::ipmi
