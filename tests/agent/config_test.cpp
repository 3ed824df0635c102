#include "agent/config.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace config_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

namespace {

result<settings> parsed(std::vector<const char*> flags) {
  settings s;
  auto spec = bind(s);
  flags.insert(flags.begin(), "binnacle-agent");
  std::ostringstream out;
  if (const auto done = spec.parse(static_cast<int>(flags.size()), flags.data(), out); !done)
    return done.error();
  if (const auto done = complete(s); !done) return done.error();
  return s;
}

std::string refusal(std::vector<const char*> flags) {
  const auto s = parsed(std::move(flags));
  return s ? "accepted" : s.error().message;
}

}  // namespace

TEST_SUITE_BEGIN("agent/config");

TEST_CASE("without any setting the agent serves this node's metrics") {
  const auto s = parsed({}).value();
  CHECK(!s.node_name.empty());
  CHECK(s.listen == "127.0.0.1:9103");  // whom the machine is to show its figures to is its owner's word
  CHECK(s.health.empty());
  CHECK(s.aggregator.empty());
  CHECK(s.reads("rapl"));
  CHECK(s.period_of(s.rapl_period) == 1s);
}

TEST_CASE("a file and flags") {
  support::temp_folder folder;
  folder.write("agent.yaml",
               "node-name: node7\naggregator: [a:9110, b]\ncert: c.crt\nkey: c.key\nca: ca.crt\nperiod: "
               "2s\nrapl-period: 200ms\n"
               "sources: [rapl, os]\nrapl-tdp: 250\n");
  const auto file = folder / "agent.yaml";
  const auto s = parsed({"--config", file.c_str(), "--period", "5s", "--aggregator", "x:1,y:2"}).value();
  CHECK(s.node_name == "node7");
  CHECK(s.aggregator == std::vector<std::string>{"x:1", "y:2"});
  CHECK(s.period_of(s.os_period) == 5s);
  CHECK(s.period_of(s.rapl_period) == 200ms);
  CHECK(!s.reads("textfile"));
  CHECK(s.rapl_tdp == 250);
}

TEST_CASE("the printed file is one that --config takes") {
  settings s;
  support::temp_folder folder;
  folder.write("printed.yaml", bind(s).commented_defaults());
  const auto file = folder / "printed.yaml";
  CHECK(refusal({"--config", file.c_str()}) == "accepted");
}

TEST_CASE("an aggregator's address that is none is refused with a sentence") {
  CHECK(refusal({"--aggregator", ":::"}).find("\":::\" is no address: use HOST:PORT") != std::string::npos);
}

TEST_CASE("what the PMU counts") {
  CHECK(parsed({}).value().pmu_preset == "default");
  const auto s = parsed({"--pmu-preset", "collectd", "--pmu-events", "instructions,r01c2", "--pmu-period",
                         "5s", "--pmu-per-cpu"})
                     .value();
  CHECK(s.pmu_preset == "collectd");
  CHECK(s.pmu_events == std::vector<std::string>{"instructions", "r01c2"});
  CHECK(s.period_of(s.pmu_period) == 5s);
  CHECK(s.pmu_per_cpu);
  CHECK(!s.pmu_pods);
  CHECK(parsed({"--pmu-pods", "--pmu-most-pods", "5"}).value().pmu_most_pods == 5);
  CHECK(refusal({"--pmu-preset", "all"}) != "accepted");
  CHECK(refusal({"--pmu-period", "1ms"}).find("0s, or from 20ms to") != std::string::npos);
}

