#pragma once

#include "cli/dashboard/door.hpp"
#include "cli/dashboard/feed.hpp"
#include "common/http/router.hpp"

namespace binnacle::cli::dashboard {

/// The dashboard's routes. `who` and `what` must outlive them. README.md in this folder lists them. Include
/// from .cpp files only.
http::router routes(door& who, feed& what);

}  // namespace binnacle::cli::dashboard
