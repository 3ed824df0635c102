#pragma once

#include "aggregator/policy/strategies.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The keys of the labels that deschedule and labeling give, as TAS writes them.
namespace binnacle::policy {

constexpr std::string_view violating_value = "violating";

/// deschedule's key: the policy's name, without prefix or namespace.
std::string deschedule_key(const policy_key& key);
/// labeling's key: "telemetry.aware.scheduling.<policy name>/<label key>".
std::string labeling_key(const policy_key& key, std::string_view label);
/// The name of the policy whose label this key would be.
std::string_view policy_of(std::string_view label_key) noexcept;
/// Whether a label of that key and value can be one that we wrote.
bool can_be_ours(std::string_view label_key, std::string_view value) noexcept;

/// Why a policy of that name may not give labels of that form: the key would look like somebody else's. A
/// clause with the remedy; empty: it may. A key with our prefix never looks like somebody else's.
std::string others_key(std::string_view policy_name, label_form form);

/// Keys of `labels` that rules of different directions give (GreaterThan and LessThan, say), in spec order:
/// where two such rules are true, a node gets no label of the strategy at all.
std::vector<std::string> labels_at_odds(const strategy& s);

}  // namespace binnacle::policy
