#pragma once

#include <string>
#include <string_view>

namespace binnacle::sender {

/// `plain` in gzip's format, as Content-Encoding: gzip means it. Source: RFC 1952.
std::string gzip(std::string_view plain);

}  // namespace binnacle::sender
