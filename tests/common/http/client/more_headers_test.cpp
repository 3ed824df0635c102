#include "common/http/client/more_headers.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace binnacle::http {

namespace more_headers_test {

using headers = std::vector<std::pair<std::string, std::string>>;

std::string why(const std::vector<std::string>& lines) {
  const auto read = read_headers(lines);
  return read.has_error() ? read.error().message : std::string();
}

}  // namespace more_headers_test

TEST_SUITE("common/http/client/more_headers") {
  using namespace more_headers_test;

  TEST_CASE("a line gives a header, with colons and blanks in its value") {
    CHECK(read_headers({"X-Scope-OrgID: team-a", "x-b:  a b: c\t", "X_c!:1"}).value() ==
          headers{{"X-Scope-OrgID", "team-a"}, {"x-b", "a b: c"}, {"X_c!", "1"}});
    CHECK(read_headers({}).value().empty());
  }

  TEST_CASE("what is no header is refused, and nothing that may be secret is repeated") {
    for (const char* line : {"", "hunter2", ": hunter2", "hunter2 : x", "hun\rter2: x", "X-A hunter2: b"}) {
      CAPTURE(line);
      CHECK(why({"X-Fine: 1", line}) == "header 2 is not NAME: VALUE, as in X-Scope-OrgID: team-a");
    }
    for (const std::string value : {"", "   ", "hunter2\r\nX-B: c", "hunter2\nX-B: c", "hunt\x01r2",
                                    "hunt\x7fr2", "h\xc3\xbcnter2", "hunter2\r\r\nx"}) {
      CAPTURE(value);
      CHECK(why({"X-A: " + value}) == "the value of X-A is empty or has characters that no header may have");
    }
    CHECK(why({"X-A: " + std::string("hunt\0r2", 7)}).find("no header may have") != std::string::npos);
  }

  TEST_CASE("what we say ourselves cannot be said again, in any case of letters, and nothing twice") {
    for (const char* name :
         {"Host", "authorization", "CONTENT-LENGTH", "Transfer-Encoding", "Content-Type", "Content-Encoding",
          "User-Agent", "Connection", "X-Prometheus-Remote-Write-Version"}) {
      CAPTURE(name);
      CHECK(why({name + std::string(": x")}) ==
            name + std::string(" is a header that is set already: leave it out"));
    }
    CHECK(why({"X-A: 1", "x-a: 2"}) == "x-a is given twice: leave one out");
    std::vector<std::string> many;
    for (int i = 0; i < 33; ++i) many.push_back("X-" + std::to_string(i) + ": 1");
    CHECK(why(many) == "there are more than 32 headers");
    many.pop_back();
    CHECK(why(many).empty());
  }

  TEST_CASE("a file has more of them, one a line, and is read anew each time") {
    support::temp_folder folder;
    folder.write("headers", "X-Scope-OrgID: team-a\r\n\nX-Key: k\n");
    const more_headers from{{"X-A: 1"}, folder / "headers"};
    CHECK(headers_of(from).value() == headers{{"X-A", "1"}, {"X-Scope-OrgID", "team-a"}, {"X-Key", "k"}});
    folder.write("headers", "X-Scope-OrgID: team-b");
    CHECK(headers_of(from).value() == headers{{"X-A", "1"}, {"X-Scope-OrgID", "team-b"}});
    folder.write("headers", "X-A: 2");
    CHECK(headers_of(from).error().message == "X-A is given twice: leave one out");
    CHECK(headers_of({{}, folder / "none"}).error().code == errc::not_found);
    CHECK(headers_of({{"X-A: 1"}, ""}).value() == headers{{"X-A", "1"}});
  }
}

}  // namespace binnacle::http
