#include "aggregator/store/derive.hpp"

#include "aggregator/store/exact.hpp"

#include <algorithm>

namespace binnacle::store {

namespace {

using exact::wide;
using metrics::node_rule;

/// A plan's members put together, before the rule decides whether enough of them are present.
struct gathered {
  wide sum = 0, least = 0, most = 0;
  std::size_t present = 0, absent = 0;
  bool fits = true;                // false: the sum overflowed and means nothing
  bool lost = false;               // an absent member has had a value before, or may still get one
  absence why = absence::missing;  // of the first absent one
  instant oldest = instant::max(), newest = instant::min(), earliest_expiry = instant::max();
};

constexpr instant ignoring_expiry = instant::min();

gathered gather(const std::vector<plan::term>& terms, const row& cells, instant now) noexcept {
  gathered g;
  const std::int64_t* stale_after = cells.series().stale_after_ns.data();
  for (const plan::term& t : terms) {
    const instant read_at = cells.read_at(t.group);
    const instant expires_at = read_at + duration(stale_after[t.group]);
    const row::raw cell = cells.peek(t.series);
    if (cell.reason != absence::none || now >= expires_at || read_at == instant{}) {
      if (g.absent++ == 0) g.why = cell.reason != absence::none ? cell.reason : absence::stale;
      g.lost = g.lost || cell.had_value || cell.reason == absence::not_read_yet;
      continue;
    }
    const wide value = wide{cell.mantissa} * t.factor;
    g.fits = !__builtin_add_overflow(g.sum, value, &g.sum) && g.fits;  // large values near 10^18 can overflow
    g.least = g.present == 0 ? value : std::min(g.least, value);
    g.most = g.present == 0 ? value : std::max(g.most, value);
    ++g.present;
    g.oldest = std::min(g.oldest, read_at);
    g.newest = std::max(g.newest, read_at);
    g.earliest_expiry = std::min(g.earliest_expiry, expires_at);
  }
  return g;
}

sample absent(absence why, const row& cells) noexcept {
  sample s;
  s.reason = why == absence::stale && !cells.linked() ? absence::disconnected : why;
  s.link_down = !cells.linked();
  return s;
}

/// The certainty of a value after a multiplication by a negative number.
certainty mirrored(certainty c) noexcept {
  if (c == certainty::at_least) return certainty::at_most;
  return c == certainty::at_most ? certainty::at_least : c;
}

/// How certain a partial value is, by the rule that made it.
certainty without_some(node_rule rule) noexcept {
  if (rule == node_rule::max) return certainty::at_least;
  if (rule == node_rule::min) return certainty::at_most;
  return certainty::unsure;
}

}  // namespace

sample evaluate(const plan& p, const row& cells, instant now) noexcept {
  if (!p.known) return absent(absence::missing, cells);
  // A sample whose members have all expired keeps its value and its expiry: a rule may have a longer
  // staleAfter.
  const bool outlives = p.outlives_members();
  gathered g = gather(p.terms, cells, outlives ? now : ignoring_expiry);
  if (outlives && g.present == 0) g = gather(p.terms, cells, ignoring_expiry);
  const bool needs_all =
      p.rule == node_rule::sole || p.rule == node_rule::sum || p.rule == node_rule::ratio_of_sums;
  if (g.present == 0 || (needs_all && g.absent > 0)) return absent(g.why, cells);

  sample s{.read_at = g.oldest,
           .expires_at = g.earliest_expiry,
           .reason = absence::none,
           .partial = g.absent > 0,
           .link_down = !cells.linked(),
           .sure = g.lost ? without_some(p.rule) : certainty::exact,
           .spread = g.newest - g.oldest};
  std::optional<std::int64_t> mantissa;
  switch (p.rule) {
    case node_rule::sole:
    case node_rule::sum:
      if (g.fits) mantissa = exact::narrow(g.sum);
      break;
    case node_rule::max: mantissa = exact::narrow(g.most); break;
    case node_rule::min: mantissa = exact::narrow(g.least); break;
    case node_rule::mean:
      if (g.fits)
        mantissa = exact::ratio(g.sum, p.exponent - p.result_exponent, static_cast<wide>(g.present));
      break;
    case node_rule::ratio_of_sums: {
      const gathered d = gather(p.denominator, cells, ignoring_expiry);
      if (d.absent > 0) return absent(d.why, cells);
      if (d.sum == 0 && d.fits) return absent(absence::no_data, cells);
      const int by = p.exponent - p.denominator_exponent - p.result_exponent;
      if (g.fits && d.fits)
        mantissa = d.sum > 0 ? exact::ratio(g.sum, by, d.sum) : exact::ratio(-g.sum, by, -d.sum);
      s.read_at = std::min(g.oldest, d.oldest);
      s.spread = std::max(g.newest, d.newest) - s.read_at;
      s.expires_at = std::min(s.expires_at, d.earliest_expiry);
      break;
    }
  }
  if (!mantissa) return absent(absence::out_of_range, cells);
  s.value = {*mantissa, p.result_exponent};
  return s;
}

void finish(const plan& p, sample& s) noexcept {
  if (!p.map || s.reason != absence::none) return;
  const linear& m = *p.map;
  if (m.scale.mantissa < 0) s.sure = mirrored(s.sure);
  const auto scaled = exact::shift(wide{s.value.mantissa} * m.scale.mantissa,
                                   s.value.exponent + m.scale.exponent - m.exponent);
  const auto moved = exact::shift(wide{m.offset.mantissa}, m.offset.exponent - m.exponent);
  wide total = 0;
  const auto mantissa = scaled && moved && !__builtin_add_overflow(*scaled, *moved, &total)
                            ? exact::narrow(total)
                            : std::nullopt;
  if (mantissa) {
    s.value = {*mantissa, m.exponent};
  } else {
    s.value = {};
    s.reason = absence::out_of_range;
  }
}

std::optional<std::int64_t> integral_now(const plan& p, const row& cells) noexcept {
  if (p.integral.empty()) return std::nullopt;
  wide sum = 0;
  for (const plan::term& t : p.integral) {
    const row::raw cell = cells.peek(t.series);
    if (cell.reason != absence::none) return std::nullopt;
    if (__builtin_add_overflow(sum, wide{cell.mantissa} * t.factor, &sum)) return std::nullopt;
  }
  return exact::narrow(sum);
}

}  // namespace binnacle::store
