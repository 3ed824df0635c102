#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::http {

/// What a client asks.
struct call {
  std::string method = "GET";
  std::string target;  ///< with a leading '/', percent-encoded
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::size_t most_bytes = 16u << 20;  ///< a larger answer is refused
  /// It does no harm when the server gets it twice: then a call that met a connection which the server was
  /// just closing is made again on a new one.
  bool repeatable = true;
};

}  // namespace binnacle::http
