#include "common/metrics/plausible.hpp"

#include "common/metrics/family_of.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace binnacle::metrics {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

struct unit_range {
  std::string_view unit;
  plausible_range is;
};

// Watts: the limit is a whole rack of 100 kW. Bytes: no CPU addresses more than 2^56. Rates: 8,192 CPUs at 10
// GHz count 10^14 cycles. `apart`: the difference between an idle and a busy server, a cool and a hot one, a
// sleeping and a running Arm core.
constexpr unit_range by_unit[] = {
    {"amperes", {-10'000, 10'000}}, {"bytes", {0, 1e17}},      {"bytes_per_second", {0, 1e15}},
    {"celsius", {-100, 300, 50}},   {"hertz", {0, 1e11, 5e9}}, {"per_second", {0, 1e15}},
    {"ratio", {0, 1, 1}},           {"rpm", {0, 1e6, 20'000}}, {"volts", {-1'000, 1'000}},
    {"watts", {0, 100'000, 500}},
};

}  // namespace

plausible_range plausible(const family& f) noexcept {
  if (f.plausible) return *f.plausible;
  // A counter grows from zero without end; counts and times are never below zero.
  if (f.type != kind::counter) {
    for (const unit_range& row : by_unit) {
      if (row.unit == f.unit) return row.is;
    }
  }
  return {0, endless};
}

plausible_range plausible(const resolved& name) {
  const family* f = family_meant(name.family);
  if (f == nullptr) return {};
  const plausible_range r = plausible(*f);
  const double a = name.scale * r.least + name.offset, b = name.scale * r.most + name.offset;
  return {std::min(a, b), std::max(a, b), std::abs(name.scale) * r.apart};
}

std::string plausible_text(const family& f) {
  const plausible_range r = plausible(f);
  if (std::isinf(r.least) && std::isinf(r.most)) return {};
  if (std::isinf(r.most)) return fmt::format("{} is never below {}", f.name, plain(r.least));
  if (f.plausible) return fmt::format("{} is between {} and {}", f.name, plain(r.least), plain(r.most));
  if (f.unit == "ratio") return "a ratio is between 0 and 1";
  return fmt::format("{} of a node lie between {} and {}", f.unit, plain(r.least), plain(r.most));
}

}  // namespace binnacle::metrics
