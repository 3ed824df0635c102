#include "agent/sources/host/way_reading.hpp"

#include <algorithm>

namespace binnacle::agent {
namespace {

// Whether the last value must go at once instead of ageing. That is so if the counter stopped or gives
// nothing: its last value may be the mean of an interval in which it died. It is also so if its number
// jumped: nobody knows yet whether it was right before.
bool is_doubted(absence why) {
  return why == absence::no_data || why == absence::reset || is_disbelieved(why);
}

}  // namespace

std::optional<decimal> measured(const board& from, board::series_ref ref) {
  constexpr auto contradicts = absence::implausible;
  const auto& e = from.series()[ref];
  const bool believed = e.withheld == 0 || e.withheld == 1u << static_cast<unsigned>(contradicts);
  return believed ? from.measured(ref) : std::nullopt;
}

bool is_late(const board& from, board::series_ref ref, instant now) {
  const auto& g = from.groups()[from.series()[ref].info.group];
  return g.read_at == instant{} || now >= g.read_at + std::chrono::milliseconds(g.info.stale_after_ms);
}

bool may_still_come(absence why) {
  return why != absence::none && why != absence::permission && !is_disbelieved(why);
}

bool comes_soon(const part_inventory& parts, const board& from) {
  const auto measures = [&from](const part_inventory::part& p) { return measured(from, p.ref).has_value(); };
  const auto begins = [&from](const part_inventory::part& p) {
    const auto why = from.series()[p.ref].reason;
    return why == absence::not_read_yet || why == absence::gap || why == absence::reset;
  };
  return std::ranges::none_of(parts.present(), measures) && std::ranges::any_of(parts.present(), begins);
}

contender look(const way& w, part_inventory& parts, const board& from, instant now, duration wait) {
  contender c;
  c.reach = w.of;
  c.read_at = instant::max();
  c.stale_after = duration::max();
  bool any_absent = false;
  const bool any_value = std::ranges::any_of(parts.present(), [&](const part_inventory::part& p) {
    return measured(from, p.ref).has_value() && !is_late(from, p.ref, now);
  });
  for (std::size_t i = 0; i < parts.present().size(); ++i) {
    const auto& p = parts.present()[i];
    const auto& e = from.series()[p.ref];
    const auto& g = from.groups()[e.info.group];
    const auto value = measured(from, p.ref);
    const bool silent = w.bays && any_value && !value && e.reason == absence::no_data;
    if (parts.is_empty_bay(i, silent, now, wait)) continue;
    // Ignore a memory zone whose counter never moved: many machines have no memory zone at all.
    if (e.reason == absence::never_moved && (w.one_counts || e.info.family != w.parts.front().family)) {
      if (!any_absent) c.why = e.reason;
      continue;
    }
    if (!value || is_late(from, p.ref, now)) {
      if (!any_absent) c.why = !value ? e.reason : absence::timeout;
      any_absent = any_absent || w.sum || p.counted;
      c.settles = c.settles || (silent && !p.counted);
      c.set_aside = c.set_aside || (w.counter && !value && is_doubted(e.reason));
      continue;
    }
    parts.count(i);
    if (!c.value) {
      c.value = value;
    } else {
      c.value = w.sum ? add(*c.value, *value) : std::max(*c.value, *value);
    }
    const duration stale_after = std::chrono::milliseconds(g.info.stale_after_ms);
    c.read_at = std::min(c.read_at, g.read_at);
    c.stale_after = std::min(c.stale_after, stale_after);
  }
  if (!parts.missing().empty()) {
    if (!any_absent) c.why = absence::missing;
    any_absent = true;
  }
  if (any_absent) c.value.reset();
  c.awaited = !c.value && may_still_come(c.why);
  return c;
}

}  // namespace binnacle::agent
