#include "aggregator/model_servers/reply.hpp"

#include "aggregator/model_servers/question.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::model_servers {
namespace {

/// A model that takes one load at a time often fails in its own code when it gets more. MLServer then answers
/// 500 or INTERNAL, and grpcio's server UNKNOWN.
reply::verdict verdict_of(unsigned http, bool batch) {
  switch (http) {
    case 200: return reply::verdict::answered;
    case 400:
    case 413:
    case 500: return batch ? reply::verdict::too_many : reply::verdict::refused;
    case 429:
    case 502:
    case 503:
    case 504: return reply::verdict::busy;
    default: return reply::verdict::refused;
  }
}

reply::verdict verdict_of(grpc::status s, bool batch) {
  using grpc::status;
  switch (s) {
    case status::ok: return reply::verdict::answered;
    case status::invalid_argument:
    case status::out_of_range:
    case status::internal:
    case status::unknown: return batch ? reply::verdict::too_many : reply::verdict::refused;
    case status::resource_exhausted: return batch ? reply::verdict::too_many : reply::verdict::busy;
    case status::unavailable:
    case status::deadline_exceeded: return reply::verdict::busy;
    default: return reply::verdict::refused;
  }
}

/// `words`: of the server, in quotes; may be empty.
std::string clause_of(std::string_view status, std::string_view words, std::string_view secret,
                      bool unauthenticated) {
  if (secret.empty()) return fmt::format("it answered {}{}{}", status, words.empty() ? "" : " ", words);
  if (!unauthenticated) return fmt::format("it answered {}", status);
  return fmt::format(
      "it answered {}: it does not accept the user name and password of the Secret {}, so correct them",
      status, secret);
}

}  // namespace

reply reply_of(const http::answer& got, std::size_t count, std::string_view secret) {
  const auto is = verdict_of(got.status, count > 1);
  if (is == reply::verdict::answered) return {is, got.body, {}};
  const bool unauthenticated = got.status == 401;
  return {is,
          {},
          clause_of(std::to_string(got.status), refusal_in(got.body), secret, unauthenticated),
          unauthenticated};
}

reply reply_of(const grpc::answer& got, std::size_t count, std::string_view secret) {
  const auto is = verdict_of(got.status, count > 1);
  if (is == reply::verdict::answered) return {is, got.message, {}};
  const bool unauthenticated = got.status == grpc::status::unauthenticated;
  return {is,
          {},
          clause_of(to_string(got.status), got.said.empty() ? "" : in_quotes(got.said, 120), secret,
                    unauthenticated),
          unauthenticated};
}

reply too_large_reply(std::size_t count, std::string why) {
  return {count > 1 ? reply::verdict::too_many : reply::verdict::refused, {}, std::move(why)};
}

}  // namespace binnacle::model_servers
