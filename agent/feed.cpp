#include "agent/feed.hpp"

namespace binnacle::agent {

wire::catalog feed::announce() {
  wire::catalog out;
  announced_ = out.version = board_.version();
  sent_ = 0;
  series_.clear();
  groups_.clear();
  sent_changes_.clear();

  std::vector<std::uint16_t> place_of_group(board_.groups().size());
  for (std::size_t g = 0; g < board_.groups().size(); ++g) {
    if (board_.groups()[g].removed) continue;
    place_of_group[g] = static_cast<std::uint16_t>(out.groups.size());
    out.groups.push_back(board_.groups()[g].info);
    groups_.push_back(static_cast<board::group_ref>(g));
  }
  for (std::size_t s = 0; s < board_.series().size(); ++s) {
    const board::entry& e = board_.series()[s];
    if (e.removed) continue;
    out.series.push_back(e.info);
    out.series.back().group = place_of_group[e.info.group];
    series_.push_back(static_cast<board::series_ref>(s));
    sent_changes_.push_back(e.changes);
  }
  return out;
}

std::vector<wire::source_status> feed::take_statuses() {
  statuses_sent_ = board_.status_change();
  first_ = false;
  return board_.statuses();
}

void feed::fill(wire::batch& out, bool full) {
  out.full = full;
  out.reads.clear();
  out.values.clear();
  out.absences.clear();
  for (std::size_t place = 0; place < groups_.size(); ++place) {
    const board::group_entry& g = board_.groups()[groups_[place]];
    if (g.read_at == instant{} || (!full && g.changed <= sent_)) continue;
    out.reads.push_back({static_cast<std::uint16_t>(place), to_ns(g.read_at)});
  }
  for (std::size_t place = 0; place < series_.size(); ++place) {
    const board::entry& e = board_.series()[series_[place]];
    if (!full && e.changed <= sent_) continue;
    const auto index = static_cast<std::uint32_t>(place);
    if (e.reason == wire::absence::none) {
      out.values.push_back({index, e.value.mantissa});
    } else {
      out.absences.push_back({index, e.reason});
    }
    const std::uint32_t changes = e.changes - sent_changes_[place];
    if (changes > 1) conflated_ += changes - 1;
    sent_changes_[place] = e.changes;
  }
  sent_ = board_.change();
}

}  // namespace binnacle::agent
