#include "agent/base/board.hpp"

#include "agent/base/series_key.hpp"
#include "common/text/utf8.hpp"
#include "common/wire/codec/catalog_check.hpp"
#include "common/wire/limits.hpp"
#include "common/wire/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

namespace binnacle::agent {
namespace {

std::string key_of(board::group_ref group, const std::string& family, const metrics::label_set& labels) {
  return std::to_string(group) + ' ' + series_key(family, labels);
}

std::size_t text_of(const wire::series_info& s) {
  std::size_t bytes = s.family.size() + s.help.size();
  for (const auto& [name, value] : s.labels) bytes += name.size() + value.size();
  return bytes;
}

// A foreign series may change its exponent, and so be announced again, this many times at once. After that it
// may do so once for every `values_for_a_refit` values. The last of these changes is kept for a value that
// does not fit at all.
constexpr std::uint8_t most_refits = 8;
constexpr std::uint8_t values_for_a_refit = 32;

// The finest exponent at which `magnitude` fits an int64 with one digit to spare. The spare digit spares a
// value that grows slowly a new announcement at each step.
std::int8_t finest_exponent(double magnitude) {
  if (magnitude < 1e-9) return -18;
  return static_cast<std::int8_t>(
      std::clamp(static_cast<int>(std::ceil(std::log10(magnitude))) - 17, -18, 18));
}

constexpr std::int8_t finest = -18;

// Whether 10^exponent keeps nine digits of `value`, or as many as any exponent can.
bool holds(double value, std::int8_t exponent) {
  const auto rounded = from_double(value, exponent);
  if (!rounded) return false;
  return std::abs(to_double(*rounded) - value) <= 6e-9 * std::abs(value) ||
         (exponent == finest && rounded->mantissa != 0);
}

// The exponent that suits `value` alone, whatever came before.
std::int8_t own_exponent(double value) {
  const auto natural = natural_exponent(value).value_or(0);
  return holds(value, natural) ? natural : finest;  // natural_exponent() stops at 10^-9
}

}  // namespace

std::uint32_t in_ms(duration d) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(ms, 1, std::numeric_limits<std::uint32_t>::max()));
}

board::group_ref board::add_group(std::string source, std::string name, duration period,
                                  duration stale_after) {
  name = clean_utf8(std::string_view(name).substr(0, wire::max_name));
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto& g = groups_[i];
    if (!g.removed && g.info.source == source && g.info.name == name) return static_cast<group_ref>(i);
  }
  wire::group_info info{std::move(source), std::move(name), in_ms(period), in_ms(stale_after)};
  if (const auto fine = wire::check(info); fine.has_error()) {
    refuse("invalid", fine.error().message);
    return no_group;
  }
  group_ref ref = no_group;
  if (!free_groups_.empty()) {
    ref = free_groups_.back();
    free_groups_.pop_back();
  } else if (groups_.size() < std::min<std::size_t>(most_.groups, no_group)) {
    ref = static_cast<group_ref>(groups_.size());
    groups_.emplace_back();
  } else {
    refuse("bound", fmt::format("more than {} groups of series", most_.groups));
    return no_group;
  }
  groups_[ref] = {};
  groups_[ref].info = std::move(info);
  groups_[ref].since = ++version_;
  return ref;
}

void board::set_period(group_ref g, duration period, duration stale_after) {
  if (g >= groups_.size() || groups_[g].removed) return;
  auto& info = groups_[g].info;
  if (info.period_ms == in_ms(period) && info.stale_after_ms == in_ms(stale_after)) return;
  info.period_ms = in_ms(period);
  info.stale_after_ms = in_ms(stale_after);
  ++version_;
}

void board::remove_group(group_ref g) {
  if (g >= groups_.size() || groups_[g].removed) return;
  for (series_ref s = 0; s < series_.size(); ++s) {
    if (!series_[s].removed && series_[s].info.group == g) remove_series(s);
  }
  groups_[g].removed = true;
  free_groups_.push_back(g);
  ++version_;
}

board::series_ref board::add_series(group_ref group, std::string family, metrics::label_set labels,
                                    std::int8_t exponent, metrics::kind type, std::string help) {
  if (group >= groups_.size() || groups_[group].removed) return no_series;
  for (auto& [name, value] : labels) {
    if (find_invalid_utf8(value) != value.npos) value = clean_utf8(value);
  }
  auto key = key_of(group, family, labels);
  if (const auto found = by_name_.find(key); found != by_name_.end()) return found->second;

  const auto* ours = metrics::find(family);
  entry e;
  e.info.family = std::move(family);
  e.info.labels = std::move(labels);
  e.info.exponent = ours != nullptr ? ours->exponent : exponent;
  e.info.type = ours != nullptr ? ours->type : type;
  e.info.group = group;
  if (ours == nullptr && wire::valid_utf8(help)) e.info.help = std::move(help);
  e.foreign = ours == nullptr;
  if (const auto fine = wire::check(e.info); fine.has_error()) {
    refuse("invalid", fine.error().message);
    return no_series;
  }
  const auto bytes = text_of(e.info);
  if (bytes_ + bytes > most_.bytes) {
    refuse("bound",
           fmt::format("{}: more than {} bytes of names and labels in all", e.info.family, most_.bytes));
    return no_series;
  }

  series_ref ref = no_series;
  if (!free_series_.empty()) {
    ref = free_series_.back();
    free_series_.pop_back();
  } else if (series_.size() < most_.series) {
    ref = static_cast<series_ref>(series_.size());
    series_.emplace_back();
  } else {
    refuse("bound", fmt::format("{}: more than {} series in all", e.info.family, most_.series));
    return no_series;
  }
  bytes_ += bytes;
  e.changed = ++change_;
  e.since = ++version_;
  series_[ref] = std::move(e);
  by_name_.emplace(std::move(key), ref);
  return ref;
}

