#pragma once

#include "common/http/router.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::http {

/// /livez, /readyz and /healthz, answered as Kubernetes components answer them: 200 "ok", or 500 with the
/// names of the failed checks. A check's reason is shown if one was given that everybody may read. `?verbose`
/// lists all checks, `?exclude=NAME` leaves one out, /livez/NAME asks for one. Source:
/// kubernetes.io/docs/reference/using-api/health-checks.
class health {
 public:
  using check = std::function<bool()>;

  /// A check that all three pages make.
  void add(std::string name, check ok) {
    checks_.push_back({std::move(name), std::move(ok), false, withheld});
  }
  /// A check that only /readyz makes. It is false at shutdown, long before the process stops serving.
  /// `reason`: why it fails, in words that everybody may read.
  void add_ready(std::string name, check ok, std::string reason = withheld) {
    checks_.push_back({std::move(name), std::move(ok), true, std::move(reason)});
  }

  /// The answer; nothing if the path is not one of these.
  std::optional<response> answer(const request& r) const;

 private:
  static constexpr const char* withheld = "reason withheld";
  struct named_check {
    std::string name;
    check ok;
    bool ready_only;
    std::string reason;
  };
  std::vector<named_check> checks_;
};

/// Serves the three pages and the pages of single checks to everyone.
void mount_health(router& routes, health checks);

}  // namespace binnacle::http
