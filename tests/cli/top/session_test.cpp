#include "cli/top/session.hpp"

#include "cli/terminal_text.hpp"
#include "tests/cli/samples.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace top_session_test {

using namespace binnacle::cli;
using namespace binnacle::cli::top;

namespace {

const std::string url = "https://a:9102";

/// The lines of the page as a terminal would show them.
std::vector<std::string> text_of(const page& p, std::size_t width = 80) {
  std::vector<std::string> out;
  for (const line& l : p.lines) {
    std::string row;
    for (const span& s : l.spans) {
      CHECK(s.x >= columns_of(row));
      CHECK(s.x + columns_of(s.text) <= width);
      row.append(s.x - columns_of(row), ' ');
      row += s.text;
    }
    out.push_back(row);
  }
  return out;
}

struct bench {
  session s{{}, true};
  std::size_t width = 80;
  std::vector<std::string> text(std::int64_t now = 0) { return text_of(s.draw(now), width); }
  std::string all(std::int64_t now = 0) { return fmt::format("{}\n", fmt::join(text(now), "\n")); }
  bool shows(std::string_view what, std::int64_t now = 0) { return all(now).find(what) != std::string::npos; }
  void type(std::string_view keys) {
    for (const char c : keys) s.handle({key::character, std::string(1, c)});
  }
  void press(key what) { s.handle({what}); }
  void take(const char* sample = nodes_sample, std::int64_t now = 0) {
    s.take_nodes(parsed(sample), url, now);
  }
};

std::string many(int nodes, int hot = -1) {
  std::string list;
  for (int i = 0; i < nodes; ++i)
    list += fmt::format(
        "{}{{\"name\":\"n{:04}\",\"connected\":true,\"values\":{{\"host_power_watts\":{{\"value\":{},"
        "\"ageMs\":5}}}}}}",
        i == 0 ? "" : ",", i, i == hot ? 9999 : nodes - i);
  return R"({"time":"2026-01-01T12:00:00Z","metrics":[{"name":"host_power_watts","unit":"watts"}],"nodes":[)" +
         list + "]}";
}

}  // namespace

