#include "aggregator/ops/own_metrics_text.hpp"

#include "common/exposition/exposition.hpp"

#include <algorithm>
#include <string_view>

namespace binnacle::ops {

std::string own_metrics_text(const std::vector<own_sample>& samples) {
  std::vector<std::string_view> families;
  for (const own_sample& s : samples) {
    if (std::find(families.begin(), families.end(), s.family) == families.end()) families.push_back(s.family);
  }
  exposition::writer out;
  for (const std::string_view family : families) {
    const metrics::family* known = metrics::find(family);
    if (known == nullptr) continue;
    out.begin(*known);
    for (const own_sample& s : samples) {
      if (s.family != family) continue;
      if (const auto* h = std::get_if<histogram_sample>(&s.value)) {
        out.add_histogram(s.labels, h->upper_bounds, h->counts, h->sum);
      } else if (const auto* d = std::get_if<double>(&s.value)) {
        out.add(s.labels, *d);
      } else {
        out.add(s.labels, std::get<std::uint64_t>(s.value));
      }
    }
  }
  return out.take();
}

}  // namespace binnacle::ops
