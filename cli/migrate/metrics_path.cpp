// Migrates what carried the values: Prometheus, its adapter, the registration of the custom metrics API.
#include "cli/migrate/migration.hpp"
#include "common/text/text.hpp"

#include <string>

namespace binnacle::cli::migrate {

bool migrate_metrics_path(const manifest& m, migration& out) {
  if (m.kind == "APIService") {
    if (!contains(m.name, "custom.metrics.k8s.io") || contains(m.name, "external.")) return false;
    out.yours(
        m.title(),
        "only one server can have it: delete it, or uninstall the adapter's release, before the chart is "
        "installed; or set customMetrics.enabled: false");
    return true;
  }
  const std::string both = m.name + " " + images_of(m);
  if (contains(both, "custom-metrics") || contains(both, "prometheus-adapter")) {
    out.dropped(
        m.title(),
        "the aggregator serves the custom metrics API itself; delete it unless other metrics come by it");
    return true;
  }
  if (contains(both, "prometheus")) {
    out.yours(m.title(),
              "is out of the loop: keep it for dashboards and history (monitoring.monitors), or delete it");
    return true;
  }
  return false;
}

}  // namespace binnacle::cli::migrate
