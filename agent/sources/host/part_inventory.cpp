#include "agent/sources/host/part_inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace binnacle::agent {
namespace {

// The labels by which a source says whether a sensor counts, or in which zone it is, are left out: they
// change when another one comes that measures the whole.
metrics::label_set identity_of(const wire::series_info& s) {
  auto labels = s.labels;
  std::erase_if(labels, [](const auto& l) { return l.first == "scope" || l.first == "inside"; });
  return labels;
}

// Whether the label `sensor` ends with this other label, as in "Input (power supply 1)". The source bmc
// appends the entity, or else the id, while the board gives that name twice.
bool ends_with_label(const metrics::label_set& labels, std::string_view which) {
  return metrics::label_of(labels, "sensor")
      .ends_with(fmt::format(" ({})", metrics::label_of(labels, which)));
}

std::string_view own_name(const metrics::label_set& labels) {
  auto name = metrics::label_of(labels, "sensor");
  for (const std::string_view which : {"entity", "id"}) {
    if (!ends_with_label(labels, which)) continue;
    name.remove_suffix(metrics::label_of(labels, which).size() + std::string_view(" ()").size());
    break;
  }
  return name;
}

// Three answers to the question whether these labels of one family are those of one part, from the surest to
// the least sure.
bool same_labels(const metrics::label_set& a, const metrics::label_set& b) { return a == b; }
bool same_id(const metrics::label_set& a, const metrics::label_set& b) {
  return !metrics::label_of(a, "id").empty() && metrics::label_of(a, "id") == metrics::label_of(b, "id");
}
bool same_sensor(const metrics::label_set& a, const metrics::label_set& b) {
  return !metrics::label_of(a, "id").empty() && own_name(a) == own_name(b) &&
         metrics::label_of(a, "entity") == metrics::label_of(b, "entity");
}

// Whether the part is still on the board, and its source now says that another series contains it. An id
// alone does not show that: the BMC may have given it to another sensor. Nor does a name that two sensors
// have.
bool is_contained(const part_inventory::part& p, std::span<const board::series_ref> found,
                  const board& from) {
  constexpr std::string_view zone_in_another = "os_powercap_part_power_watts";
  const bool alone = !ends_with_label(p.labels, "id");
  for (board::series_ref s = 0; s < from.series().size(); ++s) {
    const auto& e = from.series()[s];
    if (e.removed) continue;
    if (e.info.family == zone_in_another && identity_of(e.info) == p.labels) return true;
    if (e.info.family != p.family || std::ranges::find(found, s) != found.end()) continue;
    const auto labels = identity_of(e.info);
    if (labels == p.labels || (same_sensor(labels, p.labels) && (alone || same_id(labels, p.labels))))
      return true;
  }
  return false;
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
    present_.push_back({.ref = ref, .family = s.family, .labels = identity_of(s)});
  }
  // A name says more than an id. OpenBMC numbers its sensors anew whenever one comes or goes, so that an id
  // may be another sensor's by now. A name changes only with the BMC's firmware; the id is then the same.
  // Each part of now stands for one part of before. If it stood for two, a sum would lack one of them.
  std::vector<bool> taken(present_.size(), false);
  for (const auto same : {same_labels, same_sensor, same_id}) {
    std::erase_if(before, [&](const part& b) {
      for (std::size_t i = 0; i < present_.size(); ++i) {
        auto& p = present_[i];
        if (taken[i] || p.family != b.family || !same(p.labels, b.labels)) continue;
        taken[i] = true;
        p.counted = b.counted;
        if (same == same_id) return true;  // under another name, its silence begins anew
        p.silent_since = b.silent_since;
        p.empty_bay = b.empty_bay;
        return true;
      }
      return false;
    });
  }
  for (auto& b : before) {
    if (b.counted && missing_.size() < most_missing && !is_contained(b, found, from))
      missing_.push_back(std::move(b));
  }
}

void part_inventory::count(std::size_t i) {
  present_[i].counted = true;
  present_[i].empty_bay = false;
}

bool part_inventory::is_empty_bay(std::size_t i, bool silent, instant now, duration wait) {
  auto& p = present_[i];
  if (p.counted) return false;
  if (!silent) {
    p.silent_since.reset();
    return false;
  }
  if (!p.silent_since) p.silent_since = now;
  p.empty_bay = p.empty_bay || now - *p.silent_since >= wait;
  return p.empty_bay;
}

}  // namespace binnacle::agent
