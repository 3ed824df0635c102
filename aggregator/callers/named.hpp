#pragma once

#include "common/http/guard.hpp"
#include "common/http/message.hpp"

#include <functional>
#include <string>
#include <vector>

namespace binnacle::callers {

/// A guard for a face that only some certificates of our own authority may use. A caller with such a
/// certificate passes if its common name or one of its DNS names is in `names`; otherwise `how` makes the
/// 403. Callers without such a certificate and requests for health always pass. Whoever passes goes on to the
/// guard `others`; null lets everybody in. So one authority can sign callers of several faces, and each
/// caller can use only its own face. Without names the result is `others`.
http::guard named_only(std::vector<std::string> names, http::guard others,
                       std::function<http::response(std::string_view sentence)> how);

}  // namespace binnacle::callers
