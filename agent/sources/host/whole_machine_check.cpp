#include "agent/sources/host/whole_machine_check.hpp"

#include "agent/sources/power_rules.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::agent {

disbelief whole_machine_check::look(const std::optional<figure>& whole, const witness& other, instant now) {
  watch_least(other, now);
  const bool lacking = lacks_part(other, now);
  if (!whole) {
    if (now - seen_at_ >= settings_.longest_gap) otherwise_since_.reset();
    return for_;
  }
  // A BMC that was away for so long may have been mended, and the true number may be near the dead one.
  if (now - std::exchange(seen_at_, now) > settings_.still_for) lowest_.reset();
  if (settings_.may_hang) watch_for_standing(*whole, other, now);
  const auto found = compare(*whole, other, now);
  // What its other parts say is still the least that the other meter would say, so it may contradict.
  if (lacking && found == disbelief::none) return for_;
  // Without the other meter nobody can say that the figure agrees again.
  const bool unknown =
      found == disbelief::none && for_ == settings_.lower && other.at_least <= 0 && !other.is_void;
  if (found == for_ || unknown) {
    proven_ = proven_ || other.at_least > 0;
    otherwise_since_.reset();
    return for_;
  }
  if (!otherwise_since_) otherwise_since_ = now;
  duration patience{};
  if (found == disbelief::none) {
    patience = settings_.back_after;
  } else if (proven_ && for_ == disbelief::none && found == settings_.lower && !has_collapsed(*whole)) {
    patience = settings_.below_for;
  }
  if (now - *otherwise_since_ < patience) return for_;
  proven_ = true;
  for_ = found;
  otherwise_since_.reset();
  watts_ = whole->watts;
  other_watts_ = other.at_least;
  return for_;
}

// Whether a part of the other meter has no value that had one not long ago. After that the others count
// alone.
bool whole_machine_check::lacks_part(const witness& other, instant now) {
  if (other.which != complete_of_ || other.parts >= complete_parts_ ||
      now - complete_at_ >= settings_.longest_gap) {
    complete_of_ = other.which;
    complete_parts_ = other.parts;
    complete_at_ = now;
  }
  return other.parts < complete_parts_;
}

disbelief whole_machine_check::compare(const figure& whole, const witness& other, instant now) {
  if (no_watts(whole.watts)) return disbelief::zero;
  if (!other.is_void && whole.watts < other.at_least * (1 - settings_.tolerance) - settings_.tolerance_watts)
    return settings_.lower;
  return stands_still(whole, now) ? disbelief::stands_still : disbelief::none;
}

bool whole_machine_check::stands_still(const figure& whole, instant now) const {
  if (!lowest_ || now - stood_since_ < settings_.still_for || reads_ < settings_.still_reads) return false;
  return moved_ >= std::max({settings_.moved_watts, settings_.moved_share * most_mean_.value_or(0),
                             settings_.moved_share_of_whole * whole.watts,
                             settings_.moved_of_figure * (highest_ - *lowest_)});
}

void whole_machine_check::watch_least(const witness& other, instant now) {
  if (other.at_least <= 0 || other.is_void) {
    least_before_.reset();
    least_since_.reset();
    return;
  }
  if (least_since_ && now - *least_since_ < settings_.least_over) {
    least_ = std::min(least_, other.at_least);
    return;
  }
  if (least_since_) least_before_ = least_;
  least_ = other.at_least;
  least_since_ = now;
}

bool whole_machine_check::has_collapsed(const figure& whole) const {
  return least_before_ && whole.watts < settings_.collapsed_share * std::min(*least_before_, least_);
}

void whole_machine_check::begin_standing(const figure& whole, const witness& other, instant now) {
  lowest_ = highest_ = whole.watts;
  stood_since_ = now;
  last_read_ = whole.read_at;
  reads_ = 1;
  moved_ = 0;
  begin_moving(other, now);
}

// Means of other parts cannot be compared with those from before.
void whole_machine_check::begin_moving(const witness& other, instant now) {
  bucket_of_ = other.which;
  bucket_parts_ = other.parts;
  bucket_since_ = now;
  bucket_sum_ = 0;
  bucket_count_ = 0;
  minute_ = {};
  buckets_ = 0;
  least_mean_.reset();
  most_mean_.reset();
}

void whole_machine_check::watch_for_standing(const figure& whole, const witness& other, instant now) {
  if (!lowest_) return begin_standing(whole, other, now);
  const double lowest = std::min(*lowest_, whole.watts), highest = std::max(highest_, whole.watts);
  if (highest - lowest > std::max(settings_.band_watts, settings_.band_share * highest))
    return begin_standing(whole, other, now);
  lowest_ = lowest;
  highest_ = highest;
  if (whole.read_at != last_read_) {
    last_read_ = whole.read_at;
    ++reads_;
  }
  if (other.which != bucket_of_ || other.parts > bucket_parts_) begin_moving(other, now);
  if (!other.is_void && other.parts > 0 && other.parts == bucket_parts_) {
    bucket_sum_ += other.at_least;
    ++bucket_count_;
  }
  if (now - bucket_since_ < settings_.bucket) return;
  // A part that has no value for a moment changes nothing. If it has none for long, the others count alone.
  if (bucket_count_ == 0 && other.parts > 0) return begin_moving(other, now);
  if (bucket_count_ > 0) {
    auto& oldest = minute_[buckets_++ % minute_.size()];
    oldest.mean = bucket_sum_ / static_cast<double>(bucket_count_);
    moved_ = std::max(moved_, oldest.moved);
    if (buckets_ >= minute_.size()) {
      double mean = 0;
      for (const auto& b : minute_) mean += b.mean / static_cast<double>(minute_.size());
      least_mean_ = std::min(least_mean_.value_or(mean), mean);
      most_mean_ = std::max(most_mean_.value_or(mean), mean);
      oldest.moved = *most_mean_ - *least_mean_;
    }
  }
  bucket_since_ = now;
  bucket_sum_ = 0;
  bucket_count_ = 0;
}

}  // namespace binnacle::agent
