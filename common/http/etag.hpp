#pragma once

#include "common/http/message.hpp"

#include <string_view>

namespace binnacle::http {

/// Whether the asker has what `etag` names already (If-None-Match: a tag, a list of them, or *, compared
/// weakly), so that the answer is 304. Source: RFC 9110, 13.1.2.
bool has_already(const request& r, std::string_view etag) noexcept;

}  // namespace binnacle::http
