#include "aggregator/ops/own_metrics_text.hpp"

#include <utility>

namespace binnacle::ops {

own_text::family* own_text::find(std::string_view name) {
  const auto at = places_.find(name);
  if (at != places_.end()) return &families_[at->second];
  const metrics::family* known = metrics::find(name);
  if (known == nullptr) return nullptr;
  places_.emplace(known->name, families_.size());
  return &families_.emplace_back(family{known, {}});
}

void own_text::add(std::vector<own_sample> samples) {
  const std::vector<own_sample>& all = kept_.emplace_back(std::move(samples));
  family* last = nullptr;  // most samples follow one of the same family
  for (const own_sample& s : all) {
    if (last == nullptr || last->known->name != s.family) last = find(s.family);
    if (last != nullptr) last->samples.push_back(&s);
  }
}

bool own_text::write(std::size_t samples) {
  for (; family_ < families_.size() && samples > 0; --samples) {
    const family& f = families_[family_];
    if (sample_ == 0) out_.begin(*f.known);
    const own_sample& s = *f.samples[sample_];
    if (const auto* h = std::get_if<histogram_sample>(&s.value)) {
      out_.add_histogram(s.labels, h->upper_bounds, h->counts, h->sum);
    } else if (const auto* d = std::get_if<double>(&s.value)) {
      out_.add(s.labels, *d);
    } else {
      out_.add(s.labels, std::get<std::uint64_t>(s.value));
    }
    if (++sample_ < f.samples.size()) continue;
    sample_ = 0;
    ++family_;
  }
  pieces_.push_back(out_.take());
  return family_ < families_.size();
}

}  // namespace binnacle::ops
