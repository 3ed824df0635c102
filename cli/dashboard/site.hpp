#pragma once

#include "cli/dashboard/door.hpp"
#include "cli/dashboard/feed.hpp"
#include "cli/dashboard/history/database.hpp"
#include "common/http/router.hpp"

namespace binnacle::cli::dashboard {

/// The dashboard's routes. `who`, `what` and `past` must outlive them; `past` is null where no database is
/// set. README.md in this folder lists them. Include from .cpp files only.
http::router routes(door& who, feed& what, history::database* past);

}  // namespace binnacle::cli::dashboard