TEST_CASE("what does not fit together is refused with a remedy") {
  CHECK(refusal({"--aggregator", "a:9110"}).find("--cert is missing") == 0);
  CHECK(refusal({"--aggregator", "a:9110", "--cert", "c", "--key", "k"}).find("--ca is missing") == 0);
  CHECK(refusal({"--aggregator", "a:x", "--cert", "c", "--key", "k", "--ca", "a"}).find("\"a:x\"") !=
        std::string::npos);
  // What a node's status names is no mistake.
  CHECK(refusal({"--sources", "rapl,agent,host,pmu-pods"}) == "accepted");
  CHECK(refusal({"--sources", "rapl,ipmi"}).find("there is no source \"ipmi\"") != std::string::npos);
  CHECK(refusal({"--node-name", "no name"}).find("is no node name") != std::string::npos);
  CHECK(refusal({"--listen", ""}).find("nobody could read anything") != std::string::npos);
  CHECK(refusal({"--listen", "9103"}).find("is no address") != std::string::npos);
  CHECK(refusal({"--health", "9104"}).starts_with("health \"9104\" is no address"));
  CHECK(refusal({"--listen-cert", "x"}).find("belong together") != std::string::npos);
  CHECK(refusal({"--listen-ca", "x"}).find("belong together") != std::string::npos);
  CHECK(refusal({"--rapl-period", "1ms"}).find("0s, or from 20ms to") != std::string::npos);
  CHECK(refusal({"--period", "1ms"}) != "accepted");
  CHECK(refusal({"--no-such-flag", "1"}) != "accepted");
}

TEST_CASE("the machine's /sys and /proc must be folders") {
  support::temp_folder root;
  root.write("file", "");
  const auto missing = root / "none", file = root / "file";
  CHECK(refusal({"--sys-root", missing.c_str()}) ==
        "sys-root \"" + missing +
            "\" is no folder (No such file or directory): name the one where the machine's /sys is mounted");
  CHECK(refusal({"--proc-root", missing.c_str()}).find("where the machine's /proc is mounted") !=
        std::string::npos);
  CHECK(refusal({"--sys-root", file.c_str()}).find("file\" is no folder: name") != std::string::npos);
  CHECK(refusal({"--probe", "--sys-root", missing.c_str()}) != "accepted");
  CHECK(refusal({"--sys-root", root.path().c_str()}) == "accepted");
}

TEST_CASE("exporters are named by address, and in a file with settings of their own") {
  support::temp_folder folder;
  folder.write("more.yaml", "targets:\n- url: http://127.0.0.1:9400/metrics\n  name: gpu\n  metrics: [a]\n");
  folder.write("wrong.yaml", "targets:\n- url: http://127.0.0.1:9400/metrics\n  naem: gpu\n");
  settings s;
  s.scrape = {"http://localhost:9100"};
  s.scrape_metrics = {"node_*"};
  s.scrape_file = folder / "more.yaml";
  s.scrape_period = 500ms;
  REQUIRE(complete(s));
  REQUIRE(s.scrape_targets.size() == 2);
  CHECK(s.scrape_targets[0].metrics == std::vector<std::string>{"node_*"});
  CHECK(s.scrape_targets[0].timeout == 500ms);
  CHECK(s.scrape_targets[1].name == "gpu");
  CHECK(s.scrape_targets[1].period == 500ms);
  const std::string wrong = folder / "wrong.yaml", none = folder / "none.yaml";
  CHECK(refusal({"--scrape", "localhost:9100"}).find("scrape: \"localhost:9100\" is no address") == 0);
  CHECK(refusal({"--scrape", "https://localhost"}).find("name it and the CA in scrape-file") !=
        std::string::npos);
  CHECK(refusal({"--scrape", "http://a:1,http://a:1"}).find("two exporters are named a:1") == 0);
  CHECK(refusal({"--scrape-file", wrong.c_str()}).find("wrong.yaml line 3: unknown key \"naem\"") !=
        std::string::npos);
  CHECK(refusal({"--scrape-file", none.c_str()}).find("scrape-file ") == 0);
  CHECK(refusal({"--scrape-file", none.c_str(), "--sources", "os"}) == "accepted");
}

TEST_CASE("a probe needs no certificates") {
  CHECK(refusal({"--aggregator", "a:9110", "--probe"}) == "accepted");
}

TEST_CASE("addresses to listen on") {
  CHECK(parse_listen("127.0.0.1:9103").value().address == "127.0.0.1");
  CHECK(parse_listen("[::1]:80").value().address == "::1");
  CHECK(parse_listen("[::1]:80").value().port == 80);
  CHECK(parse_listen(":0").value().port == 0);
  CHECK(parse_listen(":9103").value().address.empty());
  for (const auto* text : {"", ":", "9103", ":x", ":65536", "::1:9103", "a:"}) {
    CAPTURE(text);
    CHECK(!parse_listen(text));
  }
}

TEST_SUITE_END();

}  // namespace config_test
