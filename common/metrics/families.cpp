#include "common/metrics/families.hpp"

#include "common/metrics/families_agent.hpp"
#include "common/metrics/families_aggregator.hpp"
#include "common/metrics/families_bmc.hpp"
#include "common/metrics/families_host.hpp"
#include "common/metrics/families_network.hpp"
#include "common/metrics/families_os.hpp"
#include "common/metrics/families_path.hpp"
#include "common/metrics/families_pmu.hpp"
#include "common/metrics/families_rapl.hpp"
#include "common/metrics/families_rdt.hpp"
#include "common/metrics/families_sensors.hpp"
#include "common/metrics/families_textfile.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>

namespace binnacle::metrics {
namespace {

constexpr auto family_tables = [] {
  using namespace tables;
  // The empty comments keep each table on a line of its own.
  return std::array{
      std::span<const family>(agent),       //
      std::span<const family>(aggregator),  //
      std::span<const family>(bmc),         //
      std::span<const family>(host),        //
      std::span<const family>(network),     //
      std::span<const family>(os),          //
      std::span<const family>(path),        //
      std::span<const family>(pmu),         //
      std::span<const family>(pmu_events),  //
      std::span<const family>(pmu_pods),    //
      std::span<const family>(rapl),        //
      std::span<const family>(rdt),         //
      std::span<const family>(sensors),     //
      std::span<const family>(textfile),    //
  };
}();

/// All families in one array, sorted by name, at compile time.
constexpr auto sorted_families = [] {
  constexpr std::size_t count = [] {
    std::size_t sum = 0;
    for (const auto& table : family_tables) sum += table.size();
    return sum;
  }();
  std::array<family, count> all{};
  auto next = all.begin();
  for (const auto& table : family_tables) next = std::ranges::copy(table, next).out;
  std::ranges::sort(all, {}, &family::name);
  return all;
}();

/// `value` in lower case. Each run of characters other than [a-z0-9] becomes one "_", and there is none at
/// the ends.
std::string flattened(std::string_view value) {
  std::string out;
  bool gap = false;
  for (char c : value) {
    c = lowered(c);
    if (!is_digit(c) && !(c >= 'a' && c <= 'z')) {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += '_';
    gap = false;
    out += c;
  }
  return out;
}

}  // namespace

std::span<const family> families() noexcept { return sorted_families; }

const family* find(std::string_view name) noexcept {
  const auto at = std::ranges::lower_bound(sorted_families, name, {}, &family::name);
  return at != sorted_families.end() && at->name == name ? &*at : nullptr;
}

std::string_view label_of(const label_set& labels, std::string_view name) noexcept {
  const auto at = std::ranges::find(labels, name, &label_set::value_type::first);
  return at == labels.end() ? std::string_view() : std::string_view(at->second);
}

label_set flat_labels(const family& f, const label_set& labels) {
  if (f.flat_labels == 0) return labels;
  const auto named = f.labels.first(std::min(f.flat_labels, f.labels.size()));
  label_set kept;
  for (const auto& l : labels) {
    if (std::ranges::count(named, l.first) > 0) kept.push_back(l);
  }
  return kept;
}

std::string flat_name(std::string_view family, const label_set& labels) {
  std::string out(family);
  if (labels.empty()) return out;
  for (const auto& [name, value] : labels) {
    const std::string part = flattened(value);
    if (!part.empty()) out.append(1, '_').append(part);
  }
  return out.size() == family.size() ? std::string() : out;
}

}  // namespace binnacle::metrics
