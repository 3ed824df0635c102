#include "common/exposition/exposition.hpp"

#include <doctest/doctest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <locale>
#include <string>
#include <vector>

namespace exposition = binnacle::exposition;
using binnacle::metrics::kind;
using binnacle::metrics::label_set;

namespace {

struct series {
  std::string name;
  label_set labels;
  double value = 0;
  std::optional<std::int64_t> timestamp_ms;
  kind type = kind::gauge;
  std::string help;
};

std::vector<series> read(std::string_view text) {
  std::vector<series> out;
  const auto done = exposition::parse(text, {}, [&](const exposition::sample& s) {
    out.push_back({std::string(s.name), s.labels, s.value, s.timestamp_ms, s.type, std::string(s.help)});
  });
  REQUIRE_MESSAGE(done.has_value(), (done.has_value() ? "" : done.error().message));
  return out;
}

binnacle::error refusal(std::string_view text, const exposition::limits& bounds = {}) {
  const auto done = exposition::parse(text, bounds, [](const exposition::sample&) {});
  return done.has_error() ? done.error() : binnacle::error{binnacle::errc::internal, "accepted"};
}

/// Sets a locale that writes numbers as in Germany: "1.234,5".
class german_numbers {
 public:
  german_numbers()
      : streams_(std::locale::global(std::locale(std::locale::classic(), new comma))),
        c_(std::setlocale(LC_ALL, nullptr)) {
    std::setlocale(LC_ALL, "de_DE.UTF-8");  // not installed everywhere; the streams' locale always is
  }
  ~german_numbers() {
    std::locale::global(streams_);
    std::setlocale(LC_ALL, c_.c_str());
  }
  german_numbers(const german_numbers&) = delete;
  german_numbers& operator=(const german_numbers&) = delete;

 private:
  struct comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale streams_;
  std::string c_;
};

}  // namespace

