#include "agent/sources/scrape/sample_picker.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <string>

namespace sample_picker_test {

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
  sample_picker::reading read(std::string_view text, instant when = instant(1h)) {
    from.begin();
    const auto take = [this](const exposition::sample& s) { from.take(s); };
    REQUIRE(exposition::parse(text, {}, take));
    return from.finish(when);
  }
  sample_picker from;
};

/// Each series as "name{label=value,…}", with its value or reason.
std::map<std::string, std::string> shown(const sample_picker::reading& r) {
  std::map<std::string, std::string> out;
  for (const auto& s : r.series) {
    std::string name = s.name + "{";
    for (const auto& [label, value] : s.labels) name += label + "=" + value + ",";
    const auto text =
        s.reason == absence::none ? std::to_string(s.value).substr(0, 6) : std::string(to_string(s.reason));
    out[name + "}"] = text;
  }
  return out;
}

TEST_SUITE("agent/sources/scrape/sample_picker") {
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
      std::size_t taken;  // series, without those of rates
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

  TEST_CASE("a list of metrics that takes nothing is reported") {
    scrape_target t;
    t.metrics = {"temp_fahrenheit"};
    picked p(t);
    CHECK(p.read(cpu).note == "none of its 10 samples is taken: look at metrics (scrape-metrics)");
    CHECK(p.read("").note.empty());
  }

  TEST_CASE("a glob that nothing fits is a remark, in each reading anew") {
    scrape_target t;
    t.metrics = {"temp_*", "node_cpu_second_total", "power_watts", "temp_celsius"};
    picked p(t);
    const auto first = p.read(cpu);
    CHECK(first.note.empty());
    CHECK(first.remark ==
          "nothing is named \"node_cpu_second_total\" (and 1 more): look at metrics "
          "(scrape-metrics)");
    // This reading begins with the name with which the last one ended.
    CHECK(p.read("power_watts 5\n").remark.starts_with("nothing is named \"temp_*\" (and 2 more)"));
    CHECK(p.read("power_watts 5\ntemp_celsius 3\nnode_cpu_second_total 1\n").remark.empty());
    CHECK(p.read("up 1\n").remark.empty());  // the note says so
    CHECK(picked({}).read(cpu).remark.empty());
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

  // Before, the largest value was there or not, depending on the order.
  TEST_CASE("a part that is NaN takes a fold's value away, be it first or last") {
    scrape_target t;
    t.drop_labels = {"gpu"};
    for (const auto how : {fold::sum, fold::max, fold::min, fold::mean}) {
      CAPTURE(static_cast<int>(how));
      t.folded = how;
      for (const char* text : {"t{gpu=\"0\"} NaN\nt{gpu=\"1\"} 50\n", "t{gpu=\"0\"} 50\nt{gpu=\"1\"} NaN\n",
                               "t{gpu=\"0\"} 60\nt{gpu=\"1\"} NaN\nt{gpu=\"2\"} 50\n"}) {
        CAPTURE(text);
        picked p(t);
        const auto r = p.read(text);
        REQUIRE(r.series.size() == 1);
        CHECK(std::isnan(r.series[0].value));
      }
    }
  }

  TEST_CASE("fold is for gauges: counters are added up whatever it says") {
    scrape_target t;
    t.drop_labels = {"cpu"};
    for (const auto how : {fold::none, fold::sum, fold::max, fold::min, fold::mean}) {
      CAPTURE(static_cast<int>(how));
      t.folded = how;
      picked p(t);
      CHECK(shown(p.read(cpu))["node_cpu_seconds_total{mode=user,}"].substr(0, 4) == "30.0");
    }
  }

  TEST_CASE("the rate of a folded counter is the sum of its parts' rates") {
    scrape_target t;
    t.keep_labels = {"pod"};
    picked p(t);
    const auto rate = [&](std::string_view x, std::string_view y, instant when) {
      std::string text = "# TYPE used_total counter\n";
      for (const auto& [container, value] : {std::pair("x", x), {"y", y}}) {
        if (value.empty()) continue;
        text += "used_total{pod=\"a\",container=\"" + std::string(container) + "\"} ";
        text += std::string(value) + "\n";
      }
      return shown(p.read(text, when))["used_per_second{pod=a,}"].substr(0, 9);
    };
    CHECK(rate("1000", "5000", instant(1h)) == "not_read_");
    CHECK(rate("1001", "5002", instant(1h + 1s)) == "3.0000");
    CHECK(rate("1002", "", instant(1h + 2s)) == "1.0000");         // one ended: the other goes on
    CHECK(rate("1003", "5002", instant(1h + 3s)) == "not_read_");  // it is back: no 5,000 in a second
    CHECK(rate("1004", "5003", instant(1h + 4s)) == "2.0000");
    // The other part rises by more than this one falls, so the sum does not show the restart.
    CHECK(rate("9004", "1", instant(1h + 5s)) == "reset");
    CHECK(rate("9005", "2", instant(1h + 6s)) == "2.0000");
  }

  TEST_CASE("a timestamp says when a sample was measured: rates are between two measurements") {
    scrape_target t;
    t.stale_after = 30s;
    picked p(t);
    const auto rate = [&](int value, int stamp_s, instant when) {
      const auto stamp = stamp_s == 0 ? "" : " " + std::to_string(stamp_s) + "000";
      return shown(p.read("# TYPE used_total counter\nused_total " + std::to_string(value) + stamp + "\n",
                          when))["used_per_second{}"]
          .substr(0, 9);
    };
    CHECK(rate(100, 5000, instant(1h)) == "not_read_");
    CHECK(rate(100, 5000, instant(1h + 1s)) == "not_read_");  // the same measurement again
    CHECK(rate(150, 5010, instant(1h + 9s)) == "5.0000");     // the exporter's ten seconds
    CHECK(rate(150, 5010, instant(1h + 10s)) == "5.0000");
    CHECK(rate(150, 5010, instant(1h + 18s)) == "5.0000");
    CHECK(rate(180, 5020, instant(1h + 19s)) == "3.0000");
    CHECK(rate(190, 4000, instant(1h + 20s)) == "not_read_");  // its clock was set back
    CHECK(rate(200, 4010, instant(1h + 30s)) == "1.0000");
    CHECK(rate(210, 0, instant(1h + 31s)) == "not_read_");
    CHECK(rate(220, 0, instant(1h + 41s)) == "1.0000");
  }

  TEST_CASE("a timestamp that stands still for longer than stale-after makes its series absent") {
    scrape_target t;
    t.stale_after = 30s;
    t.drop_labels = {"x"};
    t.folded = fold::sum;
    picked p(t);
    const std::string text =
        "a 1 5000\nb 2\nc{x=\"1\"} 3 5000\nc{x=\"2\"} 4\n# TYPE d_total counter\nd_total 5 5000\n";
    auto all = shown(p.read(text, instant(1h)));
    CHECK(all["a{}"] == "1.0000");
    all = shown(p.read(text, instant(1h + 30s)));
    CHECK(all["a{}"] == "1.0000");
    const auto late = p.read(text, instant(1h + 31s));
    all = shown(late);
    CHECK(all["a{}"] == "no_data");
    CHECK(all["b{}"] == "2.0000");
    CHECK(all["c{}"] == "no_data");  // a part of it is
    CHECK(all["d_total{}"] == "no_data");
    CHECK(all["d_per_second{}"] == "no_data");
    CHECK(late.note ==
          "3 samples have had the same timestamp for longer than 30.0s: raise stale-after if the "
          "exporter measures less often");
    all = shown(p.read("a 1 6000\n", instant(1h + 32s)));
    CHECK(all["a{}"] == "1.0000");
  }

  TEST_CASE("stamps of which no difference can be made are none") {
    picked p({});
    const std::string head = "# TYPE a_total counter\na_total ";
    for (const std::string stamp : {"-1", "9223372036854775807", "-9223372036854775808", "9223372036855"}) {
      CAPTURE(stamp);
      p.read(head + "1 " + stamp + "\n", instant(1h));
      const auto all = shown(p.read(head + "3 " + stamp + "\n", instant(1h + 2s)));
      CHECK(all.at("a_per_second{}") == "1.0000");
      p.read("", instant(1h + 3s));
    }
  }

  TEST_CASE("no more samples are folded than is bounded, and of a part there is no sum") {
    scrape_target t;
    t.drop_labels = {"i"};
    t.folded = fold::sum;
    picked p(t);
    const auto some = [&](std::size_t count) {
      std::string text = "b{i=\"1\"} 1\nb{i=\"2\"} 1\n";
      for (std::size_t i = 0; i < count; ++i) text += "a{i=\"" + std::to_string(i) + "\"} 1\n";
      p.from.begin();
      exposition::limits wide;
      wide.series = 100'000;
      const auto take = [&](const exposition::sample& s) { p.from.take(s); };
      REQUIRE(exposition::parse(text, wide, take));
      return p.from.finish(instant(1h));
    };
    const auto whole = some(sample_picker::most_folded);
    CHECK(whole.series.at(1).value == static_cast<double>(sample_picker::most_folded));
    CHECK(whole.note.empty());
    const auto more = some(sample_picker::most_folded + 7);
    CHECK(shown(more)["a{}"] == "no_data");
    CHECK(shown(more)["b{}"] == "2.0000");
    CHECK(more.beyond == 7);
    CHECK(more.note == "7 samples more than the 10000 that are folded: narrow metrics, or keep more labels");
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

}  // namespace sample_picker_test
