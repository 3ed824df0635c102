#include "cli/dashboard/door.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace door_test {

using namespace binnacle;
using namespace binnacle::cli::dashboard;
using namespace std::chrono_literals;

const instant start{1h};

struct bench {
  int made = 0;
  door it{[this] { return "secret" + std::to_string(++made); }};
  bench() { it.serve_at(8900); }

  std::string key() { return it.open(it.new_link(start), start).value(); }
  /// The status with which the door refuses such a request; 0 if it is served.
  unsigned status(std::vector<std::pair<std::string, std::string>> headers, bool is_file = false) const {
    http::request r;
    r.method = "GET";
    r.headers = std::move(headers);
    const auto refused = it.refusal(r, is_file);
    return refused ? refused->status : 0;
  }
};

TEST_SUITE("cli/dashboard/door") {
  TEST_CASE("a link opens one page, once") {
    bench b;
    const std::string link = b.it.new_link(start);
    const auto key = b.it.open(link, start + 1s);
    REQUIRE(key);
    CHECK(*key != link);
    CHECK(!b.it.open(link, start + 1s));
    CHECK(!b.it.open(*key, start + 1s));
    CHECK(!b.it.open("", start + 1s));
  }

  TEST_CASE("a link is too old after ten minutes") {
    bench b;
    const std::string link = b.it.new_link(start);
    const std::string other = b.it.new_link(start);
    CHECK(b.it.open(link, start + door::link_life));
    CHECK(!b.it.open(other, start + door::link_life + 1ns));
  }

  TEST_CASE("links and keys are bounded: the oldest make room") {
    bench b;
    const std::string first = b.it.new_link(start);
    for (std::size_t i = 0; i < door::most_links; ++i) (void)b.it.new_link(start);
    CHECK(!b.it.open(first, start));
    const std::string key = b.key();
    CHECK(b.status({{"host", "127.0.0.1:8900"}, {"authorization", "Bearer " + key}}) == 0);
    for (std::size_t i = 0; i < door::most_keys; ++i) (void)b.key();
    CHECK(b.status({{"host", "127.0.0.1:8900"}, {"authorization", "Bearer " + key}}) == 401);
  }

  TEST_CASE("only a page with a key is told anything; the page's own files need none") {
    bench b;
    const std::string key = b.key();
    for (const auto& of : std::vector<std::pair<std::string, unsigned>>{{"Bearer " + key, 0},
                                                                        {"bearer " + key, 0},
                                                                        {"Bearer " + key + "x", 401},
                                                                        {"Bearer " + key.substr(1), 401},
                                                                        {"Bearer ", 401},
                                                                        {"Basic " + key, 401},
                                                                        {key, 401},
                                                                        {"", 401}}) {
      INFO(of.first);
      CHECK(b.status({{"host", "127.0.0.1:8900"}, {"authorization", of.first}}) == of.second);
    }
    CHECK(b.status({{"host", "127.0.0.1:8900"}}) == 401);
    CHECK(b.status({{"host", "127.0.0.1:8900"}}, true) == 0);
  }

  TEST_CASE("a name of somebody else's that leads to this address is not served (DNS rebinding)") {
    bench b;
    const std::string key = "Bearer " + b.key();
    for (const auto& of : std::vector<std::pair<std::string, unsigned>>{{"127.0.0.1:8900", 0},
                                                                        {"localhost:8900", 0},
                                                                        {"127.0.0.1", 403},
                                                                        {"127.0.0.1:8901", 403},
                                                                        {"evil.example:8900", 403},
                                                                        {"127.0.0.1:8900.evil.example", 403},
                                                                        {"", 403}}) {
      INFO(of.first);
      CHECK(b.status({{"host", of.first}, {"authorization", key}}) == of.second);
      CHECK(b.status({{"host", of.first}}, true) == of.second);
    }
    CHECK(b.status({{"authorization", key}}) == 403);
    CHECK(b.status({}, true) == 403);
    door unborn([] { return std::string("secret"); });
    http::request r;
    r.headers = {{"host", "127.0.0.1:0"}};
    CHECK(unborn.refusal(r, true)->status == 403);  // the server has no port yet
  }

  TEST_CASE(
      "another site gets nothing, also one on another port of this machine; a link elsewhere may lead here") {
    bench b;
    const std::string key = "Bearer " + b.key();
    const auto with = [&](std::string name, std::string value, bool is_file = false) {
      return b.status(
          {{"host", "127.0.0.1:8900"}, {"authorization", key}, {std::move(name), std::move(value)}}, is_file);
    };
    CHECK(with("origin", "http://127.0.0.1:8900") == 0);
    CHECK(with("origin", "http://127.0.0.1:8901") == 403);
    CHECK(with("origin", "https://127.0.0.1:8900") == 403);
    CHECK(with("origin", "http://localhost:8900") == 403);
    CHECK(with("origin", "null") == 403);
    CHECK(with("origin", "http://evil.example", true) == 403);
    CHECK(with("sec-fetch-site", "same-origin") == 0);
    CHECK(with("sec-fetch-site", "none", true) == 0);
    CHECK(with("sec-fetch-site", "same-site") == 403);
    CHECK(with("sec-fetch-site", "cross-site") == 403);
    CHECK(with("sec-fetch-site", "cross-site", true) == 403);  // as a script or an image of another page
    CHECK(b.status(
              {{"host", "127.0.0.1:8900"}, {"sec-fetch-site", "cross-site"}, {"sec-fetch-mode", "navigate"}},
              true) == 0);
    CHECK(b.status({{"host", "127.0.0.1:8900"},
                    {"authorization", key},
                    {"sec-fetch-site", "cross-site"},
                    {"sec-fetch-mode", "navigate"}}) == 403);
  }

  TEST_CASE("secrets are 32 letters and digits, and no two are alike") {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
      const std::string secret = random_secret();
      CHECK(secret.size() == 32);
      CHECK(secret.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") ==
            secret.npos);
      CHECK(seen.insert(secret).second);
    }
  }

  TEST_CASE("every answer, refusals too, lets a browser run nothing but our files") {
    const auto answer = refused(403, "no");
    const auto header = [&](std::string_view name) {
      for (const auto& [n, value] : answer.headers) {
        if (n == name) return value;
      }
      return std::string();
    };
    const std::string csp = header("Content-Security-Policy");
    CHECK(csp.starts_with("default-src 'none';"));
    CHECK(csp.find("unsafe") == csp.npos);
    CHECK(csp.find("http") == csp.npos);
    CHECK(csp.find("frame-ancestors 'none'") != csp.npos);
    CHECK(csp.find("require-trusted-types-for 'script'") != csp.npos);
    CHECK(header("Cross-Origin-Resource-Policy") == "same-origin");
    CHECK(header("Cache-Control") == "no-store");
    CHECK(header("Referrer-Policy") == "no-referrer");
  }
}

}  // namespace door_test
