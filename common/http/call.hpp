#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::http {

/// A client's request.
struct call {
  std::string method = "GET";
  std::string target;  ///< with a leading '/', percent-encoded
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  std::size_t most_bytes = 16u << 20;  ///< a larger answer is refused
  /// If set, client::ask() gives the body of a 200 to it, piece by piece, and the answer has none.
  std::function<void(std::string_view)> take;
  /// True if it does no harm when the server gets the call twice. If a call meets a connection that the
  /// server is just closing, it is then made again on a new one.
  bool repeatable = true;
};

}  // namespace binnacle::http
