#include "agent/sources/host/part_inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace binnacle::agent {
namespace {

// The label by which the source bmc says whether a sensor counts is left out: it changes when another sensor
// comes that measures the whole.
metrics::label_set identity_of(const wire::series_info& s) {
  auto labels = s.labels;
  std::erase_if(labels, [](const auto& l) { return l.first == "scope"; });
  return labels;
}

// Whether these labels of one family are those of one part. A sensor of a BMC has its id for good, while its
// name grows and shrinks: "Input" is "Input (power supply 1)" when another one of that name comes.
bool same_part(const metrics::label_set& a, const metrics::label_set& b) {
  const auto id = metrics::label_of(a, "id"), other = metrics::label_of(b, "id");
  return id.empty() || other.empty() ? a == b : id == other;
}

// Whether the part is still there, and its source now says that another series contains it.
bool is_contained(const part_inventory::part& p, const board& from) {
  constexpr std::string_view zone_in_another = "os_powercap_part_power_watts";
  return std::ranges::any_of(from.series(), [&](const board::entry& e) {
    if (e.removed) return false;
    if (e.info.family == p.family) return same_part(identity_of(e.info), p.labels);
    return e.info.family == zone_in_another && identity_of(e.info) == p.labels;
  });
}

}  // namespace

std::string part_inventory::part::name() const {
  std::string out = family;
  for (const auto& [label, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.size() == family.size() ? "{" : ",", label, value);
  return labels.empty() ? out : out + "}";
}

void part_inventory::take_stock(std::span<const board::series_ref> found, const board& from) {
  auto before = std::exchange(present_, {});
  std::ranges::move(std::exchange(missing_, {}), std::back_inserter(before));
  for (const auto ref : found) {
    const auto& s = from.series()[ref].info;
    present_.push_back({ref, false, s.family, identity_of(s)});
  }
  for (auto& b : before) {
    if (!b.counted) continue;
    const auto at = std::ranges::find_if(
        present_, [&b](const part& p) { return p.family == b.family && same_part(p.labels, b.labels); });
    if (at != present_.end()) {
      at->counted = true;
    } else if (missing_.size() < most_missing && !is_contained(b, from)) {
      missing_.push_back(std::move(b));
    }
  }
}

}  // namespace binnacle::agent
