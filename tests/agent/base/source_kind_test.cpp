// The settings of single sources, and which sources they make.
#include "agent/base/source_kind.hpp"

#include "agent/source_list.hpp"
#include "agent/sources/os/os_kind.hpp"
#include "agent/sources/path/path_kind.hpp"
#include "agent/sources/pmu/pmu_kind.hpp"
#include "agent/sources/rapl/rapl_kind.hpp"
#include "agent/sources/scrape/scrape_kind.hpp"
#include "agent/sources/textfile/textfile_kind.hpp"
#include "tests/agent/parsed_kind.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace source_kind_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using namespace std::chrono_literals;

namespace {

const logger silent("test", log_level::off);

std::vector<std::string> made(const source_kinds& kinds, const settings& s) {
  std::vector<std::string> names;
  for (const auto& one : make_sources(kinds, s, silent)) names.emplace_back(one->name());
  return names;
}

settings usual(const source_kinds& kinds) {
  settings s;
  s.sources = usual_names(kinds);
  return s;
}

template <class Kind>
std::string refusal(std::vector<const char*> flags, const settings& s = {}) {
  Kind kind;
  const auto done = give(kind, std::move(flags), s);
  return done ? "accepted" : done.error().message;
}

}  // namespace

TEST_SUITE_BEGIN("agent/source_kind");

TEST_CASE("what has nothing to read is not made, and --probe says what would give it something") {
  const auto kinds = all_source_kinds();
  const auto s = usual(kinds);
  CHECK(made(kinds, s) == std::vector<std::string>{"rapl", "os", "pmu", "bmc", "host"});
  std::vector<std::string> told;
  for (const auto& one : findings_of_unmade(kinds, s)) {
    told.push_back(one.source);
    REQUIRE(one.found.size() == 1);
    CHECK(one.found[0].how == finding::grade::absent);
    CHECK_FALSE(one.found[0].remedy.empty());
  }
  CHECK(told == std::vector<std::string>{"textfile", "scrape", "path", "rdt"});
}

TEST_CASE("if the setting names the sources, there are no findings about the other sources") {
  const auto kinds = all_source_kinds();
  auto s = usual(kinds);
  s.sources = {"os", "path"};
  CHECK(made(kinds, s) == std::vector<std::string>{"os", "host"});
  const auto told = findings_of_unmade(kinds, s);
  REQUIRE(told.size() == 1);
  CHECK(told[0].source == "path");
}

TEST_CASE("each source has a name of its own, and the last is made of the others") {
  const auto kinds = all_source_kinds();
  CHECK(offered_names(kinds) ==
        std::vector<std::string>{"rapl", "os", "pmu", "bmc", "textfile", "scrape", "path", "rdt"});
  CHECK(kinds.back()->name() == "host");
}

TEST_CASE("a source has a period of its own, or the common one") {
  settings s;
  s.period = 5s;
  CHECK(rapl_kind().options(s).period == 5s);
  CHECK(parsed_kind<rapl_kind>({"--rapl-period", "200ms", "--rapl-tdp", "250"})->options(s).period == 200ms);
  CHECK(parsed_kind<rapl_kind>({"--rapl-tdp", "250"})->options(s).tdp_watts == 250);
  CHECK(os_kind().options(s).period == 5s);
  CHECK(refusal<rapl_kind>({"--rapl-period", "1ms"}).find("0s, or from 20ms to") != std::string::npos);
}

TEST_CASE("the machine's folders reach the sources") {
  settings s;
  s.sys_root = "/host/sys";
  s.proc_root = "/host/proc";
  CHECK(os_kind().options(s).sys == "/host/sys");
  CHECK(os_kind().options(s).proc == "/host/proc");
  CHECK(os_kind().options(s).net.empty());
  CHECK(parsed_kind<os_kind>({"--proc-net", "/host/net"})->options(s).net == "/host/net");
  CHECK(rapl_kind().options(s).sys_root == "/host/sys");
  CHECK(pmu_kind().options(s).proc_root == "/host/proc");
  CHECK(pod_kind().options(s).sys_root == "/host/sys");
}

