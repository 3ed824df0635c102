#include "aggregator/policy/cost/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace binnacle::policy {
namespace {

/// How much of the resource one node takes; none: it does not grow with the fleet.
std::optional<std::uint64_t> per_node(const cost& c, resource r) noexcept {
  if (r == resource::memory) return c.node_bytes;
  if (r == resource::evaluations) return c.node_evaluations;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(resource r) noexcept {
  switch (r) {
    case resource::memory: return "memory";
    case resource::columns: return "columns";
    case resource::label_keys: return "labelKeys";
    case resource::rules: return "rules";
    case resource::evaluations: return "evaluations";
  }
  return "?";
}

std::uint64_t amount_of(const cost& c, resource r, std::size_t nodes) noexcept {
  switch (r) {
    case resource::memory: return c.node_bytes * nodes;
    case resource::columns: return c.columns;
    case resource::label_keys: return c.label_keys;
    case resource::rules: return c.rules;
    case resource::evaluations: return c.node_evaluations * nodes;
  }
  return 0;
}

std::string amount_text(resource r, std::uint64_t amount) {
  const auto counted = [amount](std::string_view one) {
    return fmt::format("{} {}{}", amount, one, amount == 1 ? "" : "s");
  };
  const auto n = static_cast<double>(amount);
  switch (r) {
    case resource::memory:
      return amount < 1ull << 30 ? fmt::format("{:.1f} MiB", n / (1 << 20))
                                 : fmt::format("{:.1f} GiB", n / (1 << 30));
    case resource::columns: return counted("column");
    case resource::label_keys: return counted("label key");
    case resource::rules: return counted("rule");
    case resource::evaluations:
      return amount < 100'000 ? counted("evaluation") + " a second"
                              : fmt::format("{:.1f} million evaluations a second", n / 1e6);
  }
  return {};
}

std::uint64_t cost_limits::of(resource r, scope whose) const noexcept {
  const std::uint64_t whole = r == resource::memory       ? memory_bytes
                              : r == resource::columns    ? columns
                              : r == resource::label_keys ? label_keys
                              : r == resource::rules      ? rules
                                                          : evaluations;
  const unsigned percent = whose == scope::policy       ? policy_percent
                           : whose == scope::name_space ? namespace_percent
                                                        : 100;
  return whole / 100 * percent + whole % 100 * percent / 100;
}

std::optional<resource> cost_limits::exceeded(const cost& c, scope whose, std::size_t nodes) const noexcept {
  for (const resource r : all_resources) {
    if (amount_of(c, r, nodes) > of(r, whose)) return r;
  }
  return std::nullopt;
}

std::size_t cost_limits::most_nodes(const cost& c, scope whose) const noexcept {
  std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const resource r : all_resources) {
    const auto one = per_node(c, r);
    if (one && *one > 0) most = std::min<std::size_t>(most, of(r, whose) / *one);
  }
  return most;
}

std::size_t keep_for_snapshots(cost_limits& limits, bool with_replicas) noexcept {
  const std::uint64_t most = with_replicas ? 3 : 2;
  const std::uint64_t kept = std::min<std::uint64_t>(limits.memory_bytes / 4, most * largest_snapshot);
  limits.memory_bytes -= kept;
  return kept / most;
}

}  // namespace binnacle::policy
