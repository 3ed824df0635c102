#include "common/http/health.hpp"

#include <algorithm>
#include <memory>

namespace binnacle::http {

std::optional<response> health::answer(const request& r) const {
  if (r.path.empty() || r.path.size() > 2) return std::nullopt;
  const std::string& page = r.path[0];
  if (page != "livez" && page != "readyz" && page != "healthz") return std::nullopt;
  const std::string one = r.path.size() == 2 ? r.path[1] : std::string();

  const auto excluded = [&r](const std::string& name) {
    return std::any_of(r.query.begin(), r.query.end(),
                       [&](const auto& q) { return q.first == "exclude" && q.second == name; });
  };
  std::string lines;
  bool good = true;
  bool asked = one.empty();
  for (const named_check& c : checks_) {
    if (c.ready_only && page != "readyz") continue;
    if (!one.empty() && c.name != one) continue;
    asked = true;
    if (excluded(c.name)) {
      lines += "[+]" + c.name + " excluded: ok\n";
    } else if (c.ok()) {
      lines += "[+]" + c.name + " ok\n";
    } else {
      lines += "[-]" + c.name + " failed: " + c.reason + "\n";
      good = false;
    }
  }
  if (!asked) return std::nullopt;
  if (!good) return response::text(lines + page + " check failed\n", 500);
  if (r.parameter("verbose") != nullptr) return response::text(lines + page + " check passed\n");
  return response::text("ok");
}

void mount_health(router& routes, health checks) {
  const auto shared = std::make_shared<const health>(std::move(checks));
  const auto page = [shared](const request& r, std::string_view) {
    if (r.method != "GET") return response::failure(405, "only GET is served here");
    const auto answer = shared->answer(r);
    return answer ? *answer : response::failure(404, "there is no check of that name");
  };
  for (const char* path : {"/livez", "/readyz", "/healthz"}) routes.add_prefix(path, page);
}

}  // namespace binnacle::http
