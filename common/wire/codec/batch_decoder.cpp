#include "common/wire/codec/absence_codec.hpp"
#include "common/wire/codec/batch_codec.hpp"
#include "common/wire/codec/payload.hpp"
#include "common/wire/codec/zigzag.hpp"
#include "common/wire/limits.hpp"
#include "common/wire/telemetry.capnp.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace binnacle::wire {
namespace {

using reader = schema::Batch::Reader;

fault no_such(std::string_view what, std::uint64_t i, std::size_t of) {
  return {reason::unknown_series,
          std::string(what) + " " + std::to_string(i) + " in a batch; the catalog has " + std::to_string(of)};
}
fault misfit(std::string sentence) { return {reason::bad_message, std::move(sentence)}; }

/// Bit `i` of the bitmap; bits beyond its end are clear.
bool bit(capnp::Data::Reader map, std::size_t i) noexcept {
  return i / 8 < map.size() && (map[i / 8] >> (i % 8) & 1) != 0;
}

/// Calls `each` with the index of every set bit, in ascending order.
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
    return fault{reason::unknown_catalogue, "a batch for catalog " + std::to_string(b.catalog_version) +
                                                "; the last one sent was " + std::to_string(memory.version)};
  if (memory.needs_full && !b.full)
    return fault{reason::not_full, "the first batch after a catalog must be full"};
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

/// Collects the bad items of one column: counts them, and reports them once, with the fault of the first one.
class bad_items {
 public:
  template <class Why>
  void add(Why&& why, std::size_t n = 1) {
    if (n_ == 0) first_ = why();
    n_ += n;
  }
  void tell(omissions& left_out) {
    if (n_ > 0) left_out.add(std::move(first_), n_);
  }
  std::size_t count() const noexcept { return n_; }

 private:
  std::size_t n_ = 0;
  fault first_;
};

/// How many items of a column may be right: as many as the catalog has. Those beyond are bad and are not
/// looked at, because a column may have two million.
template <class Column>
unsigned looked_at(const Column& column, std::size_t known, std::string_view what, bad_items& bad) {
  if (column.size() <= known) return column.size();
  bad.add([&] { return no_such(what, column.size() - 1, known); }, column.size() - known);
  return static_cast<unsigned>(known);
}

void read_reads(reader in, const delta_memory& memory, batch& b, omissions& left_out) {
  const auto ages = in.getReadAgesUs();
  const auto groups = in.getReadGroups();
  b.reads.clear();
  if (groups.size() != 0 && groups.size() != ages.size())
    return left_out.add(misfit("columns readGroups and readAgesUs differ in length"), ages.size());
  bad_items bad;
  const unsigned count = looked_at(ages, memory.groups, "group", bad);
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t age = ages[i];
    const std::uint32_t group = groups.size() == 0 ? i : groups[i];
    if (group >= memory.groups) {
      bad.add([&] { return no_such("group", group, memory.groups); });
    } else if (!b.reads.empty() && group <= b.reads.back().group) {
      bad.add([] { return misfit("readGroups is not ascending"); });
    } else if (age > static_cast<std::uint64_t>(b.sent_at_ns / ns_per_us)) {
      bad.add([&] { return misfit("group " + std::to_string(group) + " was read before the node's boot"); });
    } else {
      b.reads.push_back(
          {static_cast<std::uint16_t>(group), b.sent_at_ns - static_cast<std::int64_t>(age) * ns_per_us});
    }
  }
  bad.tell(left_out);
}

