#include "aggregator/store/row.hpp"

#include "aggregator/store/exact.hpp"

#include <map>
#include <string_view>
#include <unordered_map>
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

void row::carry_over(const row& old) {
  const shape& was = *old.shape_;
  // A group's age goes with it only as a whole: the group of the same source and name.
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> old_groups;
  for (std::size_t g = 0; g < was.groups.size(); ++g)
    old_groups.try_emplace({was.groups[g].source, was.groups[g].name}, g);
  std::vector<std::size_t> old_group(shape_->groups.size(), none);
  for (std::size_t g = 0; g < shape_->groups.size(); ++g) {
    const auto at = old_groups.find({shape_->groups[g].source, shape_->groups[g].name});
    if (at == old_groups.end()) continue;
    old_group[g] = at->second;
    set_read(g, old.read_at(at->second));
  }
  // Thousands of series may be of one family.
  std::unordered_multimap<std::size_t, std::uint32_t> old_series;
  old_series.reserve(was.all.size());
  for (std::uint32_t i = 0; i < was.all.size(); ++i)
    old_series.emplace(series_hash(was.all[i].family, was.all[i].labels), i);
  for (std::size_t i = 0; i < shape_->all.size(); ++i) {
    const shape::series& s = shape_->all[i];
    for (auto [at, end] = old_series.equal_range(series_hash(s.family, s.labels)); at != end; ++at) {
      const shape::series& from = was.all[at->second];
      if (from.family != s.family || from.labels != s.labels || old_group[s.group] != from.group) continue;
      const raw value = old.peek(at->second);
      const auto scaled = exact::shift(value.mantissa, from.exponent - s.exponent);
      const auto fits = scaled ? exact::narrow(*scaled) : std::nullopt;
      if (value.reason != absence::none) {
        cells_[i].had_value.store(value.had_value, std::memory_order_relaxed);
        set_absent(i, value.reason);
      } else if (fits) {
        set_value(i, *fits);
      }
    }
  }
  set_last_batch(old.last_batch());
}

}  // namespace binnacle::store
