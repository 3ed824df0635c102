#pragma once

#include <string>
#include <string_view>

namespace binnacle {

/// A DNS-1123 subdomain of at most 253 characters: the form of object names, namespaces and label prefixes.
bool is_dns_subdomain(std::string_view text) noexcept;

/// Whether `text` is valid as the name part of a label key or as a label value: 1 to 63 letters, digits and
/// `-_.`, with a letter or digit at both ends.
bool is_label_name(std::string_view text) noexcept;

/// What is wrong with a label key: "" if nothing, or a clause such as "'a b' is no label key: …". A key is an
/// optional DNS-1123 prefix and '/', then a name. Source:
/// kubernetes.io/docs/concepts/overview/working-with-objects/labels, "Syntax and character set".
std::string label_key_flaw(std::string_view key);

/// The same for a value: a name, or empty.
std::string label_value_flaw(std::string_view value);

}  // namespace binnacle