/// A fault in this column ends the session: later differences would be added to wrong mantissas.
outcome<void> read_values(reader in, capnp::Data::Reader map, delta_memory& memory, batch& b,
                          bad_items& bad) {
  const auto deltas = in.getDeltas();
  const auto wide = in.getWide();
  auto& last = memory.last;
  const unsigned count = deltas.size();
  if (count > (map.size() == 0 ? last.size() : max_series)) return no_such("series", count - 1, last.size());
  if (map.size() > max_series / 8 + 1) return misfit("a bitmap of " + std::to_string(map.size()) + " bytes");
  if (map.size() == 0 && count != 0 && count != last.size())
    return misfit("fewer deltas than series, and no bitmap of the changed ones");

  if (b.full) std::fill(last.begin(), last.end(), 0);
  b.values.resize(count);
  unsigned at = 0, at_wide = 0, kept = 0;
  const auto take = [&](std::size_t series) {
    const std::uint32_t z = deltas[at++];
    if (series >= last.size()) {
      if (z == detail::wide_escape) ++at_wide;
      return bad.add([&] { return no_such("series", series, last.size()); });
    }
    if (z != detail::wide_escape) {
      last[series] = detail::unzigzag(z, last[series]);
    } else {
      if (at_wide < wide.size()) last[series] = wide[at_wide];
      ++at_wide;
    }
    b.values[kept++] = {static_cast<std::uint32_t>(series), last[series]};
  };
  if (map.size() == 0) {
    for (unsigned i = 0; i < count; ++i) take(i);
  } else {
    std::size_t bits = 0;
    for_each_bit(map, [&](std::size_t) { ++bits; });
    if (bits != count)
      return misfit("a bitmap with " + std::to_string(bits) + " bits for " + std::to_string(count) +
                    " deltas");
    for_each_bit(map, take);
  }
  if (at_wide != wide.size()) return misfit("column wide does not fit column deltas");
  b.values.resize(kept);
  return {};
}

void read_absences(reader in, capnp::Data::Reader map, const delta_memory& memory, batch& b, bad_items& bad) {
  const auto series = in.getAbsentSeries();
  const auto reasons = in.getAbsentReasons();
  const std::size_t known = memory.last.size();
  const bool all_changed = map.size() == 0 && !b.values.empty();
  b.absences.clear();
  const unsigned count = looked_at(series, known, "series", bad);
  for (unsigned i = 0; i < count; ++i) {
    const std::uint16_t s = series[i];
    if (s >= known) {
      bad.add([&] { return no_such("series", s, known); });
    } else if (!b.absences.empty() && s <= b.absences.back().series) {
      bad.add([] { return misfit("absentSeries is not ascending"); });
    } else if (all_changed || bit(map, s)) {
      bad.add([&] { return misfit("series " + std::to_string(s) + " has a value and is absent"); });
    } else {
      // A missing reason counts as `other`, as an unknown one does.
      b.absences.push_back({s, i < reasons.size() ? detail::from_schema(reasons[i]) : absence::other});
    }
  }
  if (reasons.size() != series.size())
    bad.add([] { return misfit("columns absentSeries and absentReasons differ in length"); });
}

/// A full batch must say something about every series. A series about which it says nothing readable becomes
/// absent, so that its value of the previous batch is not kept.
void fill_gaps(batch& b, std::size_t known) {
  std::vector<series_absence> all;
  all.reserve(known - b.values.size());
  auto value = b.values.begin();
  auto absent = b.absences.begin();
  for (std::uint32_t s = 0; s < known; ++s) {
    if (value != b.values.end() && value->series == s) {
      ++value;
    } else if (absent != b.absences.end() && absent->series == s) {
      all.push_back(*absent++);
    } else {
      all.push_back({s, absence::other});
    }
  }
  b.absences = std::move(all);
}

}  // namespace

outcome<void> batch_decoder::decode(const frame_view& frame, scratch& space, batch& b, omissions& left_out) {
  return detail::with_root<schema::Batch>(frame, space, [&](reader in) -> outcome<void> {
    if (auto done = read_header(in, memory_, any_, b); done.has_error()) return done;
    read_reads(in, memory_, b, left_out);
    const auto changed =
        in.getChanged();  // once: each time a pointer is followed counts against the traversal limit
    bad_items bad;
    if (auto done = read_values(in, changed, memory_, b, bad); done.has_error()) return done;
    read_absences(in, changed, memory_, b, bad);
    const std::size_t known = memory_.last.size(), told = b.values.size() + b.absences.size();
    if (b.full && told + bad.count() < known) return misfit("a full batch that leaves out series");
    if (b.full && told < known) fill_gaps(b, known);
    bad.tell(left_out);
    memory_.sequence = b.sequence;
    memory_.sent_at_us = b.sent_at_ns / ns_per_us;
    memory_.needs_full = false;
    any_ = true;
    return {};
  });
}

}  // namespace binnacle::wire
