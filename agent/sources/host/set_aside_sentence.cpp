#include "agent/sources/host/set_aside_sentence.hpp"

#include "common/text/text.hpp"

#include <fmt/format.h>

namespace binnacle::agent {
namespace {

std::string_view words_of(std::string_view accused, std::string_view witness) {
  if (witness == accused) return "zones inside it";
  return witness == "rapl"   ? "packages and memory, a part of it"
         : witness == "psys" ? "platform (psys), a part of it"
                             : "processors, a part of it";
}

std::string_view remedy_below_other(std::string_view source) {
  if (source == "arm-scmi") return "a socket's zone may be missing: look for newer firmware";
  return "a supply may be missing in the sum, or the BMC needs a reset; a sensor of a part, and supplies "
         "that feed other machines, too, are left out by bmc-roles (PATTERN=none)";
}

std::string remedy_below_parts(std::string_view source, std::string_view witness, std::string_view second) {
  if (source == "psys") return "newer firmware may measure it correctly";
  if (source == witness) return "reload its driver, or look for newer firmware";
  if (source == "hwmon") return "a sensor may be missing in power-sensors";
  if (second.empty()) return "a supply may be missing in the sum, or the BMC needs a reset";
  return fmt::format(
      "{} says as much as {}, so either both lack a supply, or {} too much: compare them with the rack's "
      "power strip (PDU); if that agrees with them, look for newer firmware, and take rapl out of sources "
      "until then",
      second, source, witness == "psys" ? "psys counts" : "the counters of memory count");
}

}  // namespace

std::string_view to_string(disbelief why) {
  switch (why) {
    case disbelief::zero: return "zero";
    case disbelief::wrong_unit: return "wrong_unit";
    case disbelief::below_parts: return "below_parts";
    case disbelief::below_other: return "below_other";
    case disbelief::above_others: return "above_others";
    case disbelief::stands_still: return "stands_still";
    case disbelief::several: return "several";
    case disbelief::none: break;
  }
  return "none";
}

std::string side::name() const {
  return sensor.empty() ? std::string(source) : fmt::format("{} ({})", source, in_quotes(sensor, 60));
}

std::string sentence(const side& accused, const side& witness, std::string_view second,
                     const whole_machine_check& check) {
  constexpr std::string_view goes_without("host_power_watts does not use it until the numbers agree again");
  switch (check.set_aside_for()) {
    case disbelief::zero:
      return fmt::format(
          "{} says 0 W although the machine is on: {}; look at the sensor with the BMC's own tools, or reset "
          "the BMC",
          accused.name(), goes_without);
    case disbelief::below_parts:
      return fmt::format("{} said {:.1f} W, less than the {:.1f} W of the {}: {}; {}", accused.name(),
                         check.watts(), check.other_watts(), words_of(accused.source, witness.source),
                         goes_without, remedy_below_parts(accused.source, witness.source, second));
    case disbelief::below_other:
      return fmt::format("{} said {:.1f} W, less than the {:.1f} W of {}, which measures the same {}: {}; {}",
                         accused.name(), check.watts(), check.other_watts(), witness.name(),
                         accused.source == "arm-scmi" ? "processors" : "machine", goes_without,
                         remedy_below_other(accused.source));
    case disbelief::above_others:  // here the check looked at what the others say
      return fmt::format(
          "{} said {:.1f} W, more than five times the {:.1f} W on which the other meters of the machine "
          "agree: "
          "{}; reset the BMC, or look for newer firmware",
          accused.name(), check.other_watts(), check.watts(), goes_without);
    case disbelief::stands_still:
      return fmt::format(
          "{} has said about {:.1f} W for more than two minutes in which {} moved: {}; reset the BMC, unless "
          "a power limit holds the machine there",
          accused.name(), check.watts(), witness.source == "rapl" ? "RAPL" : witness.source, goes_without);
    case disbelief::wrong_unit:  // judge() knows the number
    case disbelief::several:     // and the parts
    case disbelief::none: break;
  }
  return {};
}

}  // namespace binnacle::agent
