#pragma once

#include "agent/base/board.hpp"
#include "common/http/router.hpp"

#include <functional>
#include <string>

namespace binnacle::agent {

/// The board in the Prometheus text format: every series that has a value. There are no timestamps, because a
/// scraper's own time differs from the read's by at most a period. A value that is too old at `now` is left
/// out.
std::string exposition_of(const board& from, instant now);

/// Serves GET /metrics, /livez and /readyz. The text of /metrics is made at most ten times a second, so it
/// may be 100 ms old. Ready means that every source has been read once, or has said why it cannot be. The
/// board must outlive the routes.
void mount_metrics_page(http::router& routes, const board& from, std::function<bool()> ready,
                        std::function<instant()> now);
/// Serves GET /livez and /readyz alone.
void mount_health(http::router& routes, std::function<bool()> ready);

}  // namespace binnacle::agent
