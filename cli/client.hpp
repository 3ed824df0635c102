#pragma once

#include "cli/connection.hpp"
#include "common/error.hpp"
#include "common/http/response_parser.hpp"
#include "common/tls/context.hpp"

#include <boost/json/value.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::cli {

/// Our TLS settings for a call to that replica: the certificate that we show and the CA that we trust; null
/// for plain HTTP. Reads the PEM files. Errors: invalid_input (also for a token over plain HTTP), not_found,
/// permission; each names the file and the remedy.
result<std::unique_ptr<tls::context>> security_for(const server_url& to, const connection& as);

/// An answer's JSON and its text.
struct json_answer {
  boost::json::value json;
  std::string text;
};
/// Turns a call's outcome into JSON, or into an error for people. Errors: why there was no answer, with a
/// remedy; or the sentence with which the server refused. Pure.
result<json_answer> understood(const server_url& from, result<http::answer> got);

/// "/api/v1/nodes?metric=NAME": every node, with these metrics and those that the aggregator chooses itself.
std::string nodes_target(const std::vector<std::string>& metrics);
/// "/api/v1/nodelabels" asks for the keys of Node objects' labels; with a key, for the nodes that carry each
/// value of it.
std::string labels_target(const std::string& key);

/// The most bytes of one answer: a fleet of 20,000 nodes with all columns.
inline constexpr std::size_t most_answer_bytes = 256u << 20;

/// A blocking HTTPS client for one replica's ops face: one request, one JSON answer.
class client {
 public:
  /// Errors: as security_for().
  static result<client> open(const server_url& to, const connection& as);

  using answer = json_answer;
  /// `target` with a leading '/', percent-encoded. Blocks until `deadline` at most. Errors: as call_for() and
  /// understood().
  result<answer> get(const std::string& target,
                     std::chrono::milliseconds deadline = std::chrono::seconds(5)) const;

  const std::string& url() const noexcept { return to_.url; }

 private:
  client(server_url to, std::unique_ptr<tls::context> security, const connection& as)
      : to_(std::move(to)),
        security_(std::move(security)),
        token_file_(as.token_file),
        server_name_(as.server_name) {}
  server_url to_;
  std::unique_ptr<tls::context> security_;  // null: plain HTTP
  std::string token_file_, server_name_;
};

}  // namespace binnacle::cli