TEST_SUITE("cli/top/session") {
  TEST_CASE("the page at 80 by 24") {
    bench b;
    b.take();
    const auto t = b.text(90);
    REQUIRE(t.size() == 24);
    CHECK(t[0] == "binnacle top  12:00:00Z  2 of 3 nodes up  93.5 W*  1 violating  ▁");
    CHECK(t[1] == "1-3 of 3 nodes  by POWER  https://a:9102");
    CHECK(t[2] == "NODE                POWER         CPU     AGE  TREND         power        lab/h…");
    CHECK(t[3] == "node-b            71.4 W*      98.8 %   540ms  ▁             violating    (pass)");
    CHECK(t[4] == "node-a             22.1 W       3.1 %   570ms  ▁             pass         (viol…");
    CHECK(t[5] == "node-c (down)   link down   link down   15.3s  ·             missing      (pass)");
    CHECK(t[22] == "node-b: power dontschedule: rapl_power_watts GreaterThan 60; power deschedule: …");
    CHECK(t[23] == "? help  / filter  s sort  r reverse  g group  p policy  c columns  q quit");
  }

  TEST_CASE("before the first answer it says what it does, and why there is none") {
    bench b;
    CHECK(b.shows("asking the aggregator"));
    b.s.miss("cannot reach https://a:9102: refused");
    CHECK(b.shows("cannot reach https://a:9102: refused\nTrying again every second; q ends."));
    b.take(R"({"nodes":[],"total":0,"time":"T"})");
    CHECK(b.shows("no node has connected yet"));
  }

  TEST_CASE("what the answer had no room for is said") {
    bench b;
    b.s.resize(b.width = 160, 24);
    std::string sample = many(3);
    sample.insert(sample.size() - 1, R"(,"omitted":4,"strategiesOmitted":2)");
    b.take(sample.c_str());
    CHECK(b.shows("4 more have no room in the answer"));
    CHECK(b.shows("no room for the verdicts of 2 strategies"));
  }

  TEST_CASE("what is shown without an aggregator says how old it is") {
    bench b;
    b.take();
    b.s.miss("cannot reach https://a:9102: refused");
    CHECK(b.shows("what is shown is 12.0s old: cannot reach https://a:9102: refused; trying again", 12'000));
    CHECK(b.shows("node-b"));
    b.take();
    CHECK_FALSE(b.shows("refused"));
  }

  TEST_CASE("a replica that is away is named while the other one answers") {
    bench b;
    b.take();
    b.s.take_replicas({{url, ""}, {"https://b:9102", "cannot reach it"}});
    CHECK(b.shows("https://b:9102 is away: cannot reach it"));
    b.s.take_replicas({{url, ""}, {"https://b:9102", ""}});
    CHECK_FALSE(b.shows("is away"));
  }

  TEST_CASE("the list scrolls by rows and pages, and a row stays in view") {
    bench b;
    b.take(many(5000).c_str());
    CHECK(b.shows("1-19 of 5000 nodes"));
    b.press(key::page_down);
    CHECK(b.shows("20-38 of 5000 nodes"));
    b.press(key::page_up);
    CHECK(b.shows("1-19 of 5000 nodes"));
    b.press(key::end);
    CHECK(b.shows("4982-5000 of 5000 nodes"));
    CHECK(b.shows("n4999"));
    b.press(key::down);
    CHECK(b.shows("4982-5000 of 5000 nodes"));
    b.press(key::home);
    CHECK(b.shows("1-19 of 5000"));
    for (int i = 0; i < 10; ++i) b.s.handle({key::wheel_down});
    CHECK(b.shows("n0030"));
  }

  TEST_CASE("the selection stays on its node when the order changes, and on the first row if it was there") {
    bench b;
    b.take(many(10).c_str());
    b.press(key::down);
    b.press(key::down);
    const auto selected = [&] {
      for (const line& l : b.s.draw(0).lines) {
        if (l.how == look::selected) return l.spans.front().text;
      }
      return std::string();
    };
    CHECK(selected() == "n0002");
    b.take(many(10, 2).c_str());
    CHECK(selected() == "n0002");
    b.press(key::home);
    b.take(many(10, 7).c_str());
    CHECK(selected() == "n0007");
  }

  TEST_CASE("a click on a header sorts, a second one turns the order round, a click on a row selects it") {
    bench b;
    b.take();
    b.s.handle({key::click, {}, 1, 2});
    CHECK(b.shows("by NODE"));
    CHECK(b.text()[3].starts_with("node-a"));
    b.s.handle({key::click, {}, 1, 2});
    CHECK(b.shows("by NODE, reversed"));
    CHECK(b.text()[3].starts_with("node-c"));
    b.s.handle({key::click, {}, 5, 5});
    CHECK(b.s.draw(0).lines[5].how == look::selected);
    b.s.handle({key::click, {}, 79, 23});
    b.s.handle({key::click, {}, 500, 500});
    b.type(">");
    CHECK(b.shows("by POWER"));
    b.type("3");
    CHECK(b.shows("by CPU"));
    b.type("r");
    CHECK(b.shows("by CPU, reversed"));
  }

  TEST_CASE("a filter works while it is typed; Escape takes it back") {
    bench b;
    b.take();
    b.type("/NODE-b");
    CHECK(b.s.draw(0).typing);
    CHECK(b.text().back() == "/NODE-b");
    CHECK(b.shows("1-1 of 1 node"));
    b.press(key::backspace);
    CHECK(b.shows("of 3 nodes"));
    b.type("q");  // a letter here, not the end
    CHECK_FALSE(b.s.done());
    CHECK(b.shows("no node"));
    b.press(key::escape);
    CHECK(b.shows("1-3 of 3 nodes"));
    b.type("/a");
    b.press(key::enter);
    CHECK(b.shows("filter a"));
    b.press(key::escape);
    CHECK_FALSE(b.shows("filter a"));
    b.type("q");
    CHECK(b.s.done());
  }

  TEST_CASE("a group is opened with Enter and left with Escape") {
    bench b;
    b.take();
    b.type("g");
    CHECK(b.shows("One row for each"));
    b.press(key::down);
    CHECK(b.shows("connection"));
    b.press(key::enter);
    CHECK(b.shows("connected (2)"));
    CHECK(b.shows("down (1)"));
    b.press(key::enter);
    CHECK(b.shows("only link=connected"));
    CHECK(b.shows("1-2 of 2 nodes"));
    b.press(key::escape);
    CHECK(b.shows("connected (2)"));
    b.press(key::escape);
    CHECK(b.shows("1-3 of 3 nodes"));
  }

  TEST_CASE("labels of Node objects are asked for while nodes are grouped or filtered by one") {
    using wanted = std::vector<std::string>;
    bench b;
    b.take();
    CHECK(b.s.wanted_labels().empty());
    b.type("g");
    CHECK(b.s.wanted_labels() == wanted{""});
    b.press(key::down);
    b.s.take_labels("",
                    parsed(R"({"keys":[{"key":"zone","nodes":3,"values":1},{"key":"e.com/Rack","values":2},
      {"key":"host"}]})"));
    CHECK(b.shows("label zone"));
    CHECK(b.shows("label e.com/Rack"));
    CHECK_FALSE(b.shows("label host"));
    b.press(key::up);  // the list has grown below the line that was selected
    for (int i = 0; i < 9; ++i) b.press(key::down);
    b.press(key::enter);
    CHECK(b.s.wanted_labels() == wanted{"zone"});
    b.s.take_labels("zone",
                    parsed(R"({"key":"zone","values":[{"value":"z1","nodes":["node-a","node-b"]}]})"));
    CHECK(b.shows("z1 (2)"));
    CHECK(b.shows("(none) (1)"));
    CHECK(b.shows("93.5 W"));  // of both
    b.type("1");
    b.press(key::down);
    b.press(key::enter);
    CHECK(b.shows("only zone=z1"));
    CHECK(b.shows("1-2 of 2 nodes"));
    CHECK(b.s.wanted_labels() == wanted{"zone"});
    b.press(key::escape);
    b.press(key::escape);
    CHECK(b.s.wanted_labels().empty());

    b.type("/rack");
    CHECK(b.s.wanted_labels().empty());
    b.type("=r7");
    CHECK(b.s.wanted_labels() == wanted{"", "e.com/Rack"});
    CHECK(b.shows("no node"));
    b.s.take_labels("e.com/Rack", parsed(R"({"values":[{"value":"r7","nodes":["node-c"]}]})"));
    CHECK(b.shows("node-c"));
    CHECK(b.shows("1-1 of 1 node "));
    b.s.miss_labels("cannot reach https://a:9102: refused");
    CHECK(b.shows("the labels of Node objects are not known: cannot reach"));
    b.press(key::escape);
    CHECK_FALSE(b.shows("are not known"));
  }

  TEST_CASE("a policy is watched with its rules and the metrics that they compare") {
    bench b;
    b.take();
    CHECK_FALSE(b.s.wants_policies());
    b.type("p");
    b.press(key::down);
    b.press(key::enter);
    CHECK(b.s.wants_policies());
    b.s.take_policies(parsed(policies_sample));
    CHECK(b.shows("policy default/power"));
    CHECK(b.text()[2].starts_with(
        "dontschedule: rapl_power_watts GreaterThan 60; dontschedule: inlet_celsius"));
    CHECK_FALSE(b.shows("lab/heat"));
    CHECK(b.text()[4].starts_with("node-b"));
    b.press(key::escape);
    CHECK_FALSE(b.s.wants_policies());
    CHECK(b.shows("lab/h"));
  }

  TEST_CASE("columns are chosen from a list and scrolled to") {
    bench b;
    b.take();
    b.type("c");
    CHECK(b.shows("[x] rapl_power_watts"));
    CHECK(b.shows("[ ] os_memory_available_bytes"));
    b.press(key::down);
    b.type(" ");
    CHECK(b.shows("[ ] os_cpu_utilization_ratio"));
    b.press(key::escape);
    CHECK(b.text()[2] == "NODE                POWER     AGE  TREND         power        lab/heat     WHY");
    b.press(key::right);
    CHECK(b.text()[2].starts_with("NODE              AGE"));
    b.press(key::left);
    CHECK(b.text()[2].starts_with("NODE                POWER"));
  }

  TEST_CASE("while updates are stopped, an answer changes nothing") {
    bench b;
    b.take();
    b.type(" ");
    CHECK(b.shows("updates stopped"));
    b.take(many(10).c_str());
    CHECK(b.shows("node-b"));
    b.type(" ");
    b.take(many(10).c_str());
    CHECK_FALSE(b.shows("node-b"));
  }

  TEST_CASE("every size is drawn within it, and one that is too small says so in one line") {
    bench b;
    b.take();
    b.s.miss("cannot reach https://a:9102: refused");
    for (const char* keys : {"", "?", "?g", "\x1bs", "/x"}) {
      for (const char c : std::string(keys)) {
        if (c == '\x1b')
          b.press(key::escape);
        else
          b.type(std::string(1, c));
      }
      for (std::size_t width = 1; width < 130; width += 7) {
        for (std::size_t height = 1; height < 40; height += 3) {
          CAPTURE(width);
          CAPTURE(height);
          b.s.resize(width, height);
          const auto t = text_of(b.s.draw(0), width);
          CHECK(t.size() <= height);
          if (width < 30 || height < 8) CHECK(t.size() == 1);
        }
      }
    }
    b.s.resize(29, 24);
    CHECK(b.all() == "too small: 30x8 needed\n");
  }

  TEST_CASE("what a terminal would obey never leaves, wherever it came from") {
    bench b;
    b.take(
        "{\"time\":\"T\\u001b[2J\",\"metrics\":[{\"name\":\"m\\u001b[1m\",\"unit\":\"\\u0007\"}],\"nodes\":[{"
        "\"name\":\"n\\u001b]0;owned\\u0007\\u202e\","
        "\"connected\":true,\"agentVersion\":\"\\u001bv\",\"labels\":{\"k\\u001b\":\"v\\u009b2J\"},"
        "\"warning\":\"w\\u001b\",\"sources\":[{\"source\":\"s\\u001b\","
        "\"ok\":false,\"message\":\"m\\r\\n\\u001b\"}],\"values\":{\"m\\u001b[1m\":{\"absent\":\"a\\u001b\"}}"
        ",\"verdicts\":[{\"policy\":\"p\\u001b\",\"strategy\":\"s\\u001b\","
        "\"state\":\"violating\",\"rule\":\"r\\u001b\"}]}],\"total\":1}");
    b.s.take_replicas({{"https://b:9102", "away"}});
    for (const char* keys : {"", "s", "g", "p", "c"}) {
      b.press(key::escape);
      b.press(key::escape);
      b.type(keys);
      for (const line& l : b.s.draw(0).lines) {
        for (const span& s : l.spans) {
          CAPTURE(s.text);
          for (const char c : s.text) CHECK((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
          CHECK(s.text.find("\xc2\x9b") == std::string::npos);
          CHECK(s.text.find("\u202e") == std::string::npos);
        }
      }
      if (*keys != '\0') b.press(key::enter);
    }
  }
}

}  // namespace top_session_test
