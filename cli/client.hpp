#pragma once

#include "cli/connection.hpp"
#include "common/error.hpp"
#include "common/tls/context.hpp"

#include <boost/json/value.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::cli {

/// A blocking HTTPS client for one replica's ops face: one request, one JSON answer.
class client {
 public:
  /// Reads the PEM files. Errors: invalid_input, not_found, permission, each with the file and the remedy.
  static result<client> open(const endpoint& to, const tls::files& pem);

  /// The answer's JSON and its text. `target` with a leading '/', percent-encoded.
  struct answer {
    boost::json::value json;
    std::string text;
  };
  /// Blocks until `deadline` at most. Errors: what kept it from an answer, or the sentence of the server's
  /// refusal.
  result<answer> get(const std::string& target,
                     std::chrono::milliseconds deadline = std::chrono::seconds(5)) const;

  const std::string& url() const noexcept { return to_.url; }

 private:
  client(endpoint to, std::unique_ptr<tls::context> security)
      : to_(std::move(to)), security_(std::move(security)) {}
  endpoint to_;
  std::unique_ptr<tls::context> security_;  // null: plain HTTP
};

}  // namespace binnacle::cli
