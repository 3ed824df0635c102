#pragma once

#include "common/http/message.hpp"

#include <string_view>

namespace binnacle::http {

/// Whether the caller already has the version that `etag` names, so that the answer is 304. If-None-Match is
/// a tag, a list of tags, or *; tags are compared weakly. Source: RFC 9110, 13.1.2.
bool has_already(const request& r, std::string_view etag) noexcept;

}  // namespace binnacle::http
