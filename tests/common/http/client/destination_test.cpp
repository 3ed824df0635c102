#include "common/http/client/destination.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

namespace binnacle::http {

namespace destination_test {

result<destination> parse(std::string_view url) {
  return parse_destination(url, "otlp", "https://collector.example:4318/v1/metrics");
}

}  // namespace destination_test

TEST_SUITE("common/http/client/destination") {
  using namespace destination_test;

  TEST_CASE("a URL gives scheme, host, port and target") {
    const auto one = parse("https://prom.example:9090/api/v1/write?tenant=a").value();
    CHECK(one.secure);
    CHECK(to_string(one.at) == "prom.example:9090");
    CHECK(one.target == "/api/v1/write?tenant=a");
    CHECK(parse("http://[fd00::5]/w").value().at.port == 80);
    CHECK(parse("https://prom.example/w").value().at.port == 443);
  }

  TEST_CASE("what is no such URL is refused with the right form") {
    for (const char* text :
         {"", "prom.example:9090", "ftp://prom.example/w", "https:///w", "https://prom.example",
          "https://prom.example/", "https://prom.example:0/w", "https://prom example/w"}) {
      CAPTURE(text);
      const auto read = parse(text);
      REQUIRE(read.has_error());
      CHECK(read.error().message.starts_with("--otlp "));
      CHECK(read.error().message.find("https://collector.example:4318/v1/metrics") != std::string::npos);
    }
  }

  TEST_CASE("what is wrong with a URL is said, and not something else") {
    const auto why = [](std::string_view url) { return parse(url).error().message; };
    const std::string as = ": write it as in https://collector.example:4318/v1/metrics";
    CHECK(why("ftp://prom.example/w") == "--otlp has another scheme than https and http" + as);
    CHECK(why("https:///w") == "--otlp has no host" + as);
    for (const char* port : {"0", "00", "65536", "99999999999"}) {
      CAPTURE(port);
      CHECK(why(std::string("https://prom.example:") + port + "/w") ==
            "--otlp has a port that is not from 1 to 65535" + as);
    }
    CHECK(why("https://prom.example") == "--otlp has no path" + as);
    CHECK(why("prom.example") == "--otlp is not a URL" + as);
  }

  TEST_CASE("a server that is named without a path has one where the example has none") {
    CHECK(parse_destination("https://prom.example", "history", "https://prometheus.example:9090")
              .value()
              .target.empty());
    CHECK(parse_destination("https://prom.example/prom/", "history", "https://prometheus.example:9090")
              .value()
              .target == "/prom/");
  }

  TEST_CASE("what does not go together is refused with what to give") {
    const auto why = [](std::string_view url, const proof& p) {
      const auto checked = check_destination(url, p, "history", "https://prometheus.example:9090");
      return checked.has_error() ? checked.error().message : std::string();
    };
    CHECK(why("", {}).empty());
    CHECK(why("https://p", {{"c", "k", "a"}, "u", "t"}).empty());
    CHECK(why("http://p", {}).empty());
    CHECK(why("", {{}, "", "t"}).find("--history-token is given without --history") != std::string::npos);
    CHECK(why("https://p", {{"c", "", ""}, "", ""}).find("belong together") != std::string::npos);
    CHECK(why("https://p", {{}, "u", ""}).find("no password") != std::string::npos);
    CHECK(why("http://p", {{}, "", "t"}).find("use https") != std::string::npos);
  }

  TEST_CASE("a password in the URL is refused and not repeated") {
    const auto read = parse("https://me:secret@prom.example/w");
    REQUIRE(read.has_error());
    CHECK(read.error().message.find("secret") == std::string::npos);
    CHECK(read.error().message.find("--otlp-token") != std::string::npos);
  }

  TEST_CASE("the file holds a token, or a user's password") {
    support::temp_folder folder;
    folder.write("token", "open sesame\n");
    CHECK(authorization({{}, "", folder / "token"}).value() == "Bearer open sesame");
    CHECK(authorization({{}, "ali", folder / "token"}).value() == "Basic YWxpOm9wZW4gc2VzYW1l");
    folder.write("token", "two\nlines");
    CHECK(authorization({{}, "", folder / "token"}).has_error());
    folder.write("token", "\n");
    CHECK(authorization({{}, "", folder / "token"}).has_error());
    CHECK(authorization({{}, "", folder / "none"}).has_error());
  }
}

}  // namespace binnacle::http
