#include "aggregator/callers/named.hpp"

#include "common/http/target.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace named_test {

namespace {

using namespace binnacle;

http::request request(const std::string& target, std::optional<tls::identity> peer) {
  http::request r;
  r.method = "GET";
  REQUIRE(http::parse_target(target, r).has_value());
  r.peer = std::move(peer);
  return r;
}

/// The status that the guard answers with; 0: it lets the request in.
unsigned status(const http::guard& guard, const http::request& r) {
  std::optional<unsigned> said;
  guard(r, [&](const http::ruling& decided) { said = decided.refusal ? decided.refusal->status : 0; });
  REQUIRE(said);
  return *said;
}

http::response no(std::string_view sentence) { return http::response::failure(403, sentence); }

TEST_SUITE("aggregator/callers/named") {
  TEST_CASE("of the holders of our authority's certificates only those named come in") {
    const auto guard = callers::named_only({"scheduler", "second"}, nullptr, no);
    const auto holder = [](std::string name, std::vector<std::string> dns = {}) {
      tls::identity out;
      out.common_name = std::move(name);
      out.dns_names = std::move(dns);
      return out;
    };
    CHECK(status(guard, request("/scheduler/filter", holder("scheduler"))) == 0);
    CHECK(status(guard, request("/scheduler/filter", holder("", {"second"}))) == 0);
    CHECK(status(guard, request("/scheduler/filter", holder("cli"))) == 403);
    CHECK(status(guard, request("/scheduler/filter", holder(""))) == 403);
    CHECK(status(guard, request("/scheduler/filter", holder("schedulers", {"a.scheduler"}))) == 403);
    CHECK(status(guard, request("/readyz", holder("cli"))) == 0);
  }

  TEST_CASE("the other guard judges callers without such a certificate, and callers whose name is listed") {
    int asked = 0;
    const http::guard others = [&asked](const http::request&, http::guard_answer then) {
      ++asked;
      then({no("others")});
    };
    const auto guard = callers::named_only({"cli"}, others, no);
    tls::identity cli;
    cli.common_name = "cli";
    CHECK(status(guard, request("/metrics", std::nullopt)) == 403);
    CHECK(status(guard, request("/metrics", cli)) == 403);
    CHECK(asked == 2);
    cli.common_name = "scheduler";
    CHECK(status(guard, request("/metrics", cli)) == 403);
    CHECK(asked == 2);
  }

  TEST_CASE("without names nothing is added") { CHECK_FALSE(callers::named_only({}, nullptr, no)); }
}

}  // namespace

}  // namespace named_test
