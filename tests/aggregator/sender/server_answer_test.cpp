#include "aggregator/sender/server_answer.hpp"

#include <doctest/doctest.h>

namespace binnacle::sender {
namespace server_answer_test {

http::answer with(unsigned status, std::string body = {}, std::string retry_after = {}) {
  http::answer out;
  out.status = status;
  out.body = std::move(body);
  if (!retry_after.empty()) out.headers.emplace_back("retry-after", retry_after);
  return out;
}

}  // namespace server_answer_test

TEST_SUITE("aggregator/sender/server_answer") {
  using namespace server_answer_test;
  using kind = outcome::kind;

  TEST_CASE("2xx takes a request, 5xx and 429 put it off, everything else refuses it for good") {
    for (const unsigned status : {200u, 202u, 204u})
      CHECK(remote_write_outcome(with(status)).is == kind::taken);
    for (const unsigned status : {429u, 500u, 503u})
      CHECK(remote_write_outcome(with(status)).is == kind::later);
    for (const unsigned status : {301u, 400u, 401u, 404u, 413u, 415u})
      CHECK(remote_write_outcome(with(status)).is == kind::refused);
    CHECK(remote_write_outcome(error{errc::timeout, "too late"}).is == kind::later);
  }

  TEST_CASE("Retry-After counts, five minutes at most; what cannot be read is no wait") {
    const auto wait = [](const char* text) {
      return remote_write_outcome(with(503, "", text)).wait_at_least;
    };
    CHECK(wait("7") == std::chrono::seconds(7));
    CHECK(wait("86400") == std::chrono::minutes(5));
    for (const char* text : {"", "-1", "soon", "7 s", "Wed, 21 Oct 2026 07:28:00 GMT"})
      CHECK(wait(text) == duration::zero());  // the time of a day says nothing where the answer has no Date
  }

  TEST_CASE("a Retry-After that is a time counts from the answer's own clock") {
    const auto wait = [](const char* date, const char* until) {
      http::answer a = with(429, "", until);
      a.headers.emplace_back("date", date);
      return remote_write_outcome(a).wait_at_least;
    };
    const char* now = "Wed, 21 Oct 2026 07:27:50 GMT";
    CHECK(wait(now, "Wed, 21 Oct 2026 07:28:00 GMT") == std::chrono::seconds(10));
    CHECK(wait(now, "Thu, 22 Oct 2026 07:28:00 GMT") == std::chrono::minutes(5));
    CHECK(wait(now, "Wed, 21 Oct 2026 07:27:00 GMT") == duration::zero());
    CHECK(wait(now, "soon") == duration::zero());
    CHECK(wait("today", "Wed, 21 Oct 2026 07:28:00 GMT") == duration::zero());
  }

  TEST_CASE("a refusal says what the server said, shortened to one line, and what to do") {
    CHECK(remote_write_outcome(with(404, "404 page not found\n")).why ==
          "the server refuses samples with 404 (404 page not found): look at the path; Prometheus takes "
          "samples "
          "only with --web.enable-remote-write-receiver");
    CHECK(remote_write_outcome(with(400, std::string(5'000, 'x'))).why.size() < 400);
    CHECK(remote_write_outcome(with(200)).why.empty());
  }

  TEST_CASE("a server that does not say what it has written, or refuses the form, does not know 2.0") {
    http::answer knows = with(204);
    knows.headers.emplace_back("x-prometheus-remote-write-samples-written", "0");
    CHECK_FALSE(is_version_1_server(knows, false));
    CHECK(is_version_1_server(with(204), false));
    CHECK(is_version_1_server(with(200), true));  // an older one took the newer one's place
    CHECK(is_version_1_server(with(415), true));
    CHECK(is_version_1_server(with(400), false));
    CHECK_FALSE(is_version_1_server(with(400), true));  // it refuses samples
    for (const unsigned status : {401u, 404u, 413u, 429u, 500u, 503u})
      CHECK_FALSE(is_version_1_server(with(status), false));
  }
}

}  // namespace binnacle::sender
