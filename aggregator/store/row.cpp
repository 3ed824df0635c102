#include "aggregator/store/row.hpp"

#include "aggregator/store/exact.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::store {

row::row(std::shared_ptr<const shape> s)
    : shape_(std::move(s)),
      cells_(std::make_unique<cell[]>(shape_->all.size())),
      read_at_ns_(std::make_unique<std::atomic<std::int64_t>[]>(shape_->groups.size())) {}

sample row::load(std::size_t i) const noexcept {
  const std::size_t group = shape_->group_of[i];
  sample s;
  s.read_at = read_at(group);
  s.expires_at = s.read_at + duration(shape_->stale_after_ns[group]);
  const raw now = peek(i);
  s.value = {now.mantissa, shape_->all[i].exponent};
  s.reason = now.reason;
  s.link_down = !linked();
  return s;
}

void row::carry_over(const row& old, std::span<const std::uint32_t> from) {
  const shape& was = *old.shape_;
  // A group takes over the read time of the old group that has the same source and name.
  for (std::size_t g = 0; g < shape_->groups.size(); ++g) {
    const auto same = std::ranges::find_if(was.groups, [&](const wire::group_info& other) {
      return other.source == shape_->groups[g].source && other.name == shape_->groups[g].name;
    });
    if (same != was.groups.end())
      set_read(g, old.read_at(static_cast<std::size_t>(same - was.groups.begin())));
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == nowhere) continue;
    const raw value = old.peek(from[i]);
    const auto scaled = exact::shift(value.mantissa, was.all[from[i]].exponent - shape_->all[i].exponent);
    const auto fits = scaled ? exact::narrow(*scaled) : std::nullopt;
    if (value.reason != absence::none) {
      cells_[i].had_value.store(value.had_value, std::memory_order_relaxed);
      set_absent(i, value.reason);
    } else if (fits) {
      set_value(i, *fits);
    }
  }
  set_last_batch(old.last_batch());
}

}  // namespace binnacle::store
