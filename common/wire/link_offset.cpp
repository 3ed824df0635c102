#include "common/wire/link_offset.hpp"

#include <algorithm>

namespace binnacle::wire {

void link_offset::begin(std::string_view boot_id) {
  if (boot_id == boot_id_) return;
  boot_id_ = boot_id;
  least_.clear();
}

void link_offset::add(std::int64_t sent_at_ns, instant received) {
  constexpr std::int64_t bucket_ns = window.count() / buckets;
  const std::int64_t now = to_ns(received), bucket = now / bucket_ns;
  // Two clocks count up from boot and are far from the ends of the range; a liar's may not be.
  std::int64_t offset = 0;
  if (__builtin_sub_overflow(now, sent_at_ns, &offset)) return;
  std::erase_if(least_, [&](const entry& e) { return e.bucket <= bucket - buckets; });
  while (!least_.empty() && least_.back().offset >= offset) least_.pop_back();
  // What is larger than an entry of the same bucket expires with it, so it can never be the minimum.
  if (least_.empty() || least_.back().bucket != bucket) least_.push_back({bucket, offset});
}

instant link_offset::translate(std::int64_t agent_ns, instant now) const noexcept {
  std::int64_t here = 0;
  if (__builtin_add_overflow(agent_ns, offset().count(), &here)) return now;
  return std::min(from_ns(here), now);
}

}  // namespace binnacle::wire
