#include "cli/connection.hpp"

#include "cli/client.hpp"
#include "cli/commands.hpp"
#include "cli/json.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>

#include <map>

namespace connection_test {

using namespace binnacle;
using namespace binnacle::cli;

TEST_SUITE("cli/json") {
  TEST_CASE("JSON goes out as it came in, with numbers as people write them") {
    const char* text = R"({"a":[1,-2,18446744073709551615,101.6,0.0312,null,true,"x\"y"],"b":{},"c":[]})";
    CHECK(to_text(json::parse(text)) == text);
  }
}

TEST_SUITE("cli/connection") {
  TEST_CASE("a pod may be named as kubectl names it") {
    CHECK(pod_pattern("web-1", "") == "web-1");
    CHECK(pod_pattern("default/web-1", "") == "default/web-1");
    CHECK(pod_pattern("pod/web-1", "") == "web-1");
    CHECK(pod_pattern("pods/web-1", "ops") == "ops/web-1");
    CHECK(pod_pattern("web-1", "ops") == "ops/web-1");
    CHECK(pod_pattern("default/web-1", "ops") == "default/web-1");
  }

  TEST_CASE("an address may leave out what is usual") {
    struct row {
      const char* text;
      const char* url;
    };
    const row rows[] = {
        {"https://agg:9102", "https://agg:9102"},
        {"https://agg:9102/", "https://agg:9102"},
        {"agg", "https://agg:9102"},
        {"agg:19102", "https://agg:19102"},
        {"10.0.0.7", "https://10.0.0.7:9102"},
        {"[::1]", "https://[::1]:9102"},
        {"https://[fd00::7]:443", "https://[fd00::7]:443"},
        {"http://localhost", "http://localhost:9102"},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      const auto e = parse_server_url(r.text);
      REQUIRE(e.has_value());
      CHECK(e->url == r.url);
    }
    CHECK(parse_server_url("https://[::1]:9102")->at.host == "::1");
    for (const char* bad : {"", "https://", "ftp://agg", "agg:0", "agg:65536", "agg:x", "agg/path", "fd00::7",
                            "[::1", "[::1]x"}) {
      CAPTURE(bad);
      const auto e = parse_server_url(bad);
      REQUIRE(e.has_error());
      CHECK(e.error().message.ends_with("; write https://HOST:9102"));
    }
  }

  TEST_CASE("flags win over the environment, the environment over the file") {
    std::map<std::string, std::string> environment = {
        {"BINNACLE_AGGREGATOR", "b1,b2,"}, {"BINNACLE_CA", "env-ca"}, {"BINNACLE_TOKEN_FILE", "env-token"}};
    const auto get = [&](const char* name) {
      const auto at = environment.find(name);
      return at == environment.end() ? nullptr : at->second.c_str();
    };
    connection file;
    file.aggregators = {"c"};
    file.pem = {"file-cert", "file-key", "file-ca"};
    connection flags;
    flags.pem.certificate = "flag-cert";

    const connection all = merged(flags, get, file);
    CHECK(all.aggregators == std::vector<std::string>{"b1", "b2"});
    CHECK(all.pem.certificate == "flag-cert");
    CHECK(all.pem.key == "file-key");
    CHECK(all.pem.authority == "env-ca");
    CHECK(all.token_file == "env-token");

    flags.aggregators = {"a"};
    CHECK(merged(flags, get, file).aggregators == std::vector<std::string>{"a"});
    environment.clear();
    CHECK(merged({}, get, file).aggregators == std::vector<std::string>{"c"});
    CHECK(merged({}, get, {}).aggregators == std::vector<std::string>{"https://localhost:9102"});
  }

  TEST_CASE("a settings file is read, and refused by file and line") {
    const auto one =
        parse_settings("aggregator: https://agg:9102\nca: pki/ca.pem\ncert: /etc/me.pem\ntoken-file: token\n",
                       "/home/u/.config/binnacle/cli.yaml");
    REQUIRE(one.has_value());
    CHECK(one->aggregators == std::vector<std::string>{"https://agg:9102"});
    CHECK(one->pem.authority == "/home/u/.config/binnacle/pki/ca.pem");
    CHECK(one->pem.certificate == "/etc/me.pem");
    CHECK(one->token_file == "/home/u/.config/binnacle/token");
    CHECK(parse_settings("aggregator: [a, b]", "f")->aggregators == std::vector<std::string>{"a", "b"});
    CHECK(parse_settings("", "f")->aggregators.empty());

    struct row {
      const char* yaml;
      const char* message;
    };
    const row rows[] = {
        {"aggregator: a\nserver: b\n",
         "cli.yaml:2: unknown key 'server'; known are aggregator, cert, key, ca, token-file"},
        {"- a\n", "cli.yaml:1: expected keys and values: aggregator, cert, key, ca, token-file"},
        {"ca:\n  - a\n", "cli.yaml:2: ca must be one value"},
    };
    for (const row& r : rows) {
      CAPTURE(r.yaml);
      const auto s = parse_settings(r.yaml, "cli.yaml");
      REQUIRE(s.has_error());
      CHECK(s.error().message == r.message);
    }
    CHECK(parse_settings("a: [", "cli.yaml").error().message.starts_with("cli.yaml:"));
  }
}

}  // namespace connection_test
