#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

/// How a rule compares a value with its target. Everything that depends on the operator is asked here, so
/// that a further operator is an enumerant, a line of facts() and `comparisons`, and its name in the CRD.
namespace binnacle::policy {

enum class comparison : std::uint8_t { less_than, greater_than, equals, less_or_equal, greater_or_equal };

/// Which values an operator is after: the bad ones in a rule, the better ones in scheduleonmetric.
enum class direction : std::uint8_t { smaller, larger, at_target };

struct comparison_facts {
  std::string_view name = {};  ///< as in the manifest
  std::string_view sign = {};
  direction towards = direction::at_target;
  bool at_target = false;  ///< a value that equals the target meets it
};

/// A switch, so that the compiler warns of an enumerant that is missing here. Empty facts for a number that
/// is no enumerant.
constexpr comparison_facts facts(comparison c) noexcept {
  switch (c) {
    case comparison::less_than: return {"LessThan", "<", direction::smaller, false};
    case comparison::greater_than: return {"GreaterThan", ">", direction::larger, false};
    case comparison::equals: return {"Equals", "=", direction::at_target, true};
    case comparison::less_or_equal: return {"LessOrEqual", "<=", direction::smaller, true};
    case comparison::greater_or_equal: return {"GreaterOrEqual", ">=", direction::larger, true};
  }
  return {};
}

/// All of them, in the order in which messages name them.
inline constexpr std::array comparisons{comparison::less_than, comparison::greater_than, comparison::equals,
                                        comparison::less_or_equal, comparison::greater_or_equal};
static_assert(facts(static_cast<comparison>(comparisons.size())).name.empty(),
              "`comparisons` lacks an enumerant that facts() knows");

constexpr std::string_view to_string(comparison c) noexcept { return facts(c).name; }
constexpr std::string_view sign(comparison c) noexcept { return facts(c).sign; }
constexpr direction towards(comparison c) noexcept { return facts(c).towards; }
/// Whether a value at the target meets it.
constexpr bool includes_target(comparison c) noexcept { return facts(c).at_target; }

/// The operator of that name; nothing if there is none.
constexpr std::optional<comparison> comparison_of(std::string_view name) noexcept {
  for (const comparison c : comparisons) {
    if (facts(c).name == name) return c;
  }
  return std::nullopt;
}

/// Whether a value meets the comparison. `order`: of the value to the target.
constexpr bool meets(comparison c, std::strong_ordering order) noexcept {
  if (order == 0) return includes_target(c);
  switch (towards(c)) {
    case direction::larger: return order > 0;
    case direction::smaller: return order < 0;
    case direction::at_target: break;
  }
  return false;
}

/// On which side of its clearing threshold a violated rule clears: "below", "above", or empty where the
/// operator has no such threshold.
constexpr std::string_view clearing_side(comparison c) noexcept {
  switch (towards(c)) {
    case direction::larger: return "below";
    case direction::smaller: return "above";
    case direction::at_target: break;
  }
  return {};
}
/// The field of the manifest that sets this threshold: "clearBelow", "clearAbove", or empty.
constexpr std::string_view clearing_key(comparison c) noexcept {
  switch (towards(c)) {
    case direction::larger: return "clearBelow";
    case direction::smaller: return "clearAbove";
    case direction::at_target: break;
  }
  return {};
}
/// Whether a value is past the clearing threshold, strictly. `order`: of the value to the threshold.
constexpr bool past_clearing(comparison c, std::strong_ordering order) noexcept {
  switch (towards(c)) {
    case direction::larger: return order < 0;
    case direction::smaller: return order > 0;
    case direction::at_target: break;
  }
  return false;
}

}  // namespace binnacle::policy
