#include "aggregator/policy/label_keys.hpp"

#include <algorithm>

namespace binnacle::policy {
namespace {

constexpr std::string_view labeling_prefix = "telemetry.aware.scheduling.";

}  // namespace

std::string deschedule_key(const policy_key& key) { return key.name; }

std::string labeling_key(const policy_key& key, std::string_view label) {
  return std::string(labeling_prefix) + key.name + "/" + std::string(label);
}

std::string_view policy_of(std::string_view label_key) noexcept {
  if (!label_key.starts_with(labeling_prefix)) return label_key;
  label_key.remove_prefix(labeling_prefix.size());
  return label_key.substr(0, label_key.find('/'));
}

bool can_be_ours(std::string_view label_key, std::string_view value) noexcept {
  return value == violating_value || label_key.starts_with(labeling_prefix);
}

std::vector<std::string> labels_at_odds(const strategy& s) {
  std::vector<std::pair<std::string, direction>> first;
  std::vector<std::string> out;
  for (const rule& r : s.rules) {
    for (const auto& [name, value] : r.labels) {
      const auto at = std::ranges::find(first, name, &std::pair<std::string, direction>::first);
      if (at == first.end()) {
        first.emplace_back(name, towards(r.op));
      } else if (at->second != towards(r.op) && std::ranges::find(out, name) == out.end()) {
        out.push_back(name);
      }
    }
  }
  return out;
}

}  // namespace binnacle::policy
