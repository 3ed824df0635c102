#pragma once

#include "common/http/guard.hpp"
#include "common/http/message.hpp"

#include <functional>
#include <string>
#include <vector>

namespace binnacle::callers {

/// A guard that lets holders of a certificate of our own authority on to `others` (null: in) only if the
/// certificate's common name or a DNS name of it is one of `names`; the rest of them are told 403 by `how`.
/// Callers without such a certificate, and requests for health, go on to `others` as they come. So one
/// authority may sign callers of several faces, and each opens its own. No names: `others`.
http::guard named_only(std::vector<std::string> names, http::guard others,
                       std::function<http::response(std::string_view sentence)> how);

}  // namespace binnacle::callers
