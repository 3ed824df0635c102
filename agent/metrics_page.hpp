#pragma once

#include "agent/base/board.hpp"
#include "common/http/router.hpp"

#include <functional>
#include <string>

namespace binnacle::agent {

/// The board in the Prometheus text format: every series that has a value, no timestamps (a scraper's own
/// time is that of the read within a period; a value too old to count is left out). `now` decides what is too
/// old.
std::string exposition_of(const board& from, instant now);

/// GET /metrics, /livez and /readyz. Ready: every source has been read once, or has said why it cannot be.
/// The board must outlive the routes.
void mount_metrics_page(http::router& routes, const board& from, std::function<bool()> ready,
                        std::function<instant()> now);
/// GET /livez and /readyz alone.
void mount_health(http::router& routes, std::function<bool()> ready);

}  // namespace binnacle::agent
