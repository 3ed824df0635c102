#include "common/http/target.hpp"

#include "common/http/etag.hpp"
#include "common/http/router.hpp"

#include <doctest/doctest.h>

namespace {

using namespace binnacle;
using strings = std::vector<std::string>;
using pairs = std::vector<std::pair<std::string, std::string>>;

TEST_SUITE("common/http/target") {
  TEST_CASE("a path is split first and decoded after") {
    struct row {
      const char* target;
      strings path;
      const char* decoded;
    };
    for (const row& r : {row{"/", {}, "/"}, row{"/a/b", {"a", "b"}, "/a/b"}, row{"/a/b/", {"a", "b"}, "/a/b"},
                         row{"/nodes/%2A/power", {"nodes", "*", "power"}, "/nodes/*/power"},
                         row{"/nodes/%2a/p", {"nodes", "*", "p"}, "/nodes/*/p"},
                         row{"/a%2Fb", {"a/b"}, "/a/b"}, row{"/a+b", {"a+b"}, "/a+b"},
                         row{"//a//b", {"", "a", "", "b"}, "//a//b"}, row{"/%C3%A4", {"ä"}, "/ä"},
                         row{"/a?b/c", {"a"}, "/a"}, row{"http://host:1/a/b?c", {"a", "b"}, "/a/b"},
                         row{"https://host", {}, "/"}, row{"/a#b", {"a"}, "/a"}, row{"/%25", {"%"}, "/%"}}) {
      CAPTURE(r.target);
      http::request q;
      REQUIRE(http::parse_target(r.target, q).has_value());
      CHECK(q.path == r.path);
      CHECK(q.decoded_path() == r.decoded);
      CHECK(q.target == r.target);
    }
  }

  TEST_CASE("a query is form-decoded in order") {
    http::request q;
    REQUIRE(http::parse_target("/m?labelSelector=a%3Db+c&&x&y=&z=1=2&x=second", q).has_value());
    CHECK(q.query == pairs{{"labelSelector", "a=b c"}, {"x", ""}, {"y", ""}, {"z", "1=2"}, {"x", "second"}});
    REQUIRE(q.parameter("x") != nullptr);
    CHECK(q.parameter("x")->empty());
    CHECK(q.parameter("none") == nullptr);
  }

  TEST_CASE("a malformed escape, a NUL and what is no path are refused") {
    for (const char* target :
         {"/%", "/%2", "/%zz", "/a%2", "/%00", "/a?b=%", "/a?%g0=1", "", "a", "*", "host:443"}) {
      CAPTURE(target);
      http::request q;
      const auto parsed = http::parse_target(target, q);
      REQUIRE(parsed.has_error());
      CHECK(parsed.error().code == errc::invalid_input);
    }
  }
}

http::simple_handler says(std::string text) {
  return [text](const http::request&, std::string_view) { return http::response::text(text); };
}

std::string answer(const http::router& r, const std::string& method, const std::string& target) {
  http::request q;
  q.method = method;
  REQUIRE(http::parse_target(target, q).has_value());
  const auto found = r.find(q);
  if (found.refusal) return std::to_string(found.refusal->status);
  REQUIRE(found.simple != nullptr);
  return (*found.simple)(q, {}).body.front();
}

TEST_SUITE("common/http/router") {
  TEST_CASE("exact paths come first, then the longest prefix, by whole segments") {
    http::router r;
    r.add_prefix("/apis", says("apis"));
    r.add_prefix("/apis/custom.metrics.k8s.io", says("custom"));
    r.add("GET", "/apis/custom.metrics.k8s.io/version", says("version"));
    r.add("POST", "/scheduler/filter", says("filter"));
    CHECK(answer(r, "GET", "/apis") == "apis");
    CHECK(answer(r, "GET", "/apis/") == "apis");
    CHECK(answer(r, "GET", "/apis/other/x") == "apis");
    CHECK(answer(r, "DELETE", "/apis/custom.metrics.k8s.io/v1beta1/nodes/%2A/x") == "custom");
    CHECK(answer(r, "GET", "/apis/custom.metrics.k8s.io/version") == "version");
    CHECK(answer(r, "GET", "/apisx") == "404");
    CHECK(answer(r, "POST", "/scheduler/filter/") == "filter");
    CHECK(answer(r, "POST", "/scheduler%2Ffilter") == "404");
    CHECK(answer(r, "GET", "/scheduler/filter") == "405");
    CHECK(answer(r, "GET", "/") == "404");
  }

  TEST_CASE("a refusal names what there is") {
    http::router r;
    r.add("GET", "/metrics", says("m"));
    r.add("POST", "/scheduler/filter", says("f"));
    r.add_prefix("/apis", says("a"));
    http::request q;
    q.method = "PUT";
    REQUIRE(http::parse_target("/metrics", q).has_value());
    const auto wrong = r.find(q).refusal;
    REQUIRE(wrong.has_value());
    CHECK(wrong->status == 405);
    CHECK(wrong->headers == pairs{{"Allow", "GET, HEAD"}});
    REQUIRE(http::parse_target("/nowhere", q).has_value());
    const auto unknown = r.find(q).refusal;
    REQUIRE(unknown.has_value());
    CHECK(unknown->status == 404);
    CHECK(unknown->body.front() ==
          "{\"error\":\"there is nothing at this path; there are GET /metrics, POST /scheduler/filter, "
          "/apis/...\"}\n");
  }

  TEST_CASE("a fallback answers what nothing else does") {
    http::router r;
    r.add("GET", "/a", says("a"));
    r.set_fallback([](const http::request&) { return std::unique_ptr<http::exchange>(); }, 10);
    CHECK(answer(r, "GET", "/a") == "a");
    for (const auto& [method, path] : {std::pair("POST", "/a"), {"GET", "/b"}}) {
      http::request other;
      other.method = method;
      REQUIRE(http::parse_target(path, other).has_value());
      const auto found = r.find(other);
      CHECK(found.streaming != nullptr);
      CHECK(found.refusal == std::nullopt);
      CHECK(found.body_limit == 10);
    }
  }

  TEST_CASE("a failure is valid JSON whatever the sentence holds") {
    const auto r = http::response::failure(400, "a \"quote\", a \\ and a \n");
    CHECK(r.status == 400);
    CHECK(r.body.front() == "{\"error\":\"a \\\"quote\\\", a \\\\ and a \\n\"}\n");
    CHECK(http::response::failure(400, "\xff").body.front() == "{\"error\":\"\xef\xbf\xbd\"}\n");
  }

  TEST_CASE("If-None-Match names what the asker has: a tag, a list of them, or anything") {
    const auto has = [](std::string known) {
      http::request r;
      r.headers = {{"if-none-match", std::move(known)}};
      return http::has_already(r, "\"a\"");
    };
    for (const char* known :
         {"\"a\"", "W/\"a\"", "*", "\"b\", \"a\"", "\"b,\\\", W/\"a\" , \"c\"", " \"a\""}) {
      CAPTURE(known);
      CHECK(has(known));
    }
    for (const char* known : {"", "\"b\"", "a", "\"a", "\"b\", \"c\"", "W/", "\"b, a\""}) {
      CAPTURE(known);
      CHECK_FALSE(has(known));
    }
    CHECK_FALSE(http::has_already({}, "\"a\""));
  }

  TEST_CASE("query values are escaped") {
    CHECK(http::query_escaped("default/web-1_x.y~") == "default/web-1_x.y~");
    CHECK(http::query_escaped("a b&c=d%e+\xc3\xa9") == "a%20b%26c%3Dd%25e%2B%C3%A9");
  }
}

}  // namespace
