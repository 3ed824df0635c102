#include "agent/sources/scrape/selection.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <string>

namespace scrape_selection_test {

namespace {

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

constexpr std::string_view cpu =
    "# TYPE node_cpu_seconds_total counter\n"
    "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 10\nnode_cpu_seconds_total{cpu=\"1\",mode=\"user\"} 20\n"
    "node_cpu_seconds_total{cpu=\"0\",mode=\"idle\"} 100\n"
    "# TYPE temp_celsius gauge\ntemp_celsius{gpu=\"0\",uuid=\"a\"} 40\ntemp_celsius{gpu=\"1\",uuid=\"b\"} "
    "50\n"
    "# TYPE wait_seconds histogram\nwait_seconds_bucket{le=\"1\"} 3\nwait_seconds_bucket{le=\"+Inf\"} 4\n"
    "wait_seconds_sum 2.5\nwait_seconds_count 4\n"
    "pods_created 7\n";

struct picked {
  explicit picked(scrape_target t) : from(t) {}
  selection::reading read(std::string_view text, instant when = instant(1h)) {
    from.begin();
    const auto take = [this](const exposition::sample& s) { from.take(s); };
    REQUIRE(exposition::parse(text, {}, take));
    return from.finish(when);
  }
  selection from;
};

/// "name{label=value,…}" to its value, or to its reason.
std::map<std::string, std::string> shown(const selection::reading& r) {
  std::map<std::string, std::string> out;
  for (const auto& s : r.series) {
    std::string name = s.name + "{";
    for (const auto& [label, value] : s.labels) name += label + "=" + value + ",";
    const auto text = s.reason == wire::absence::none ? std::to_string(s.value).substr(0, 6)
                                                      : std::string(wire::to_string(s.reason));
    out[name + "}"] = text;
  }
  return out;
}

TEST_SUITE("agent/scrape/selection") {
  TEST_CASE("without a list all is taken but the parts of histograms that would be most of it") {
    picked p({});
    const auto r = p.read(cpu);
    const auto all = shown(r);
    CHECK(r.samples == 10);
    CHECK(all.contains("temp_celsius{gpu=0,uuid=a,}"));
    CHECK(all.contains("wait_seconds_sum{}"));
    CHECK(all.contains("pods_created{}"));  // no part of a family, just its name
    CHECK(!all.contains("wait_seconds_bucket{le=1,}"));
    CHECK(r.note.empty());
  }

  TEST_CASE("globs say what is taken") {
    struct row {
      std::vector<std::string> globs;
      std::size_t taken;  // without rates
    };
    const row rows[] = {{{"temp_celsius"}, 2},
                        {{"temp_*"}, 2},
                        {{"*"}, 8},
                        {{"nothing"}, 0},
                        {{"wait_seconds_*"}, 2},
                        {{"wait_seconds_bucket"}, 2},
                        {{"temp_*", "pods_created"}, 3},
                        {{"node_cpu_seconds_tota[a-l]"}, 3}};
    for (const auto& r : rows) {
      CAPTURE(r.globs.front());
      scrape_target t;
      t.metrics = r.globs;
      picked p(t);
      std::size_t taken = 0;
      for (const auto& s : p.read(cpu).series) taken += s.name.ends_with("_per_second") ? 0 : 1;
      CHECK(taken == r.taken);
    }
  }

  TEST_CASE("_created is taken only when asked for") {
    const std::string text = "# TYPE a counter\na_total 1\na_created 1395066363.5\n# EOF\n";
    scrape_target t;
    t.metrics = {"a*"};
    CHECK(picked(t).read(text).series.size() == 2);  // the counter and its rate
    t.metrics = {"a_created"};
    CHECK(picked(t).read(text).series.size() == 1);
  }

  TEST_CASE("a counter gets its rate from the second reading on, and none over a reset") {
    picked p({});
    auto all = shown(p.read("# TYPE a_total counter\na_total{q=\"1\"} 10\n", instant(1h)));
    CHECK(all["a_per_second{q=1,}"] == "not_read_yet");
    all = shown(p.read("# TYPE a_total counter\na_total{q=\"1\"} 30\n", instant(1h + 2s)));
    CHECK(all["a_per_second{q=1,}"].substr(0, 4) == "10.0");
    all = shown(p.read("# TYPE a_total counter\na_total{q=\"1\"} 5\n", instant(1h + 4s)));
    CHECK(all["a_per_second{q=1,}"] == "reset");
    all = shown(p.read("# TYPE a_total counter\n", instant(1h + 6s)));
    CHECK(all.empty());
    all = shown(p.read("# TYPE a_total counter\na_total{q=\"1\"} 50\n", instant(1h + 8s)));
    CHECK(all["a_per_second{q=1,}"] ==
          "not_read_yet");  // it was away: how long it did not count nobody knows
    all = shown(p.read("# TYPE b counter\nb 1\n", instant(1h + 10s)));
    CHECK(all.contains("b_per_second{}"));
  }

  TEST_CASE("dropped labels fold counters into their sum, gauges as asked") {
    scrape_target t;
    t.drop_labels = {"cpu", "gpu", "uuid"};
    SUBCASE("nothing asked: of gauges the first counts and the rest is refused by name") {
      picked p(t);
      const auto r = p.read(cpu);
      CHECK(shown(r)["node_cpu_seconds_total{mode=user,}"].substr(0, 4) == "30.0");
      CHECK(shown(r)["node_cpu_seconds_total{mode=idle,}"].substr(0, 4) == "100.");
      CHECK(r.note.find("1 series are the same as others without the labels dropped: give fold") == 0);
    }
    struct row {
      fold how;
      std::string value;
    };
    for (const auto& [how, value] :
         {row{fold::sum, "90.0"}, {fold::max, "50.0"}, {fold::min, "40.0"}, {fold::mean, "45.0"}}) {
      t.folded = how;
      picked p(t);
      const auto r = p.read(cpu);
      CHECK(shown(r)["temp_celsius{}"].substr(0, 4) == value);
      CHECK(r.note.empty());
    }
  }

  TEST_CASE("keep-labels drops all others") {
    scrape_target t;
    t.keep_labels = {"mode"};
    t.metrics = {"node_cpu_*"};
    picked p(t);
    CHECK(shown(p.read(cpu)).contains("node_cpu_seconds_total{mode=user,}"));
  }

  TEST_CASE("a series given twice is not folded into itself") {
    scrape_target t;
    t.drop_labels = {"x"};
    t.folded = fold::sum;
    picked p(t);
    const auto r = p.read("a{x=\"1\"} 5\na{x=\"1\"} 5\na{x=\"2\"} 1\n");
    CHECK(r.series.front().value == 6);
    CHECK(r.series.size() == 2);  // the second one is refused as a duplicate when it is announced
  }

  TEST_CASE("no more than its series are held, the rest is counted") {
    scrape_target t;
    t.series = 3;
    picked p(t);
    std::string text;
    for (int i = 0; i < 100; ++i) text += "a{i=\"" + std::to_string(i) + "\"} 1\n";
    const auto r = p.read(text);
    CHECK(r.series.size() == 3);
    CHECK(r.beyond == 97);
    CHECK(r.note == "97 series more than the 3 that are taken: narrow metrics, or raise series");
  }
}

}  // namespace

}  // namespace scrape_selection_test
