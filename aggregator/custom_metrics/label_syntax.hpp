#pragma once

#include <string>
#include <string_view>

namespace binnacle::custom_metrics {

/// What is wrong with a label key ("", or a clause such as "label key 'a b' …"). A key is an optional
/// DNS-1123 prefix of at most 253 characters and '/', then a name of at most 63: alphanumeric at both ends,
/// `-_.` inside. Source: kubernetes.io/docs/concepts/overview/working-with-objects/labels, "Syntax and
/// character set".
std::string label_key_flaw(std::string_view key);

/// The same for a value: at most 63 of that alphabet, or empty.
std::string label_value_flaw(std::string_view value);

}  // namespace binnacle::custom_metrics
