#include "agent/uplink/feed.hpp"

#include "common/metrics/families.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::agent {

wire::catalog feed::announce() {
  wire::catalog out;
  announced_ = out.version = current_version();
  board_version_ = board_.version();
  seen_ = 0;
  series_.clear();
  group_of_series_.clear();
  groups_.clear();
  sent_changes_.clear();
  next_ = 0;
  left_out_ = false;

  std::vector<std::uint16_t> place_of_group(board_.groups().size());
  for (std::size_t g = 0; g < board_.groups().size(); ++g) {
    if (board_.groups()[g].removed) continue;
    place_of_group[g] = static_cast<std::uint16_t>(out.groups.size());
    out.groups.push_back(board_.groups()[g].info);
    groups_.push_back({.of = static_cast<board::group_ref>(g)});
  }
  for (std::size_t s = 0; s < board_.series().size(); ++s) {
    const board::entry& e = board_.series()[s];
    if (e.removed) continue;
    out.series.push_back(e.info);
    const auto place = out.series.back().group = place_of_group[e.info.group];
    series_.push_back(static_cast<board::series_ref>(s));
    group_of_series_.push_back(place);
    sent_changes_.push_back(e.changes);
    if (!groups_[place].watched) groups_[place].watched = pace_.watched(e.info.family);
  }
  for (std::size_t place = 0; place < groups_.size(); ++place) {
    const int doublings = pace_.doublings(groups_[place].watched);
    if (doublings == 0) continue;
    // If a receiver gets the group less often, the group must also become stale later.
    wire::group_info& info = out.groups[place];
    const duration longer = std::chrono::milliseconds(std::uint64_t{info.period_ms} << doublings);
    groups_[place].wait = longer;
    info.period_ms = in_ms(longer);
    info.stale_after_ms = std::max(info.stale_after_ms, in_ms(metrics::stale_after(longer)));
  }
  return out;
}

std::vector<wire::source_status> feed::take_statuses() {
  statuses_sent_ = board_.status_change();
  first_ = false;
  return board_.statuses();
}

bool feed::choose(bool full, instant now) {
  std::size_t taken = 0;
  for (group_state& g : groups_) {
    g.its_turn = full || g.wait == duration::zero() || now >= g.due;
    g.pending = 0;
  }
  for (std::size_t place = 0; place < series_.size(); ++place) {
    group_state& g = groups_[group_of_series_[place]];
    const board::entry& e = board_.series()[series_[place]];
    if (e.changed > g.sent && !is_other(e)) ++g.pending;
  }
  if (full) return true;
  for (const group_state& g : groups_) {
    if (g.watched && g.its_turn) taken += g.pending;
  }
  // Begin with the group that the last batch had no room for, whatever its size. Otherwise watched groups
  // could keep it waiting for ever.
  bool room = true, first = std::exchange(left_out_, false);
  for (std::size_t i = 0, from = next_; i < groups_.size(); ++i) {
    const std::size_t place = (from + i) % groups_.size();
    group_state& g = groups_[place];
    if (g.watched || !g.its_turn || g.pending == 0) continue;
    room = room && (first || taken == 0 || taken + g.pending <= most_at_once);
    first = false;
    if (room) {
      taken += g.pending;
      continue;
    }
    g.its_turn = false;
    if (!left_out_) next_ = place;
    left_out_ = true;
  }
  return !left_out_;
}

bool feed::fill(wire::batch& out, bool full, instant now) {
  out.full = full;
  out.reads.clear();
  out.values.clear();
  out.absences.clear();
  const bool all_taken = choose(full, now);
  std::size_t all = 0, watched = 0;
  const auto count = [&](const group_state& g) {
    ++all;
    if (g.watched) ++watched;
  };
  for (std::size_t place = 0; place < groups_.size(); ++place) {
    group_state& state = groups_[place];
    const board::group_entry& g = board_.groups()[state.of];
    if (!state.its_turn || is_other(g) || g.read_at == instant{} || (!full && g.changed <= state.sent))
      continue;
    out.reads.push_back({static_cast<std::uint16_t>(place), to_ns(g.read_at)});
    // A send counts as due half a period before its time, because ticks are not exact.
    state.due = now + state.wait - std::chrono::milliseconds(g.info.period_ms) / 2;
    count(state);
  }
  for (std::size_t place = 0; place < series_.size(); ++place) {
    const group_state& state = groups_[group_of_series_[place]];
    const board::entry& e = board_.series()[series_[place]];
    if (!state.its_turn || is_other(e) || (!full && e.changed <= state.sent)) continue;
    const auto index = static_cast<std::uint32_t>(place);
    if (e.reason == absence::none) {
      out.values.push_back({index, e.value.mantissa});
    } else {
      out.absences.push_back({index, e.reason});
    }
    const std::uint32_t changes = e.changes - sent_changes_[place];
    if (changes > 1) conflated_ += changes - 1;
    sent_changes_[place] = e.changes;
    count(state);
  }
  for (group_state& g : groups_) {
    if (g.its_turn) g.sent = board_.change();
  }
  if (all_taken) seen_ = board_.change();
  watched_share_ = all == 0 ? 0 : watched * 1000 / all;
  return full || all > 0;
}

}  // namespace binnacle::agent
