#include "agent/sources/scrape/target.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace target_test {

namespace {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

std::string refusal(const std::string& yaml) {
  const auto read = parse_targets(yaml, "targets.yaml", 1s);
  return read ? "taken" : read.error().message;
}

TEST_SUITE("agent/sources/scrape/target") {
  TEST_CASE("addresses of exporters") {
    struct row {
      std::string text, url, name;
    };
    const row rows[] = {
        {"http://127.0.0.1:9400/metrics", "http://127.0.0.1:9400/metrics", "127.0.0.1:9400"},
        {"http://localhost", "http://localhost:80/metrics", "localhost:80"},
        {"https://[::1]:10250/metrics/cadvisor", "https://[::1]:10250/metrics/cadvisor",
         "[::1]:10250/metrics/cadvisor"},
        {"http://a:1?x=1#y", "http://a:1/?x=1", "a:1/?x=1"},
    };
    for (const auto& r : rows) {
      CAPTURE(r.text);
      const auto t = parse_target(r.text);
      REQUIRE(t.has_value());
      CHECK(t->url() == r.url);
      CHECK(t->name == r.name);
    }
    for (const auto* wrong : {"", "localhost:9100", "ftp://a", "http://", "http://:80/", "http://a:0/",
                              "http://a b/", "http://a\r\nX: y/", "http://a:99999"}) {
      CAPTURE(wrong);
      const auto t = parse_target(wrong);
      REQUIRE(t.has_error());
      CHECK(t.error().message.find("use http://HOST:PORT/metrics") != std::string::npos);
    }
  }

  TEST_CASE("a password in an address is refused without repeating it") {
    const auto t = parse_target("http://me:secret@localhost:9100/metrics");
    REQUIRE(t.has_error());
    CHECK(t.error().message.find("secret") == std::string::npos);
    CHECK(t.error().message.find("token-file") != std::string::npos);
  }

  TEST_CASE("a file says all about each exporter") {
    const auto all = parse_targets(
        "targets:\n"
        "- url: http://127.0.0.1:9400/metrics\n  name: gpu\n  period: 2s\n  timeout: 500ms\n  stale-after: "
        "30s\n"
        "  metrics: [DCGM_FI_DEV_POWER_USAGE, \"*_TEMP\"]\n  drop-labels: [UUID]\n  fold: max\n  series: 20\n"
        "  bytes: 100000\n"
        "- url: https://localhost:10250/metrics\n  ca: /ca.crt\n  token-file: /token\n  period: 200ms\n",
        "targets.yaml", 1s);
    REQUIRE(all.has_value());
    REQUIRE(all->size() == 2);
    const auto& gpu = all->front();
    CHECK(gpu.name == "gpu");
    CHECK(gpu.period == 2s);
    CHECK(gpu.timeout == 500ms);
    CHECK(gpu.stale_after == 30s);
    CHECK(gpu.metrics.size() == 2);
    CHECK(gpu.drop_labels == std::vector<std::string>{"UUID"});
    CHECK(gpu.folded == fold::max);
    CHECK(gpu.series == 20);
    CHECK(gpu.bytes == 100'000);
    CHECK(all->back().secure);
    CHECK(all->back().token_file == "/token");
    CHECK(all->back().timeout == 200ms);  // derived from its period, since none is given
  }

  TEST_CASE("what is wrong in a file is named with its line and the remedy") {
    struct row {
      std::string yaml, says;
    };
    const std::string one = "targets:\n- url: http://a:1\n  ";
    const row rows[] = {
        {"", "line 1: write \"targets:\""},
        {"targets: 5\n", "write \"targets:\""},
        {"targets:\n- name: x\n", "line 2: an exporter needs its url"},
        {"targets:\n- url: nonsense\n", "line 2: \"nonsense\" is not an address"},
        {one + "perod: 1s\n", "line 3: unknown key \"perod\""},
        {one + "period: 1\n", "line 3: period: give a duration such as 1s"},
        {one + "fold: average\n", "line 3: fold: give none, sum, max, min or mean"},
        {one + "metrics: a\n", "line 3: metrics: give a list of names"},
        {one + "series: 0\n", "line 3: series: give a number from 1 to 5000"},
        {one + "drop-labels: [a]\n  keep-labels: [b]\n", "give one of them"},
        {one + "token-file: /t\n", "token-file needs https"},
        {one + "ca: /c\n", "are for https"},
        {"targets:\n- url: https://a:1\n", "line 2: ca is missing"},
        {"targets:\n- url: https://a:1\n  ca: /c\n  cert: /d\n", "cert and key belong together"},
        {"targets: [\n", "no valid YAML"},
    };
    for (const auto& r : rows) {
      CAPTURE(r.yaml);
      const auto said = refusal(r.yaml);
      CHECK_MESSAGE(said.find("targets.yaml line ") == 0, said);
      CHECK_MESSAGE(said.find(r.says) != std::string::npos, said);
    }
  }

  TEST_CASE("names twice and too many exporters are refused") {
    std::vector<scrape_target> all(2, *parse_target("http://a:1/metrics"));
    CHECK(check_targets(all).error().message.find("two exporters are named a:1") == 0);
    all.back().name = "other";
    CHECK(check_targets(all));
    while (all.size() < 33) {
      all.push_back(all.front());
      all.back().name = std::to_string(all.size());
    }
    CHECK(check_targets(all).error().message.find("33 exporters are named, 32 at most") == 0);
  }
}

}  // namespace

}  // namespace target_test
