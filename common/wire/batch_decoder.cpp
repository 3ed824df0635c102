#include "common/wire/absence_codec.hpp"
#include "common/wire/batch_codec.hpp"
#include "common/wire/payload.hpp"
#include "common/wire/telemetry.capnp.h"
#include "common/wire/zigzag.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace binnacle::wire {
namespace {

using reader = schema::Batch::Reader;

fault no_such(std::string_view what, std::uint64_t i, std::size_t of) {
  return {reason::unknown_series, std::string(what) + " " + std::to_string(i) +
                                      " in a batch; the catalogue has " + std::to_string(of)};
}
fault misfit(std::string sentence) { return {reason::bad_message, std::move(sentence)}; }

/// Bit `i` of the bitmap; bits beyond its end are clear.
bool bit(capnp::Data::Reader map, std::size_t i) noexcept {
  return i / 8 < map.size() && (map[i / 8] >> (i % 8) & 1) != 0;
}

/// Calls `each` with the index of every set bit, ascending.
template <class Each>
void for_each_bit(capnp::Data::Reader map, Each&& each) {
  for (std::size_t at = 0; at < map.size(); ++at)
    for (unsigned rest = map[at]; rest != 0; rest &= rest - 1)
      each(at * 8 + static_cast<std::size_t>(std::countr_zero(rest)));
}

outcome<void> read_header(reader in, const delta_memory& memory, bool any, batch& b) {
  b.sequence = in.getSequence();
  b.catalog_version = in.getCatalogVersion();
  b.full = in.getFull();
  if (b.catalog_version != memory.version)
    return fault{reason::unknown_catalogue, "a batch for catalogue " + std::to_string(b.catalog_version) +
                                                "; the last one sent was " + std::to_string(memory.version)};
  if (memory.needs_full && !b.full)
    return fault{reason::not_full, "the first batch after a catalogue must be full"};
  if (any && (b.full ? b.sequence <= memory.sequence : b.sequence != memory.sequence + 1))
    return fault{reason::sequence_gap,
                 "batch " + std::to_string(b.sequence) + " came after " + std::to_string(memory.sequence)};
  const std::uint64_t sent = in.getSentAtUs();
  if (sent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / ns_per_us))
    return misfit("sentAtUs is beyond any clock");
  if (static_cast<std::int64_t>(sent) < memory.sent_at_us)
    return fault{reason::clock_backwards, "sentAtUs went back from " +
                                              std::to_string(static_cast<std::uint64_t>(memory.sent_at_us)) +
                                              " to " + std::to_string(sent)};
  b.sent_at_ns = static_cast<std::int64_t>(sent) * ns_per_us;
  return {};
}

outcome<void> read_reads(reader in, const delta_memory& memory, batch& b) {
  const auto ages = in.getReadAgesUs();
  const auto groups = in.getReadGroups();
  if (ages.size() > memory.groups) return no_such("group", ages.size() - 1, memory.groups);
  if (groups.size() != 0 && groups.size() != ages.size())
    return misfit("columns readGroups and readAgesUs differ in length");
  b.reads.resize(ages.size());
  for (unsigned i = 0; i < ages.size(); ++i) {
    const std::uint64_t age = ages[i];
    const auto group = groups.size() == 0 ? static_cast<std::uint16_t>(i) : groups[i];
    if (group >= memory.groups) return no_such("group", group, memory.groups);
    if (i > 0 && group <= b.reads[i - 1].group) return misfit("readGroups is not ascending");
    if (age > static_cast<std::uint64_t>(b.sent_at_ns / ns_per_us))
      return fault{reason::clock_backwards,
                   "group " + std::to_string(group) + " was read before the node's boot"};
    b.reads[i] = {group, b.sent_at_ns - static_cast<std::int64_t>(age) * ns_per_us};
  }
  return {};
}

outcome<void> read_values(reader in, capnp::Data::Reader map, delta_memory& memory, batch& b) {
  const auto deltas = in.getDeltas();
  const auto wide = in.getWide();
  auto& last = memory.last;
  const unsigned count = deltas.size();
  if (count > last.size()) return no_such("series", count - 1, last.size());
  if (map.size() == 0 && count != 0 && count != last.size())
    return misfit("fewer deltas than series, and no bitmap of the changed ones");
  if (map.size() > last.size() / 8 + 1) return no_such("series", map.size() * 8 - 1, last.size());

  if (b.full) std::fill(last.begin(), last.end(), 0);
  b.values.resize(count);
  unsigned at = 0, at_wide = 0;
  const auto take = [&](std::size_t series) {
    const std::uint32_t z = deltas[at];
    if (z != detail::wide_escape) {
      last[series] = detail::unzigzag(z, last[series]);
    } else {
      if (at_wide < wide.size()) last[series] = wide[at_wide];
      ++at_wide;
    }
    b.values[at++] = {static_cast<std::uint32_t>(series), last[series]};
  };
  if (map.size() == 0) {
    for (unsigned i = 0; i < count; ++i) take(i);
  } else {
    std::size_t bits = 0, highest = 0;
    for_each_bit(map, [&](std::size_t i) { ++bits, highest = i; });
    if (bits != 0 && highest >= last.size()) return no_such("series", highest, last.size());
    if (bits != count)
      return misfit("a bitmap with " + std::to_string(bits) + " bits for " + std::to_string(count) +
                    " deltas");
    for_each_bit(map, take);
  }
  if (at_wide != wide.size()) return misfit("column wide does not fit column deltas");
  return {};
}

outcome<void> read_absences(reader in, capnp::Data::Reader map, const delta_memory& memory, batch& b) {
  const auto series = in.getAbsentSeries();
  const auto reasons = in.getAbsentReasons();
  const std::size_t known = memory.last.size();
  if (series.size() != reasons.size())
    return misfit("columns absentSeries and absentReasons differ in length");
  if (series.size() > known) return no_such("series", series.size() - 1, known);
  const bool all_changed = map.size() == 0 && !b.values.empty();
  b.absences.resize(series.size());
  for (unsigned i = 0; i < series.size(); ++i) {
    const std::uint16_t s = series[i];
    if (s >= known) return no_such("series", s, known);
    if (i > 0 && s <= b.absences[i - 1].series) return misfit("absentSeries is not ascending");
    if (all_changed || bit(map, s))
      return misfit("series " + std::to_string(s) + " has a value and is absent");
    b.absences[i] = {s, detail::from_schema(reasons[i])};
  }
  if (b.full && b.values.size() + b.absences.size() != known)
    return misfit("a full batch that leaves out series");
  return {};
}

}  // namespace

outcome<void> batch_decoder::decode(const frame_view& frame, scratch& space, batch& b) {
  return detail::with_root<schema::Batch>(frame, space, [&](reader in) -> outcome<void> {
    if (auto done = read_header(in, memory_, any_, b); done.has_error()) return done;
    if (auto done = read_reads(in, memory_, b); done.has_error()) return done;
    const auto changed =
        in.getChanged();  // once: following a pointer again counts against the traversal limit again
    if (auto done = read_values(in, changed, memory_, b); done.has_error()) return done;
    if (auto done = read_absences(in, changed, memory_, b); done.has_error()) return done;
    memory_.sequence = b.sequence;
    memory_.sent_at_us = b.sent_at_ns / ns_per_us;
    memory_.needs_full = false;
    any_ = true;
    return {};
  });
}

}  // namespace binnacle::wire
