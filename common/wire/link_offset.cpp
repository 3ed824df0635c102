#include "common/wire/link_offset.hpp"

#include <algorithm>

namespace binnacle::wire {

void link_offset::recent_least::add(std::int64_t span, instant at) {
  constexpr std::int64_t bucket_ns = window.count() / buckets;
  const std::int64_t bucket = to_ns(at) / bucket_ns;
  std::erase_if(entries_, [&](const entry& e) { return e.bucket <= bucket - buckets; });
  while (!entries_.empty() && entries_.back().span >= span) entries_.pop_back();
  // What is larger than an entry of the same bucket expires with it, so it can never be the minimum.
  if (entries_.empty() || entries_.back().bucket != bucket) entries_.push_back({bucket, span});
}

void link_offset::begin(std::string_view boot_id) {
  if (boot_id == boot_id_) return;
  boot_id_ = boot_id;
  back_ = {};
  there_ = {};
}

// Two clocks count up from boot and are far from the ends of the range; a liar's may not be.
void link_offset::add(std::int64_t sent_at_ns, instant received) {
  std::int64_t span = 0;
  if (!__builtin_sub_overflow(to_ns(received), sent_at_ns, &span)) back_.add(span, received);
}

void link_offset::heard(instant asked, std::int64_t heard_at_ns, instant received) {
  std::int64_t span = 0;
  if (!__builtin_sub_overflow(heard_at_ns, to_ns(asked), &span)) there_.add(span, received);
}

duration link_offset::offset() const noexcept {
  const auto most = back_.least(), there = there_.least();
  if (!most || !there) return duration(most.value_or(0));
  // An agent cannot have heard what was not sent yet: then the clocks drift apart, or it lies.
  return duration(std::min(-*there, *most));
}

instant link_offset::translate(std::int64_t agent_ns, instant now) const noexcept {
  std::int64_t here = 0;
  if (__builtin_add_overflow(agent_ns, offset().count(), &here)) return now;
  return std::min(from_ns(here), now);
}

}  // namespace binnacle::wire
