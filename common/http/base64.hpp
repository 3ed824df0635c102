#pragma once

#include "common/error.hpp"

#include <string>
#include <string_view>

namespace binnacle::http {

/// base64 (RFC 4648 4).
std::string to_base64(std::string_view text);
/// Errors: invalid_input.
result<std::string> from_base64(const std::string& text);
/// base64url (RFC 4648 5) without padding, as in a part of a JSON web token. Errors: invalid_input.
result<std::string> from_base64url(std::string_view text);

}  // namespace binnacle::http
