#pragma once

#include "common/wire/capnp.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/reason.hpp"
#include "common/wire/telemetry.capnp.h"

namespace binnacle::wire::detail {

/// Writes a checked catalogue; each label text and family once.
void fill(schema::Catalog::Builder to, const catalog& from);

/// Errors: catalogue_too_large (by what a message claims, before anything is reserved), bad_catalogue for an
/// index out of range. Names and texts are checked by check().
outcome<catalog> read(schema::Catalog::Reader from);

}  // namespace binnacle::wire::detail