TEST_SUITE("common/exposition/parse") {
  TEST_CASE("a plain text gives its samples in order, with type and help") {
    const auto all = read(
        "# HELP node_health_metric How it is.\n"
        "# TYPE node_health_metric gauge\n"
        "node_health_metric 1\n"
        "\n"
        "# just a comment\n"
        "#TYPE requests_total counter\n"
        "requests_total{code=\"200\",method=\"get\"} 1027 1395066363000\n"
        "requests_total { code = \"400\" , method=\"post\", } 3.5e2 -1\n"
        "lonely 7\n");
    REQUIRE(all.size() == 4);
    CHECK(all[0].name == "node_health_metric");
    CHECK(all[0].value == 1);
    CHECK(all[0].labels.empty());
    CHECK(all[0].type == kind::gauge);
    CHECK(all[0].help == "How it is.");
    CHECK_FALSE(all[0].timestamp_ms.has_value());
    CHECK(all[1].labels == label_set{{"code", "200"}, {"method", "get"}});
    CHECK(all[1].value == 1027);
    CHECK(all[1].timestamp_ms == 1395066363000);
    CHECK(all[1].type == kind::counter);
    CHECK(all[1].help.empty());
    CHECK(all[2].labels == label_set{{"code", "400"}, {"method", "post"}});
    CHECK(all[2].value == 350);
    CHECK(all[2].timestamp_ms == -1);
    CHECK(all[3].name == "lonely");
    CHECK(all[3].labels.empty());
    CHECK(all[3].type == kind::gauge);
  }

  TEST_CASE("nothing, blank lines and comments are no samples") {
    for (std::string_view text : {"", "\n", "   \n\t\n", "# HELP a\n", "#\n", "# EOF\n", "\r\n"}) {
      CAPTURE(text);
      CHECK(read(text).empty());
    }
  }

  TEST_CASE("numbers are those of Go and of no locale") {
    struct row {
      std::string text;
      double value;
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const row rows[] = {{"0", 0},
                        {"-0", 0},
                        {"+1", 1},
                        {"1.5", 1.5},
                        {".5", 0.5},
                        {"5.", 5},
                        {"1e3", 1000},
                        {"1E+3", 1000},
                        {"-1.25e-2", -0.0125},
                        {"+Inf", infinity},
                        {"Inf", infinity},
                        {"-inf", -infinity},
                        {"9007199254740993", 9007199254740992.0},
                        {"4.9e-324", 4.9e-324},
                        {"infinity", infinity}};
    const german_numbers here;
    for (const row& r : rows) {
      CAPTURE(r.text);
      const auto all = read("a " + r.text + "\n");
      REQUIRE(all.size() == 1);
      CHECK(all[0].value == r.value);
    }
    CHECK(std::isnan(read("a NaN\n")[0].value));
    CHECK(std::isnan(read("a nan\n")[0].value));
  }

  TEST_CASE("escapes in label values and help are undone") {
    const auto all =
        read("# HELP a back\\\\slash, line\\nfeed\na{b=\"x\\\\y\\nz\\\"q\\\"\",c=\"}, #\",d=\"\\x\"} 1\n");
    REQUIRE(all.size() == 1);
    CHECK(all[0].help == "back\\slash, line\nfeed");
    CHECK(all[0].labels == label_set{{"b", "x\\y\nz\"q\""}, {"c", "}, #"}, {"d", "\\x"}});
  }

  TEST_CASE("histograms and summaries come out as plain series of the right type") {
    const auto all = read(
        "# TYPE h histogram\n# HELP h Times.\n"
        "h_bucket{le=\"0.5\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3.5\nh_count 2\n"
        "# TYPE s summary\ns{quantile=\"0.5\"} 4\ns_sum 5\ns_count 6\n"
        "# TYPE g gauge\ng_total 1\n");
    REQUIRE(all.size() == 8);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(all[i].type == kind::counter);
      CHECK(all[i].help == "Times.");
    }
    CHECK(all[4].type == kind::gauge);
    CHECK(all[5].type == kind::counter);
    CHECK(all[6].type == kind::counter);
    CHECK(all[7].type == kind::gauge);
    CHECK(all[7].help.empty());  // the help is for another family
  }

  TEST_CASE("OpenMetrics: counters lose _total in TYPE, exemplars are skipped, timestamps are seconds") {
    const auto all = read(
        "# TYPE c counter\n# UNIT c seconds\n# HELP c Said \\\"so\\\".\n"
        "c_total{a=\"b\"} 17 1700000000.125 # {trace_id=\"1 2\"} 0.67 1700000000\n"
        "c_created 1600000000\n"
        "d 1 # {trace_id=\"x\"} 1\n"
        "# EOF\n");
    REQUIRE(all.size() == 3);
    CHECK(all[0].type == kind::counter);
    CHECK(all[0].help == "Said \"so\".");
    CHECK(all[0].timestamp_ms == 1'700'000'000'125);
    CHECK(all[0].value == 17);
    CHECK(all[1].type == kind::gauge);
    CHECK(all[2].value == 1);
    CHECK_FALSE(all[2].timestamp_ms.has_value());
  }

  TEST_CASE("the last TYPE and HELP of a name count, and families may be interleaved") {
    const auto all = read("# TYPE a gauge\n# TYPE b counter\na 1\nb 2\n# TYPE a counter\na 3\n");
    REQUIRE(all.size() == 3);
    CHECK(all[0].type == kind::gauge);
    CHECK(all[1].type == kind::counter);
    CHECK(all[2].type == kind::counter);
  }

  TEST_CASE("lines may end as in Windows, doubles are the caller's business") {
    const auto all = read("a{x=\"1\"} 1\r\na{x=\"1\"} 2 \r\n");
    REQUIRE(all.size() == 2);
    CHECK(all[0].labels == all[1].labels);
    CHECK(all[1].value == 2);
  }

  TEST_CASE("a bad line is named by number, fault and form") {
    struct row {
      std::string text;
      std::string part;
    };
    const row rows[] = {
        {"a 1\nb\n", "line 2: \"b\" has no value"},
        {"1a 1\n", "line 1: \"1a 1\" is not a sample"},
        {"a-b 1\n", "\"-\" does not end the metric name \"a\""},
        {"a 1,5\n", "\"1,5\" is not a value"},
        {"a 0x10\n", "\"0x10\" is not a value"},
        {"a nan(1)\n", "is not a value"},
        {"a +-1\n", "is not a value"},
        {"a 1e999\n", "is not a value"},
        {"a one\n", "is not a value: write a decimal number"},
        {"a 1 2.5\n", "\"2.5\" is not a timestamp: write milliseconds"},
        {"a 1 x\n# EOF\n", "\"x\" is not a timestamp: write seconds"},
        {"a 1 2 3\n", "\"3\" comes after the timestamp"},
        {"\n\na{b=1} 1\n", "line 3: the value of label \"b\" must be in double quotes"},
        {"a{b=\"1} 1\n", "does not end in a double quote"},
        {"a{b=\"1\\\"} 1\n", "does not end in a double quote"},
        {"a{b=\"1\"\n", "a comma or } must follow a label"},
        {"a{b=\"1\" c=\"2\"} 1\n", "a comma or } must follow a label"},
        {"a{,} 1\n", "a label must be written"},
        {"a{b} 1\n", "a label must be written"},
        {"a{\"b.c\"} 1\n", "a label must be written"},
        {"a{b:c=\"1\"} 1\n", "a label must be written"},
        {"a{b=\"1\",b=\"2\"} 1\n", "label \"b\" is given twice"},
        {"# TYPE a thing\n", "\"thing\" is not a type"},
        {"# TYPE 1 gauge\n", "# TYPE needs a metric name"},
        {"# HELP a-b c\n", "# HELP needs a metric name"},
        {"a 1\nb{c=\"\xff\"} 1\n", "line 2: a byte that is not UTF-8"},
        {std::string("a\0b 1\n", 6), "\"?\" does not end the metric name"},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      const auto e = refusal(r.text);
      CHECK(e.code == binnacle::errc::invalid_input);
      CHECK_MESSAGE(e.message.find(r.part) != std::string::npos, e.message);
    }
  }

  TEST_CASE("samples before a bad line have been given, none behind it") {
    std::vector<std::string> names;
    const auto done = exposition::parse("a 1\nb 2\nc\nd 4\n", {},
                                        [&](const exposition::sample& s) { names.emplace_back(s.name); });
    CHECK(done.has_error());
    CHECK(names == std::vector<std::string>{"a", "b"});
  }

  TEST_CASE("a text that comes in pieces gives the same, wherever it is cut") {
    const std::string text =
        "# HELP a h\xc3\xa9lp\n# TYPE a counter\na_total{l=\"x\\ny\"} 1 12.5 # {t=\"e\"} 1\r\n"
        "a_created 3\n\nb 2\n# EOF\n";
    const auto whole = read(text);
    REQUIRE(whole.size() == 3);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      CAPTURE(cut);
      std::vector<series> out;
      exposition::parser p({}, exposition::form::openmetrics, [&](const exposition::sample& s) {
        out.push_back({std::string(s.name), s.labels, s.value, s.timestamp_ms, s.type, std::string(s.help)});
      });
      REQUIRE(p.feed(text.substr(0, cut)));
      REQUIRE(p.feed(text.substr(cut)));
      REQUIRE(p.finish());
      REQUIRE(out.size() == whole.size());
      for (std::size_t i = 0; i < out.size(); ++i) {
        CHECK(out[i].name == whole[i].name);
        CHECK(out[i].labels == whole[i].labels);
        CHECK(out[i].timestamp_ms == whole[i].timestamp_ms);
        CHECK(out[i].help == whole[i].help);
      }
    }
  }

  TEST_CASE("a text without a last line feed is refused: its last number may be a part of one") {
    CHECK(refusal("a 1\nb 12").message == "line 2: the text is cut off: end its last line with a line feed");
    CHECK(refusal("a 1\n# TYPE b cou").message ==
          "line 2: the text is cut off: end its last line with a line feed");
    CHECK(read("a 1\n \t\r").size() == 1);
  }

  TEST_CASE("OpenMetrics that is cut off, or goes on behind its end, is refused") {
    const auto take = [](std::string_view text) {
      exposition::parser p({}, exposition::form::openmetrics, [](const exposition::sample&) {});
      const auto fed = p.feed(text);
      const auto done = fed ? p.finish() : fed;
      return done ? std::string("taken") : done.error().message;
    };
    CHECK(take("a 1\n# EOF") == "taken");
    CHECK(take("a 1\n").find("cut off") != std::string::npos);
    CHECK(take("").find("cut off") != std::string::npos);
    CHECK(take("a 1\n# EOF\na 2\n") == "line 3: there is more behind # EOF");
  }

  TEST_CASE("a line that never ends is refused before it is large, and nothing is read after an error") {
    exposition::limits bounds;
    bounds.labels = 2;
    bounds.text = 100;
    exposition::parser p(bounds, exposition::form::plain, [](const exposition::sample&) {});
    std::size_t fed = 0;
    binnacle::result<void> took;
    while (took && fed < 1'000'000) {
      took = p.feed(std::string(100, 'a'));
      fed += 100;
    }
    REQUIRE(!took);
    CHECK(took.error().message == "line 1: the line is too long");
    CHECK(fed < 10'000);
    CHECK(p.feed("a 1\n").error().message == "line 1: the line is too long");
    CHECK(p.finish().error().message == "line 1: the line is too long");
  }

  TEST_CASE("bounds hold") {
    exposition::limits bounds;
    bounds.bytes = 100;
    bounds.series = 2;
    bounds.families = 2;
    bounds.labels = 1;
    bounds.text = 5;
    struct row {
      std::string text;
      std::string part;
    };
    const row rows[] = {{std::string(101, '#'), "more than the 100 bytes"},
                        {"a 1\na 2\na 3\n", "line 3: more than 2 series"},
                        {"a{b=\"1\",c=\"2\"} 1\n", "more than 1 labels"},
                        {"abcdef 1\n", "name is too long"},
                        {"a{b=\"123456\"} 1\n", "label \"b\" is longer than 5 bytes"},
                        {"a{bcdefg=\"1\"} 1\n", "label \"bcdefg\" is longer than 5 bytes"},
                        {"# HELP abcdef x\n", "name is too long"},
                        {"# TYPE a gauge\n# TYPE b gauge\n# TYPE c gauge\n", "line 3: too many"}};
    for (const row& r : rows) {
      CAPTURE(r.text);
      const auto e = refusal(r.text, bounds);
      CHECK(e.code == binnacle::errc::overloaded);
      CHECK_MESSAGE(e.message.find(r.part) != std::string::npos, e.message);
    }
    std::string help;
    const auto done = exposition::parse(
        "# HELP a 1234\xc3\xbc"
        "5\na 1\n",
        bounds, [&](const exposition::sample& s) { help = s.help; });
    CHECK(done.has_value());
    CHECK(help == "1234");  // cut before the character that does not fit
  }
}

