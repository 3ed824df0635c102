#include "agent/config.hpp"

#include "agent/source_list.hpp"
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
  const auto kinds = all_source_kinds();
  auto spec = agent::bind(s, kinds);
  flags.insert(flags.begin(), "binnacle-agent");
  std::ostringstream out;
  if (const auto done = spec.parse(static_cast<int>(flags.size()), flags.data(), out); !done)
    return done.error();
  if (const auto done = complete(s, kinds); !done) return done.error();
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
  CHECK(!s.reads("rdt"));
  CHECK(s.period == 1s);
}

TEST_CASE("a file and flags") {
  support::temp_folder folder;
  folder.write("agent.yaml",
               "node-name: node7\naggregator: [a:9110, b]\ncert: c.crt\nkey: c.key\nca: ca.crt\nperiod: "
               "2s\nsources: [rapl, os]\nrapl-tdp: 250\n");
  const auto file = folder / "agent.yaml";
  const auto s = parsed({"--config", file.c_str(), "--period", "5s", "--aggregator", "x:1,y:2"}).value();
  CHECK(s.node_name == "node7");
  CHECK(s.aggregator == std::vector<std::string>{"x:1", "y:2"});
  CHECK(s.period_of({}) == 5s);
  CHECK(s.period_of(200ms) == 200ms);
  CHECK(!s.reads("textfile"));
}

TEST_CASE("the printed file is one that --config takes") {
  settings s;
  const auto kinds = all_source_kinds();
  support::temp_folder folder;
  folder.write("printed.yaml", agent::bind(s, kinds).commented_defaults());
  const auto file = folder / "printed.yaml";
  CHECK(refusal({"--config", file.c_str()}) == "accepted");
}

TEST_CASE("an aggregator's invalid address is refused with a sentence") {
  CHECK(refusal({"--aggregator", ":::"}).find("\":::\" is not an address: use HOST:PORT") !=
        std::string::npos);
}

TEST_CASE("what does not fit together is refused with a remedy") {
  CHECK(refusal({"--aggregator", "a:9110"}).find("--cert is missing") == 0);
  CHECK(refusal({"--aggregator", "a:9110", "--cert", "c", "--key", "k"}).find("--ca is missing") == 0);
  CHECK(refusal({"--aggregator", "a:x", "--cert", "c", "--key", "k", "--ca", "a"}).find("\"a:x\"") !=
        std::string::npos);
  // Names that a node's status shows are accepted, too.
  CHECK(refusal({"--sources", "rapl,agent,host,pmu-pods"}) == "accepted");
  CHECK(refusal({"--sources", "rapl,ipmi"}).find("there is no source \"ipmi\"") != std::string::npos);
  CHECK(refusal({"--node-name", "no name"}).find("is not a valid node name") != std::string::npos);
  CHECK(refusal({"--listen", ""}).find("nobody could read anything") != std::string::npos);
  CHECK(refusal({"--listen", "9103"}).find("is not an address") != std::string::npos);
  CHECK(refusal({"--health", "9104"}).starts_with("health \"9104\" is not an address"));
  CHECK(refusal({"--listen-cert", "x"}).find("belong together") != std::string::npos);
  CHECK(refusal({"--listen-ca", "x"}).find("belong together") != std::string::npos);
  CHECK(refusal({"--period", "1ms"}) != "accepted");
  CHECK(refusal({"--no-such-flag", "1"}) != "accepted");
}

TEST_CASE("the machine's /sys and /proc must be folders") {
  support::temp_folder root;
  root.write("file", "");
  const auto missing = root / "none", file = root / "file";
  CHECK(
      refusal({"--sys-root", missing.c_str()}) ==
      "sys-root \"" + missing +
          "\" is not a folder (No such file or directory): name the one where the machine's /sys is mounted");
  CHECK(refusal({"--proc-root", missing.c_str()}).find("where the machine's /proc is mounted") !=
        std::string::npos);
  CHECK(refusal({"--sys-root", file.c_str()}).find("file\" is not a folder: name") != std::string::npos);
  CHECK(refusal({"--probe", "--sys-root", missing.c_str()}) != "accepted");
  CHECK(refusal({"--sys-root", root.path().c_str()}) == "accepted");
}

TEST_CASE("a probe needs no certificates") {
  CHECK(refusal({"--aggregator", "a:9110", "--probe"}) == "accepted");
}

TEST_CASE("addresses to listen on") {
  CHECK(parse_listen("127.0.0.1:9103").value().host == "127.0.0.1");
  CHECK(parse_listen("[::1]:80").value().host == "::1");
  CHECK(parse_listen("[::1]:80").value().port == 80);
  CHECK(parse_listen(":0").value().port == 0);
  CHECK(parse_listen(":9103").value().host.empty());
  for (const auto* text : {"", ":", "9103", ":x", ":65536", "::1:9103", "a:"}) {
    CAPTURE(text);
    CHECK(!parse_listen(text));
  }
}

TEST_SUITE_END();

}  // namespace config_test
