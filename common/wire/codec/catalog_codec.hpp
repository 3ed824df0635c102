#pragma once

#include "common/wire/codec/capnp.hpp"
#include "common/wire/messages.hpp"
#include "common/wire/omissions.hpp"
#include "common/wire/reason.hpp"
#include "common/wire/telemetry.capnp.h"

namespace binnacle::wire::detail {

/// Writes a catalog that was checked. Each label text and each family is written once.
void fill(schema::Catalog::Builder to, const catalog& from);

/// A series that breaks a bound, or points nowhere, is left out and counted. Its place stays, with an empty
/// family, because batches name series by index. A bad group is left out together with its series; a bad help
/// is left out alone. Errors: catalogue_too_large, judged by the sizes that the message claims, before any
/// memory is reserved.
outcome<catalog> read(schema::Catalog::Reader from, omissions& left_out);

}  // namespace binnacle::wire::detail
