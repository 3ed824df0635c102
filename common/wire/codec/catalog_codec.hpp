#pragma once

#include "common/wire/codec/capnp.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/omissions.hpp"
#include "common/wire/reason.hpp"
#include "common/wire/telemetry.capnp.h"

namespace binnacle::wire::detail {

/// Writes a checked catalogue; each label text and family once.
void fill(schema::Catalog::Builder to, const catalog& from);

/// A series that breaks a bound, or points nowhere, is left out and counted: what stands at its index has no
/// family, since batches name series by index. So is a group, with its series, and a help. Errors:
/// catalogue_too_large (by what a message claims, before anything is reserved).
outcome<catalog> read(schema::Catalog::Reader from, omissions& left_out);

}  // namespace binnacle::wire::detail
