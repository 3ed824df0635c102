#include "common/wire/link_offset.hpp"

#include <algorithm>

namespace binnacle::wire {

void link_offset::recent_least::add(std::int64_t span, instant at) {
  constexpr std::int64_t bucket_ns = window.count() / buckets;
  const std::int64_t bucket = to_ns(at) / bucket_ns;
  std::erase_if(entries_, [&](const entry& e) { return e.bucket <= bucket - buckets; });
  while (!entries_.empty() && entries_.back().span >= span) entries_.pop_back();
  // Within a bucket only the least span counts: a larger one would expire at the same time, so it can never
  // be the minimum.
  if (entries_.empty() || entries_.back().bucket != bucket) entries_.push_back({bucket, span});
}

void link_offset::begin(std::string_view boot_id) {
  if (boot_id == boot_id_) return;
  *this = {};
  boot_id_ = boot_id;
}

// Honest clocks count up from boot, so nothing overflows here. The numbers of a lying agent may overflow.
bool link_offset::add(std::int64_t sent_at_ns, instant received) {
  constexpr int many = 8;
  constexpr duration pause = std::chrono::seconds(16);
  std::int64_t span = 0, late = 0;
  if (__builtin_sub_overflow(to_ns(received), sent_at_ns, &span)) return false;
  back_.add(span, received);
  const bool is_late = !__builtin_sub_overflow(span, *back_.least(), &late) && duration(late) > tolerance;
  late_ = is_late ? std::min(late_ + 1, many) : 0;
  if (late_ < many || received < quiet_until_) return false;
  quiet_until_ = received + pause;
  return true;
}

auto link_offset::heard(instant asked, std::int64_t heard_at_ns, instant received) -> agreement {
  std::int64_t there = 0, back = 0, both = 0;
  if (__builtin_sub_overflow(heard_at_ns, to_ns(asked), &there) ||
      __builtin_sub_overflow(to_ns(received), heard_at_ns, &back))
    return agreement::yes;
  there_.add(there, received);
  if (!back_.least()) return agreement::yes;
  // The sum is the time that messages need there and back. It is negative only if a clock changed its pace.
  const bool wraps = __builtin_add_overflow(*there_.least(), *back_.least(), &both);
  const bool contradict = wraps ? *there_.least() < 0 : duration(both) < -tolerance;
  contradictions_ = contradict ? contradictions_ + 1 : 0;
  if (!contradict) return agreement::yes;
  if (contradictions_ < answers) return agreement::no;
  back_ = {};
  there_ = {};
  contradictions_ = late_ = 0;
  back_.add(back, received);
  there_.add(there, received);
  return agreement::restarted;
}

duration link_offset::offset() const noexcept {
  const auto most = back_.least(), there = there_.least();
  if (!most || !there) return duration(most.value_or(0));
  // The lower bound exceeds the upper one only if the clocks drift apart or the agent lies.
  return duration(std::min(-*there, *most));
}

}  // namespace binnacle::wire
