#include "common/wire/codec/absence_codec.hpp"
#include "common/wire/codec/batch_codec.hpp"
#include "common/wire/codec/payload.hpp"
#include "common/wire/codec/zigzag.hpp"
#include "common/wire/telemetry.capnp.h"

#include <algorithm>

namespace binnacle::wire {
namespace {

template <class Item>
bool ascending(const std::vector<Item>& items) noexcept {
  return std::adjacent_find(items.begin(), items.end(),
                            [](const Item& a, const Item& b) { return a.series >= b.series; }) == items.end();
}

/// The lengths of a batch's columns.
struct layout {
  unsigned changed = 0, wide = 0, bitmap_bytes = 0, reads = 0, absent = 0;
  bool groups_in_order = true;

  /// An upper bound for the size of the message. With so many words everything fits one segment: the segment
  /// table is one word, and the builder allocates nothing.
  std::size_t words() const noexcept {
    return 32 + changed / 2 + bitmap_bytes / 8 + wide + reads + reads / 4 + absent / 2;
  }
};

std::int64_t base_of(const series_value& v, const batch& b, const delta_memory& memory) noexcept {
  return b.full ? 0 : memory.last[v.series];
}

layout measure(const batch& b, const delta_memory& memory) {
  layout l;
  l.changed = static_cast<unsigned>(b.values.size());
  l.reads = static_cast<unsigned>(b.reads.size());
  l.absent = static_cast<unsigned>(b.absences.size());
  for (const series_value& v : b.values)
    if (detail::zigzag(v.mantissa, base_of(v, b, memory)) == detail::wide_escape) ++l.wide;
  if (l.changed != 0 && l.changed != memory.last.size()) l.bitmap_bytes = b.values.back().series / 8 + 1;
  l.groups_in_order = b.reads.empty() || b.reads.back().group + std::size_t{1} == b.reads.size();
  return l;
}

void fill_values(schema::Batch::Builder to, const batch& b, const layout& l, const delta_memory& memory) {
  if (l.changed == 0) return;
  auto deltas = to.initDeltas(l.changed);
  auto wide = l.wide == 0 ? capnp::List<std::int64_t>::Builder() : to.initWide(l.wide);
  auto map = l.bitmap_bytes == 0 ? capnp::Data::Builder() : to.initChanged(l.bitmap_bytes);
  unsigned at = 0, at_wide = 0;
  for (const series_value& v : b.values) {
    const std::uint32_t z = detail::zigzag(v.mantissa, base_of(v, b, memory));
    deltas.set(at++, z);
    if (z == detail::wide_escape) wide.set(at_wide++, v.mantissa);
    if (l.bitmap_bytes != 0)
      map[v.series / 8] = static_cast<kj::byte>(map[v.series / 8] | 1u << (v.series % 8));
  }
}

void fill_reads(schema::Batch::Builder to, const batch& b, const layout& l) {
  if (l.reads == 0) return;
  auto ages = to.initReadAgesUs(l.reads);
  for (unsigned i = 0; i < l.reads; ++i)
    ages.set(i, static_cast<std::uint64_t>(b.sent_at_ns / ns_per_us - b.reads[i].read_at_ns / ns_per_us));
  if (l.groups_in_order) return;
  auto groups = to.initReadGroups(l.reads);
  for (unsigned i = 0; i < l.reads; ++i) groups.set(i, b.reads[i].group);
}

void fill_absences(schema::Batch::Builder to, const batch& b, const layout& l) {
  if (l.absent == 0) return;
  auto series = to.initAbsentSeries(l.absent);
  auto reasons = to.initAbsentReasons(l.absent);
  for (unsigned i = 0; i < l.absent; ++i) {
    series.set(i, static_cast<std::uint16_t>(b.absences[i].series));
    reasons.set(i, detail::to_schema(b.absences[i].reason));
  }
}

}  // namespace

catalog_outline outline_of(const catalog& c) noexcept {
  catalog_outline out{c.version, c.series.size(), c.groups.size(), {}};
  for (const group_info& g : c.groups)
    out.longest_period = std::max<duration>(out.longest_period, std::chrono::milliseconds(g.period_ms));
  return out;
}

void delta_memory::reset(const catalog_outline& c) {
  last.assign(c.series, 0);
  groups = c.groups;
  version = c.version;
  needs_full = true;
}

outcome<void> batch_encoder::check(const batch& b) const {
  if (memory_.needs_full && !b.full)
    return fault{reason::not_full, "the first batch after a catalog must be full"};
  if (b.sent_at_ns < 0 || b.sent_at_ns / ns_per_us < memory_.sent_at_us)
    return fault{reason::clock_backwards, "sent_at went back"};
  if (!ascending(b.values) || !ascending(b.absences))
    return fault{reason::bad_message, "series are not ascending"};
  if ((!b.values.empty() && b.values.back().series >= memory_.last.size()) ||
      (!b.absences.empty() && b.absences.back().series >= memory_.last.size()))
    return fault{reason::unknown_series,
                 "a series beyond the catalog's " + std::to_string(memory_.last.size())};
  auto value = b.values.begin();
  for (const series_absence& a : b.absences) {
    while (value != b.values.end() && value->series < a.series) ++value;
    if (value != b.values.end() && value->series == a.series)
      return fault{reason::bad_message, "series " + std::to_string(a.series) + " has a value and is absent"};
  }
  if (b.full && b.values.size() + b.absences.size() != memory_.last.size())
    return fault{reason::bad_message, "a full batch that leaves out series"};
  std::size_t next_group = 0;
  for (const group_read& r : b.reads) {
    if (r.group >= memory_.groups)
      return fault{reason::unknown_series, "a group beyond the catalog's " + std::to_string(memory_.groups)};
    if (r.group < next_group) return fault{reason::bad_message, "groups are not ascending"};
    if (r.read_at_ns > b.sent_at_ns || r.read_at_ns < 0)
      return fault{reason::clock_backwards,
                   "group " + std::to_string(r.group) + " was read after the batch was sent"};
    next_group = r.group + std::size_t{1};
  }
  return {};
}

outcome<void> batch_encoder::append(bytes& out, batch& b) {
  if (auto fine = check(b); fine.has_error()) return fine;
  b.sequence = memory_.sequence + 1;
  b.catalog_version = memory_.version;
  const layout l = measure(b, memory_);
  if (words_.size() < l.words()) words_.assign(l.words(), 0);  // the builder needs zeros, and leaves zeros
  try {
    capnp::MallocMessageBuilder message(
        kj::arrayPtr(reinterpret_cast<capnp::word*>(words_.data()), words_.size()));
    auto to = message.initRoot<schema::Batch>();
    to.setSequence(b.sequence);
    to.setSentAtUs(static_cast<std::uint64_t>(b.sent_at_ns / ns_per_us));
    to.setCatalogVersion(b.catalog_version);
    to.setFull(b.full);
    fill_values(to, b, l, memory_);
    fill_reads(to, b, l);
    fill_absences(to, b, l);
    if (auto sent = detail::append(out, frame_kind::batch, message); sent.has_error()) return sent;
  } catch (const kj::Exception& e) {
    return detail::malformed(e);
  }
  if (b.full) std::fill(memory_.last.begin(), memory_.last.end(), 0);
  for (const series_value& v : b.values) memory_.last[v.series] = v.mantissa;
  memory_.sequence = b.sequence;
  memory_.sent_at_us = b.sent_at_ns / ns_per_us;
  memory_.needs_full = false;
  return {};
}

}  // namespace binnacle::wire
