#pragma once

#include "common/http/router.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::http {

/// /livez, /readyz and /healthz the way Kubernetes components answer them: 200 "ok"; 500 naming the failed
/// checks, with the reason where one was given for everybody to read; `?verbose` lists all checks,
/// `?exclude=NAME` passes one over, /livez/NAME asks one. Source:
/// kubernetes.io/docs/reference/using-api/health-checks.
class health {
 public:
  using check = std::function<bool()>;

  /// A check that every path asks.
  void add(std::string name, check ok) {
    checks_.push_back({std::move(name), std::move(ok), false, withheld});
  }
  /// A check that only /readyz asks: false at shutdown, long before the process stops serving. `reason`: why
  /// it fails, as everybody may know.
  void add_ready(std::string name, check ok, std::string reason = withheld) {
    checks_.push_back({std::move(name), std::move(ok), true, std::move(reason)});
  }

  /// The answer, or nothing when the path is not ours.
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

/// Serves the three pages, and those of single checks, to everyone.
void mount_health(router& routes, health checks);

}  // namespace binnacle::http
