#pragma once

#include "common/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace binnacle::http {

/// Headers that a server outside wants besides those that we send it by ourselves: a tenant's
/// ("X-Scope-OrgID: team-a"), for example. Each is "NAME: VALUE".
struct more_headers {
  std::vector<std::string> lines;
  std::string file;  ///< of lines; empty: none. Read for every request, since it may be replaced
};

/// `lines` as names and values. At most 32; a name is a token of RFC 9110, a value visible text.
/// Errors: invalid_input, one sentence that names the line by its number or its name: values may be secret.
/// Headers about the connection, the body and who we are belong to us and are refused, and so is one that
/// comes twice.
result<std::vector<std::pair<std::string, std::string>>> read_headers(const std::vector<std::string>& lines);

/// Those of the lines and those of the file. Errors: as read_headers(); what read_file() says. Blocks for a
/// small file.
result<std::vector<std::pair<std::string, std::string>>> headers_of(const more_headers& from);

}  // namespace binnacle::http
