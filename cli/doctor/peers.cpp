#include "cli/doctor/peers.hpp"

#include "common/clock.hpp"

#include <fmt/format.h>

namespace binnacle::cli::doctor {

using std::chrono::seconds;

std::string unreachable_remedy(errc code, std::string_view what) {
  switch (code) {
    case errc::disconnected:
      return fmt::format(
          "is {} up, and does every Service, NetworkPolicy and firewall in between let it through?", what);
    case errc::timeout:
      return fmt::format("check the address of {}, and that no firewall in between drops the connection",
                         what);
    case errc::not_found: return "check the name, and this machine's DNS";
    case errc::permission: return "check both sides' certificates and CA files";
    case errc::protocol: return fmt::format("does {} listen there, with TLS?", what);
    default: return "try again";
  }
}

finding finding_of_clock(const clock_reading& r) {
  // An answer gives its time in whole seconds, so the difference is known to a second at best.
  const auto middle = r.asked + (r.answered - r.asked) / 2;
  const auto unsure = (r.answered - r.asked) / 2 + seconds(1);
  const auto ahead = r.theirs - middle;
  const auto size = ahead < ahead.zero() ? -ahead : ahead;
  const std::string difference = fmt::format("the clock of {} is {} {} ours", r.whose, human(size),
                                             ahead < ahead.zero() ? "behind" : "ahead of");
  constexpr const char* remedy = "run chrony or systemd-timesyncd on both machines";
  if (size > seconds(60) + unsure) {
    return failure(
        difference + ": fresh certificates and tokens will be refused as not yet, or no longer, valid",
        remedy);
  }
  if (size > seconds(5) + unsure)
    return warning(difference + "; verdicts do not depend on it, certificates and logs do", remedy);
  return ok(fmt::format("the clock of {} agrees with ours", r.whose));
}

}  // namespace binnacle::cli::doctor
