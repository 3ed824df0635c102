#include "aggregator/store/row.hpp"

#include "aggregator/store/exact.hpp"

#include <algorithm>

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

void row::carry_over(const row& old) noexcept {
  const shape& was = *old.shape_;
  // A group's age goes with it only as a whole: the group of the same source and name.
  const auto old_group = [&](std::size_t g) -> const wire::group_info* {
    const auto at = std::find_if(was.groups.begin(), was.groups.end(), [&](const wire::group_info& o) {
      return o.source == shape_->groups[g].source && o.name == shape_->groups[g].name;
    });
    return at == was.groups.end() ? nullptr : &*at;
  };
  for (std::size_t g = 0; g < shape_->groups.size(); ++g) {
    if (const auto* from = old_group(g))
      set_read(g, old.read_at(static_cast<std::size_t>(from - was.groups.data())));
  }
  for (std::size_t i = 0; i < shape_->all.size(); ++i) {
    const shape::series& s = shape_->all[i];
    for (const std::uint32_t candidate : was.of_family(s.family)) {
      const shape::series& from = was.all[candidate];
      if (from.labels != s.labels || old_group(s.group) != &was.groups[from.group]) continue;
      const raw value = old.peek(candidate);
      const auto scaled = exact::shift(value.mantissa, from.exponent - s.exponent);
      const auto fits = scaled ? exact::narrow(*scaled) : std::nullopt;
      if (value.reason != wire::absence::none) {
        set_absent(i, value.reason);
      } else if (fits) {
        set_value(i, *fits);
      }
    }
  }
  set_last_batch(old.last_batch());
}

}  // namespace binnacle::store
