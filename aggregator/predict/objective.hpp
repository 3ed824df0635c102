#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace binnacle::predict {

/// By what candidates are ranked.
enum class objective : std::uint8_t {
  best_chord,  ///< the price of a core, from the best chords from the load and from idle on, times the pod's
               ///< cores
  marginal,    ///< what the node draws with the pod, less what it draws now
  wao_v1,      ///< as WAO's first version does, on our curves
  wao_v2,      ///< as its second version does
};
/// Their names in manifests, by `objective`.
inline constexpr std::array<std::string_view, 4> objective_names{"BestChord", "Marginal", "WaoV1", "WaoV2"};
static_assert(objective_names.size() == static_cast<std::size_t>(objective::wao_v2) + 1);

constexpr std::string_view to_string(objective o) noexcept {
  return objective_names[static_cast<std::size_t>(o)];
}

/// WAO knows no cap: its objectives want chords up to all cores.
constexpr bool has_cap(objective o) noexcept {
  switch (o) {
    case objective::best_chord:
    case objective::marginal: return true;
    case objective::wao_v1:
    case objective::wao_v2: break;
  }
  return false;
}

/// Calls `does` with `by` as a std::integral_constant: a loop over many nodes is compiled for each objective,
/// and does not ask for it at each node.
template <class Does>
auto with_constant(objective by, Does does) {
  switch (by) {
    case objective::best_chord: break;
    case objective::marginal: return does(std::integral_constant<objective, objective::marginal>());
    case objective::wao_v1: return does(std::integral_constant<objective, objective::wao_v1>());
    case objective::wao_v2: return does(std::integral_constant<objective, objective::wao_v2>());
  }
  return does(std::integral_constant<objective, objective::best_chord>());
}

}  // namespace binnacle::predict
