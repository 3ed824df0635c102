#pragma once

#include "common/error.hpp"

#include <string>
#include <utility>
#include <vector>

namespace binnacle::http {

/// Headers that another server wants in addition to those that we send anyway, for example a tenant's
/// ("X-Scope-OrgID: team-a"). Each one is "NAME: VALUE".
struct more_headers {
  std::vector<std::string> lines;
  std::string file;  ///< a file of such lines; empty: none. Read for every request, since it may be replaced
};

/// Splits `lines` into names and values. At most 32; a name is a token of RFC 9110, a value visible text. A
/// header about the connection, the body or who we are is refused, because we set it ourselves; so is a
/// header that is given twice. Errors: invalid_input, one sentence that names the line by its number or its
/// header, never by its value, which may be secret.
result<std::vector<std::pair<std::string, std::string>>> read_headers(const std::vector<std::string>& lines);

/// The headers of the lines and of the file. Errors: those of read_headers() and read_file(). Blocks: reads a
/// small file.
result<std::vector<std::pair<std::string, std::string>>> headers_of(const more_headers& from);

}  // namespace binnacle::http
