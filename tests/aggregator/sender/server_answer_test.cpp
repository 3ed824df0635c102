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

http::answer that_wrote(const char* samples, unsigned status) {
  http::answer out = with(status);
  out.headers.emplace_back("x-prometheus-remote-write-samples-written", samples);
  return out;
}

}  // namespace server_answer_test

TEST_SUITE("aggregator/sender/server_answer") {
  using namespace server_answer_test;
  using kind = outcome::kind;

  TEST_CASE("2xx takes a request, 5xx and 429 put it off, everything else refuses it for good") {
    for (const unsigned status : {200u, 202u, 204u})
      CHECK(remote_write_outcome(with(status), 40).is == kind::taken);
    for (const unsigned status : {429u, 500u, 503u})
      CHECK(remote_write_outcome(with(status), 40).is == kind::later);
    for (const unsigned status : {301u, 400u, 401u, 404u, 413u, 415u})
      CHECK(remote_write_outcome(with(status), 40).is == kind::refused);
    CHECK(remote_write_outcome(error{errc::timeout, "too late"}, 40).is == kind::later);
  }

  TEST_CASE("content may be the reason of a refusal or a failure, but not where load, rights or size are") {
    for (const unsigned status : {400u, 409u, 422u, 500u, 502u, 504u})
      CHECK(remote_write_outcome(with(status), 40).of_content);
    for (const unsigned status : {200u, 401u, 403u, 404u, 413u, 415u, 429u, 503u})
      CHECK_FALSE(remote_write_outcome(with(status), 40).of_content);
    CHECK_FALSE(remote_write_outcome(with(500, "", "7"), 40).of_content);
    CHECK_FALSE(remote_write_outcome(error{errc::timeout, "too late"}, 40).of_content);
  }

  TEST_CASE("Retry-After counts, five minutes at most; what cannot be read is no wait") {
    const auto wait = [](const char* text) {
      return remote_write_outcome(with(503, "", text), 40).wait_at_least;
    };
    CHECK(wait("7") == std::chrono::seconds(7));
    CHECK(wait("86400") == std::chrono::minutes(5));
    for (const char* text : {"", "-1", "soon", "7 s", "Wed, 21 Oct 2026 07:28:00 GMT"})
      CHECK(wait(text) == duration::zero());  // a time is of no use without the answer's Date
  }

  TEST_CASE("a Retry-After that is a time counts from the answer's own clock") {
    const auto wait = [](const char* date, const char* until) {
      http::answer a = with(429, "", until);
      a.headers.emplace_back("date", date);
      return remote_write_outcome(a, 40).wait_at_least;
    };
    const char* now = "Wed, 21 Oct 2026 07:27:50 GMT";
    CHECK(wait(now, "Wed, 21 Oct 2026 07:28:00 GMT") == std::chrono::seconds(10));
    CHECK(wait(now, "Thu, 22 Oct 2026 07:28:00 GMT") == std::chrono::minutes(5));
    CHECK(wait(now, "Wed, 21 Oct 2026 07:27:00 GMT") == duration::zero());
    CHECK(wait(now, "soon") == duration::zero());
    CHECK(wait("today", "Wed, 21 Oct 2026 07:28:00 GMT") == duration::zero());
  }

  TEST_CASE("a refusal says what the server said, shortened to one line, and what to do") {
    CHECK(remote_write_outcome(with(404, "404 page not found\n"), 40).why ==
          "the server refuses samples with 404 (404 page not found): look at the path; Prometheus takes "
          "samples "
          "only with --web.enable-remote-write-receiver");
    CHECK(remote_write_outcome(with(400, std::string(5'000, 'x')), 40).why.size() < 400);
    CHECK(remote_write_outcome(with(200), 40).why.empty());
  }

  TEST_CASE("what a server says it has written counts, of a request that it refuses as well") {
    for (const unsigned status : {200u, 400u}) {
      CAPTURE(status);
      const bool taken = status == 200;
      CHECK(remote_write_outcome(with(status), 40).left_out == (taken ? 0 : 40));
      CHECK(remote_write_outcome(that_wrote("39", status), 40).left_out == 1);
      CHECK(remote_write_outcome(that_wrote("0", status), 40).left_out == 40);
      CHECK(remote_write_outcome(that_wrote("41", status), 40).left_out == 0);
      for (const char* no_number : {"", "-1", "3 of 4", "1e1"})
        CHECK(remote_write_outcome(that_wrote(no_number, status), 40).left_out == (taken ? 0 : 40));
    }
    CHECK(remote_write_outcome(that_wrote("39", 400), 40).why ==
          "the server refuses some samples with 400: its log says which samples it refuses");
    CHECK(remote_write_outcome(that_wrote("39", 200), 40).why ==
          "the server leaves out some samples: its log says which");
    CHECK(remote_write_outcome(that_wrote("39", 503), 40).is == kind::later);  // all of it again
  }

  TEST_CASE("a server that must take 2.0 and says nothing of what it wrote has written nothing") {
    const auto silent = remote_write_2_outcome(with(204), 40);
    CHECK(silent.is == kind::refused);
    CHECK(silent.left_out == 40);
    CHECK(silent.why.find("--remote-write-version") != std::string::npos);
    CHECK(remote_write_2_outcome(that_wrote("40", 204), 40).is == kind::taken);
    CHECK(remote_write_2_outcome(with(503), 40).is == kind::later);
  }

  TEST_CASE("a server that says what it has written knows 2.0, whether it takes or refuses") {
    using sign = version_sign;
    for (const unsigned status : {204u, 400u, 422u, 500u})
      CHECK(sign_of_version_2(that_wrote("0", status)) == sign::knows);
    for (const unsigned status : {200u, 204u, 415u}) CHECK(sign_of_version_2(with(status)) == sign::lacks);
    for (const unsigned status : {400u, 406u, 422u}) CHECK(sign_of_version_2(with(status)) == sign::refuses);
    for (const unsigned status : {500u, 501u, 502u, 503u})
      CHECK(sign_of_version_2(with(status)) == sign::fails);
    CHECK(sign_of_version_2(with(503, "", "5")) == sign::none);
    for (const unsigned status : {301u, 401u, 403u, 404u, 413u, 429u})
      CHECK(sign_of_version_2(with(status)) == sign::none);
  }
}

}  // namespace binnacle::sender
