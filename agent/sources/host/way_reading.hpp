#pragma once

#include "agent/base/board.hpp"
#include "agent/sources/host/best_of.hpp"
#include "agent/sources/host/part_inventory.hpp"
#include "agent/sources/host/ways.hpp"
#include "common/absence.hpp"
#include "common/clock.hpp"
#include "common/decimal.hpp"

#include <optional>

namespace binnacle::agent {

/// What the source of the series measured. A value that is withheld only because it contradicts another one
/// is given, too, because it may agree again.
std::optional<decimal> measured(const board& from, board::series_ref ref);
/// Whether the value of the series is older than its group's stale-after, or was never read.
bool is_late(const board& from, board::series_ref ref, instant now);
/// Whether a first value may come soon when this is the reason for having none.
bool may_still_come(absence why);
/// Whether none of the parts has a value yet, and the first one comes with one of the next readings.
bool comes_soon(const part_inventory& parts, const board& from);

/// The present state of a way: the sum or maximum of its parts, as old as the oldest of them, or why it has
/// none. Notes in `parts` which of them have had a value, and which are empty bays (after a silence of
/// `wait`).
contender look(const way& w, part_inventory& parts, const board& from, instant now, duration wait);

}  // namespace binnacle::agent
