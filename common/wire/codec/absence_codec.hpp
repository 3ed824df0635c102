#pragma once

#include "common/absence.hpp"
#include "common/wire/codec/capnp.hpp"
#include "common/wire/telemetry.capnp.h"

namespace binnacle::wire::detail {

/// `other` for reasons that only the aggregator uses (stale, disconnected) and for reasons of a newer minor
/// version.
schema::Absence to_schema(absence reason) noexcept;
absence from_schema(schema::Absence reason) noexcept;

}  // namespace binnacle::wire::detail
