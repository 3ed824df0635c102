#pragma once

#include "common/error.hpp"
#include "common/http/message.hpp"

#include <string>
#include <string_view>

namespace binnacle::http {

/// Fills target, path and query of `out` from a request target ("/a/b%2Ac?x=1+2" or "http://host/a"). The
/// target is split first and decoded after that; "+" is a space in the query only. Errors: invalid_input (a
/// malformed or NUL percent escape, or neither of the two forms).
result<void> parse_target(std::string_view target, request& out);

/// Decodes percent escapes (RFC 3986 2.1). Errors: invalid_input (a malformed or NUL percent escape).
result<std::string> percent_decoded(std::string_view text);

/// `text`, escaped as one value of a query string.
std::string query_escaped(std::string_view text);

}  // namespace binnacle::http