TEST_CASE("what the PMU counts") {
  settings s;
  CHECK(pmu_kind().options(s).wishes.preset == event_preset::lean);
  const auto kind = parsed_kind<pmu_kind>({"--pmu-preset", "collectd", "--pmu-events", "instructions,r01c2",
                                           "--pmu-period", "5s", "--pmu-per-cpu"});
  const auto o = kind->options(s);
  CHECK(o.wishes.preset == event_preset::collectd);
  CHECK(o.wishes.events == std::vector<std::string>{"instructions", "r01c2"});
  CHECK(o.period == 5s);
  CHECK(o.per_cpu);
  CHECK(refusal<pmu_kind>({"--pmu-preset", "all"}) != "accepted");
}

TEST_CASE("pods are counted beside pmu if asked for, or if a list of sources names them") {
  settings s;
  s.sources = {"pmu"};
  CHECK_FALSE(pod_kind().wanted(s));
  const auto asked = parsed_kind<pod_kind>({"--pmu-pods", "--pmu-most-pods", "5"});
  CHECK(asked->wanted(s));
  CHECK(asked->options(s).most_pods == 5);
  s.sources = {"os"};
  CHECK_FALSE(asked->wanted(s));
  s.sources = {"pmu-pods"};
  CHECK(pod_kind().wanted(s));
}

TEST_CASE("exporters are named by address, and in a file with settings of their own") {
  temp_folder folder;
  folder.write("more.yaml", "targets:\n- url: http://127.0.0.1:9400/metrics\n  name: gpu\n  metrics: [a]\n");
  folder.write("wrong.yaml", "targets:\n- url: http://127.0.0.1:9400/metrics\n  naem: gpu\n");
  const std::string more = folder / "more.yaml", wrong = folder / "wrong.yaml", none = folder / "none.yaml";
  settings s;
  s.sources = {"scrape"};
  const auto kind =
      parsed_kind<scrape_kind>({"--scrape", "http://localhost:9100", "--scrape-metrics", "node_*",
                                "--scrape-file", more.c_str(), "--scrape-period", "500ms"},
                               s);
  REQUIRE(kind->targets().size() == 2);
  CHECK(kind->targets()[0].metrics == std::vector<std::string>{"node_*"});
  CHECK(kind->targets()[0].timeout == 500ms);
  CHECK(kind->targets()[1].name == "gpu");
  CHECK(kind->targets()[1].period == 500ms);
  CHECK(refusal<scrape_kind>({"--scrape", "localhost:9100"}, s)
            .find("scrape: \"localhost:9100\" is not an address") == 0);
  CHECK(
      refusal<scrape_kind>({"--scrape", "https://localhost"}, s).find("name it and the CA in scrape-file") !=
      std::string::npos);
  CHECK(refusal<scrape_kind>({"--scrape", "http://a:1,http://a:1"}, s).find("two exporters are named a:1") ==
        0);
  CHECK(refusal<scrape_kind>({"--scrape-file", wrong.c_str()}, s)
            .find("wrong.yaml line 3: unknown key \"naem\"") != std::string::npos);
  CHECK(refusal<scrape_kind>({"--scrape-file", none.c_str()}, s).find("scrape-file ") == 0);
  s.sources = {"os"};
  CHECK(refusal<scrape_kind>({"--scrape-file", none.c_str()}, s) == "accepted");
}

TEST_CASE("a peer's invalid address is refused with the setting's name") {
  CHECK(refusal<path_kind>({"--path", ":::"}).starts_with("path: "));
}

TEST_CASE("a report asks only the sources that read this machine itself") {
  std::vector<std::string> asked;
  for (const auto& kind : all_source_kinds()) {
    if (kind->of_this_machine()) asked.emplace_back(kind->name());
  }
  CHECK(asked == std::vector<std::string>{"rapl", "os", "pmu", "bmc", "rdt"});
}

TEST_SUITE_END();

}  // namespace source_kind_test
