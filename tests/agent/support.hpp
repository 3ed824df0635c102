#pragma once

#include "agent/base/board.hpp"
#include "agent/base/clocks.hpp"
#include "common/metrics/families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace binnacle {
inline std::ostream& operator<<(std::ostream& out, absence a) { return out << to_string(a); }
}  // namespace binnacle

namespace binnacle::agent::test {

/// A clock that moves only when told to.
struct fake_clock {
  instant now = instant(std::chrono::hours(1));
  duration asleep{};

  clocks source() {
    return {[this] { return now; }, [this] { return asleep; }, [this] { return now.time_since_epoch(); }};
  }
};

/// Whether `text` contains `part`; mostly used for messages.
inline bool holds(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The board's entry of that series. Null if it has been removed or never was there.
inline const board::entry* entry_of(const board& b, const std::string& family,
                                    const metrics::label_set& labels = {}) {
  for (const auto& e : b.series()) {
    if (!e.removed && e.info.family == family && e.info.labels == labels) return &e;
  }
  return nullptr;
}

/// The value as text ("12.3"), the reason in words if it is absent ("missing"), or "no such series". A failed
/// comparison then says everything.
inline std::string shown(const board& b, const std::string& family, const metrics::label_set& labels = {}) {
  const auto* e = entry_of(b, family, labels);
  if (e == nullptr) return "no such series";
  return e->reason == absence::none ? to_string(e->value) : std::string(to_string(e->reason));
}

/// Checks that every series of the board is in METRICS.md and has its labels in order. If `all` is false,
/// a series about a part of the machine may leave out the last labels.
inline void check_families(const board& b, bool all = true) {
  for (const auto& e : b.series()) {
    CAPTURE(e.info.family);
    const auto* family = metrics::find(e.info.family);
    REQUIRE(family != nullptr);
    if (all) REQUIRE(e.info.labels.size() == family->labels.size());
    REQUIRE(e.info.labels.size() <= family->labels.size());
    for (std::size_t i = 0; i < e.info.labels.size(); ++i) CHECK(e.info.labels[i].first == family->labels[i]);
  }
}

}  // namespace binnacle::agent::test
