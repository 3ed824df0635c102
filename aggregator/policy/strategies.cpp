#include "aggregator/policy/strategies.hpp"

#include "aggregator/policy/strategies/deschedule.hpp"
#include "aggregator/policy/strategies/dontschedule.hpp"
#include "aggregator/policy/strategies/labeling.hpp"
#include "aggregator/policy/strategies/minimizepower.hpp"
#include "aggregator/policy/strategies/scheduleonmetric.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace binnacle::policy {
namespace {

constexpr std::array all{&dontschedule, &scheduleonmetric, &deschedule, &labeling, &minimizepower};

constexpr bool in_order_of_kinds() {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->kind != static_cast<strategy_kind>(i)) return false;
  }
  return true;
}
static_assert(in_order_of_kinds());

}  // namespace

std::span<const strategy_description* const> strategies() noexcept { return all; }

const strategy_description& description_of(strategy_kind k) noexcept {
  return *all[static_cast<std::size_t>(k)];
}

namespace {

template <class Fits>
std::string names_where(Fits fits, std::string_view last) {
  std::vector<std::string_view> names;
  for (const strategy_description* s : all) {
    if (fits(*s)) names.push_back(s->name);
  }
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? fmt::format(" {} ", last) : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace

std::string names_of(std::optional<yield> what, std::string_view last) {
  return names_where([what](const strategy_description& s) { return !what || s.yields == *what; }, last);
}

std::string names_with_on_missing() {
  return names_where([](const strategy_description& s) { return s.on_missing.has_value(); }, "and");
}

}  // namespace binnacle::policy