void board::remove_series(series_ref s) {
  if (s >= series_.size() || series_[s].removed) return;
  auto& e = series_[s];
  bytes_ -= text_of(e.info);
  by_name_.erase(key_of(e.info.group, e.info.family, e.info.labels));
  e = {};
  e.removed = true;
  free_series_.push_back(s);
  ++version_;
}

void board::store(entry& e, decimal value) {
  if (e.withheld != 0) {
    e.behind = value;
    return lose(e, static_cast<absence>(std::countr_zero(e.withheld)));
  }
  if (e.reason == absence::none && e.value.mantissa == value.mantissa && e.value.exponent == value.exponent) {
    return;
  }
  e.value = value;
  e.reason = absence::none;
  e.changed = ++change_;
  ++e.changes;
}

void board::set(series_ref s, double value) {
  if (s >= series_.size() || series_[s].removed) return;
  auto& e = series_[s];
  if (e.foreign && std::isfinite(value)) refit(e, value);
  const auto rounded = from_double(value, e.info.exponent);
  // A small number of one of our own families may round to 0, because the family promises only its
  // resolution. A foreign family promises none, so 0 would be a wrong value.
  if (!rounded || (e.foreign && rounded->mantissa == 0 && value != 0)) {
    set_absent(s, absence::out_of_range);
  } else {
    store(e, *rounded);
  }
}

// Chooses the exponent that keeps nine digits of the present value, whatever came before. Each change of the
// exponent announces the whole catalog again, so the number of changes is bounded. If one exponent fits
// both this value and the largest seen, that one is taken. A series that jumps further than that, again and
// again, stays at the finest exponent that fits its large values.
void board::refit(entry& e, double value) {
  if (e.refits_used > 0 && ++e.values_since == values_for_a_refit) {
    e.values_since = 0;
    --e.refits_used;
  }
  e.largest = std::max(e.largest, std::abs(value));
  if (holds(value, e.info.exponent)) return;
  const bool fits = from_double(value, e.info.exponent).has_value();
  if (e.refits_used >= (fits ? most_refits - 1 : most_refits)) return;
  auto wanted = finest_exponent(e.largest);
  if (fits || e.refits_used == 0) wanted = std::max(wanted, own_exponent(value));
  if (!holds(value, wanted)) {  // the largest costs this value its digits: forget the largest
    e.largest = std::abs(value);
    wanted = own_exponent(value);
  }
  if (wanted == e.info.exponent || !holds(value, wanted)) return;
  ++e.refits_used;
  e.info.exponent = wanted;
  e.since = ++version_;
}

void board::set(series_ref s, std::int64_t mantissa) {
  if (s >= series_.size() || series_[s].removed) return;
  store(series_[s], {mantissa, series_[s].info.exponent});
}

void board::set_absent(series_ref s, absence reason) {
  if (s >= series_.size() || series_[s].removed) return;
  series_[s].behind.reset();
  lose(series_[s], reason);
}

void board::lose(entry& e, absence reason) {
  if (e.reason == reason) return;
  e.reason = reason;
  e.value = {};
  e.changed = ++change_;
  ++e.changes;
}

void board::withhold(series_ref s, absence reason, bool withheld) {
  if (s >= series_.size() || series_[s].removed || series_[s].withheld_for(reason) == withheld) return;
  auto& e = series_[s];
  const auto value = measured(s);
  e.withheld ^= 1u << static_cast<unsigned>(reason);
  e.behind.reset();
  if (value) store(e, *value);
}

std::optional<decimal> board::measured(series_ref s) const {
  const auto& e = series_[s];
  if (e.withheld != 0) return e.behind;
  return e.reason == absence::none ? std::optional(e.value) : std::nullopt;
}

void board::set_without_value(std::string_view source, absence reason) {
  for (series_ref s = 0; s < series_.size(); ++s) {
    const auto& e = series_[s];
    if (e.removed || (e.reason != absence::none && e.reason != absence::not_read_yet)) continue;
    if (groups_[e.info.group].info.source == source) set_absent(s, reason);
  }
}

void board::mark_read(group_ref g, instant when) {
  if (g >= groups_.size() || groups_[g].removed) return;
  if (when < instant{}) {  // the wire would refuse every batch with it
    return refuse("invalid", groups_[g].info.source + ": a reading from before this machine's start");
  }
  groups_[g].read_at = when;
  groups_[g].changed = ++change_;
}

void board::count_refused(std::string_view reason, std::uint64_t times) {
  for (auto& r : refused_) {
    if (r.reason != reason) continue;
    r.count += times;
    return;
  }
  refused_.push_back({reason, times});
}

void board::refuse(std::string_view reason, std::string sentence) {
  count_refused(reason);
  last_refusal_ = std::move(sentence);
  ++refusals_;
}

void board::set_status(std::string source, bool ok, std::string message) {
  for (auto& s : statuses_) {
    if (s.source != source) continue;
    if (s.ok == ok && s.message == message) return;
    s.ok = ok;
    s.message = std::move(message);
    ++status_change_;
    return;
  }
  statuses_.push_back({std::move(source), ok, std::move(message)});
  ++status_change_;
}

}  // namespace binnacle::agent