TEST_SUITE("common/exposition/writer") {
  TEST_CASE("families, labels and numbers are written as Prometheus reads them, in any locale") {
    const german_numbers here;
    exposition::writer w;
    w.begin("a_watts", kind::gauge, "Watts, \"quoted\" \\ and\nbroken.");
    w.add({}, 1234.5);
    w.add({{"x", "q\"b\\n\n"}}, std::string_view("20.5"));
    w.add({{"x", "1"}, {"y", ""}}, std::nan(""));
    w.add({{"x", "2"}}, -std::numeric_limits<double>::infinity());
    w.add({{"x", "3"}}, binnacle::decimal{-1234567, -1});
    w.begin("b_total", kind::counter, "");
    w.add({}, 1234567);
    w.add({{"x", "1"}}, std::uint64_t{18446744073709551615u});
    w.add({{"x", "2"}}, std::int64_t{-5});
    w.add({{"x", "3"}}, 1e21);
    CHECK(w.take() ==
          "# HELP a_watts Watts, \"quoted\" \\\\ and\\nbroken.\n"
          "# TYPE a_watts gauge\n"
          "a_watts 1234.5\n"
          "a_watts{x=\"q\\\"b\\\\n\\n\"} 20.5\n"
          "a_watts{x=\"1\",y=\"\"} NaN\n"
          "a_watts{x=\"2\"} -Inf\n"
          "a_watts{x=\"3\"} -123456.7\n"
          "# TYPE b_total counter\n"
          "b_total 1234567\n"
          "b_total{x=\"1\"} 18446744073709551615\n"
          "b_total{x=\"2\"} -5\n"
          "b_total{x=\"3\"} 1e+21\n");
  }

  TEST_CASE("a histogram is cumulative and ends in +Inf") {
    exposition::writer w;
    w.begin("h_seconds", kind::histogram, "Times.");
    const double bounds[] = {0.001, 0.5, 1};
    const std::uint64_t counts[] = {5, 0, 2, 3};
    w.add_histogram({{"verb", "filter"}}, bounds, counts, 4.25);
    const std::string text = w.take();
    CHECK(text ==
          "# HELP h_seconds Times.\n# TYPE h_seconds histogram\n"
          "h_seconds_bucket{verb=\"filter\",le=\"0.001\"} 5\n"
          "h_seconds_bucket{verb=\"filter\",le=\"0.5\"} 5\n"
          "h_seconds_bucket{verb=\"filter\",le=\"1\"} 7\n"
          "h_seconds_bucket{verb=\"filter\",le=\"+Inf\"} 10\n"
          "h_seconds_sum{verb=\"filter\"} 4.25\n"
          "h_seconds_count{verb=\"filter\"} 10\n");
    CHECK(read(text).size() == 6);
  }

  TEST_CASE("what is written is read back") {
    exposition::writer w;
    w.begin("x", kind::counter, "multi\nline");
    const label_set labels{{"a", "\\\"\n\\n"}, {"b", "Zulüfter °C"}};
    w.add(labels, 0.1);
    const auto all = read(w.take());
    REQUIRE(all.size() == 1);
    CHECK(all[0].labels == labels);
    CHECK(all[0].value == 0.1);
    CHECK(all[0].type == kind::counter);
    CHECK(all[0].help == "multi\nline");
  }
}
