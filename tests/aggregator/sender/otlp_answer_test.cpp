#include "aggregator/sender/otlp_answer.hpp"

#include <doctest/doctest.h>

#include <string>

namespace binnacle::sender {
namespace otlp_answer_test {

http::answer with(unsigned status, std::string body = {}, std::string type = "application/x-protobuf",
                  std::string retry_after = {}) {
  http::answer out;
  out.status = status;
  out.body = std::move(body);
  out.headers.emplace_back("content-type", std::move(type));
  if (!retry_after.empty()) out.headers.emplace_back("retry-after", std::move(retry_after));
  return out;
}

// An ExportMetricsServiceResponse as the library of tests/data/otlp wrote it: partial_success
// {rejected_data_points: 300, error_message: "too old"}.
const std::string three_hundred_too_old("\x0a\x0c\x08\xac\x02\x12\x07too old", 14);

}  // namespace otlp_answer_test

TEST_SUITE("aggregator/sender/otlp_answer") {
  using namespace otlp_answer_test;
  using kind = outcome::kind;

  TEST_CASE("429, 502, 503 and 504 put a request off; every other refusal is for good") {
    CHECK(otlp_outcome(with(200), 1'000).is == kind::taken);
    for (const unsigned status : {429u, 502u, 503u, 504u})
      CHECK(otlp_outcome(with(status), 1'000).is == kind::later);
    for (const unsigned status : {301u, 400u, 401u, 404u, 408u, 413u, 415u, 500u, 501u, 505u})
      CHECK(otlp_outcome(with(status), 1'000).is == kind::refused);
    CHECK(otlp_outcome(error{errc::timeout, "too late"}, 1'000).is == kind::later);
    CHECK(otlp_outcome(with(503, "", "text/plain", "7"), 1'000).wait_at_least == std::chrono::seconds(7));
    CHECK(otlp_outcome(with(400, "", "text/plain", "7"), 1'000).wait_at_least == duration::zero());
  }

  TEST_CASE("a partial success is taken, and what was left out is counted and said") {
    const auto part = otlp_outcome(with(200, three_hundred_too_old), 1'000);
    CHECK(part.is == kind::taken);
    CHECK(part.left_out == 300);
    CHECK(part.why == "the server leaves out some readings (too old): its log says which");
    const auto warning = otlp_outcome(with(200, std::string("\x0a\x05\x12\x03old", 7)), 1'000);
    CHECK(warning.left_out == 0);
    CHECK(warning.why == "the server takes readings but warns (old)");
    CHECK(otlp_outcome(with(200, std::string("\x0a\x00", 2)), 1'000).why.empty());
  }

  TEST_CASE("a body that is no answer of the protocol never brings a request back") {
    for (const std::string& body :
         {std::string("<html>"), three_hundred_too_old.substr(0, 7), std::string(64, '\xff'),
          std::string("\x0a\x02\x08\xff", 4), std::string("\x08\x01", 2)}) {
      const auto said = otlp_outcome(with(200, body), 1'000);
      CHECK(said.is == kind::taken);
      CHECK(said.left_out == 0);
      CHECK(otlp_outcome(with(400, body), 1'000).is == kind::refused);
    }
    // A negative number of rejected points.
    const std::string minus_one("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
    CHECK(otlp_outcome(with(200, minus_one), 1'000).left_out == 0);
    CHECK(otlp_outcome(with(200, "{\"partialSuccess\":{}}", "application/json"), 1'000).why.empty());
  }

  TEST_CASE("a refusal says what the server said, from its Status or its text, and what to do") {
    CHECK(otlp_outcome(with(400, std::string("\x08\x03\x12\x07no name", 11)), 1'000).why ==
          "the server refuses readings with 400 (no name): its log says what it cannot read");
    CHECK(otlp_outcome(with(404, "404 page not found\n", "text/plain"), 1'000).why ==
          "the server refuses readings with 404 (404 page not found): look at the path: a collector takes "
          "/v1/metrics, Prometheus /api/v1/otlp/v1/metrics with --web.enable-otlp-receiver");
    CHECK(otlp_outcome(with(400, std::string(5'000, 'x'), "text/plain"), 1'000).why.size() < 400);
  }
}

}  // namespace binnacle::sender
