#include "common/config/config.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using binnacle::config_spec;
using binnacle::duration;
using binnacle::errc;

namespace {

/// The settings of an invented daemon, with TAS's spellings.
struct fixture {
  std::string address = "0.0.0.0";
  std::int64_t port = 9001;
  double share = 0.5;
  duration period = 1s;
  bool unsafe = false;
  std::vector<std::string> sources{"os"};
  enum class scale { value, rank } score = scale::value;
  enum class shade { light, dark } colours = shade::dark;
  std::string out;
  std::vector<std::string> notes;

  config_spec spec() {
    config_spec s("binnacle-test", "Does nothing.", "binnacle-test --extender-port 1");
    s.add("address", address, "where to listen");
    s.group("Extender");
    s.add("extender-port", port, 1, 65535, "port of the extender");
    s.add("share", share, 0, 1, "share of something");
    s.add("unsafe", unsafe, "plain HTTP");
    s.group("Reading");
    s.add("period", period, 50ms, 1h, "time between reads");
    s.add("sources", sources, "what to read");
    s.add_choice<scale>("score", score, {{"value", scale::value}, {"rank", scale::rank}}, "how to score");
    s.add_choice<shade>("colours", colours, {{"light", shade::light}, {"dark", shade::dark}},
                        "on what ground");
    s.alias("port", "extender-port", "Intel TAS");
    s.ignored("v", true, "-v is klog's: use --log-level");
    s.ignored("logtostderr", false, "logs go to stderr");
    s.ignored("syncPeriod", true, "no polling");
    return s;
  }

  binnacle::result<config_spec::outcome> parse(std::vector<std::string> words) {
    std::vector<const char*> argv{"binnacle-test"};
    for (const std::string& w : words) argv.push_back(w.c_str());
    std::ostringstream printed;
    auto done = spec().parse(static_cast<int>(argv.size()), argv.data(), printed);
    out = printed.str();
    if (done) notes = done->notes;
    return done;
  }
  void accept(std::vector<std::string> words) {
    const auto done = parse(std::move(words));
    REQUIRE_MESSAGE(done.has_value(), (done.has_value() ? "" : done.error().message));
  }
  binnacle::error refuse(std::vector<std::string> words) {
    const auto done = parse(std::move(words));
    return done.has_error() ? done.error() : binnacle::error{errc::internal, "accepted"};
  }
};

class temporary_file {
 public:
  explicit temporary_file(std::string_view text) { folder_.write("settings.yaml", text); }
  const std::string& path() const { return path_; }

 private:
  const binnacle::support::temp_folder folder_;
  const std::string path_ = folder_ / "settings.yaml";
};

}  // namespace

TEST_SUITE("common/config/flags") {
  TEST_CASE("without flags the defaults stay") {
    fixture f;
    f.accept({});
    CHECK(f.port == 9001);
    CHECK(f.sources == std::vector<std::string>{"os"});
    CHECK(f.out.empty());
  }

  TEST_CASE("one dash or two, with = or a blank, are the same") {
    for (std::vector<std::string> words : {std::vector<std::string>{"--extender-port", "7"},
                                           {"--extender-port=7"},
                                           {"-extender-port", "7"},
                                           {"-extender-port=7"},
                                           {"--port", "7"},
                                           {"-port", "7"},
                                           {"-port=7"}}) {
      fixture f;
      CAPTURE(words[0]);
      f.accept(words);
      CHECK(f.port == 7);
    }
  }

  TEST_CASE("a word that stands for a value of an enumeration is typed, refused and printed as a word") {
    fixture f;
    f.accept({"--colours", "light"});
    CHECK(f.colours == fixture::shade::light);
    CHECK(f.spec().commented_defaults().find("colours: \"light\"") != std::string::npos);
    const auto refused = f.parse({"--colours", "grey"});
    REQUIRE(refused.has_error());
    CHECK(refused.error().message.find("one of light, dark") != std::string::npos);
    CHECK(f.colours == fixture::shade::light);
  }

  TEST_CASE("levels of the log and forms of output are typed once, for every program") {
    auto level = binnacle::log_level::info;
    auto form = binnacle::output_form::text;
    const auto parse = [&](const char* key, const std::string& word) {
      config_spec spec("binnacle-test", "Does nothing.", "binnacle-test");
      spec.add("log-level", level, "what is logged");
      spec.add("output", form, "form of the answer");
      const std::array<const char*, 3> argv{"binnacle-test", key, word.c_str()};
      std::ostringstream printed;
      return spec.parse(3, argv.data(), printed).has_value();
    };
    using binnacle::log_level;
    for (const auto wanted :
         {log_level::debug, log_level::info, log_level::warning, log_level::error, log_level::off}) {
      CAPTURE(to_string(wanted));
      CHECK(parse("--log-level", std::string(to_string(wanted))));
      CHECK(level == wanted);
    }
    for (const char* wrong : {"", "Info", "warn", "trace", "info "}) {
      CAPTURE(wrong);
      CHECK_FALSE(parse("--log-level", wrong));
      CHECK(level == log_level::off);
    }
    CHECK(parse("--output", "json"));
    CHECK(form == binnacle::output_form::json);
    CHECK_FALSE(parse("--output", "yaml"));
  }

  TEST_CASE("values are taken as they are") {
    fixture f;
    f.accept({"--address", "[::]", "--period=1m30s", "--share", "0.25", "--sources", "rapl,os",
              "--sources=textfile", "--score", "rank"});
    CHECK(f.address == "[::]");
    CHECK(f.period == 90s);
    CHECK(f.share == 0.25);
    CHECK(f.sources == std::vector<std::string>{"rapl", "os", "textfile"});
    CHECK(f.score == fixture::scale::rank);
    f.accept({"--address=", "--sources="});
    CHECK(f.address.empty());
    CHECK(f.sources.empty());
    f.accept({"--address", "-5"});
    CHECK(f.address == "-5");
    f.accept({"--address=--port"});
    CHECK(f.address == "--port");
  }

  TEST_CASE("a switch takes a value only behind =") {
    fixture f;
    f.accept({"--unsafe"});
    CHECK(f.unsafe);
    f.accept({"-unsafe=false"});
    CHECK_FALSE(f.unsafe);
    f.accept({"--unsafe=T"});
    CHECK(f.unsafe);
    CHECK(f.refuse({"--unsafe=maybe"}).message == "--unsafe is \"maybe\": give true or false");
    CHECK(f.refuse({"--unsafe", "false"}).message.find("unexpected argument \"false\"") == 0);
  }

  TEST_CASE("klog's and TAS's flags are accepted and answered with a note each") {
    fixture f;
    f.accept({"-v=2", "-v", "4", "--v=1", "-logtostderr", "--logtostderr=true", "--syncPeriod=2s",
              "-syncPeriod", "2s", "-port=9"});
    CHECK(f.notes ==
          std::vector<std::string>{"-v is klog's: use --log-level", "logs go to stderr", "no polling"});
    CHECK(f.port == 9);
  }

  TEST_CASE("a wrong flag gets one sentence with the remedy, and nothing is applied") {
    struct row {
      std::vector<std::string> words;
      std::string message;
    };
    const row rows[] = {
        {{"--perod", "1s"}, "unknown flag --perod: did you mean --period?"},
        {{"--unsave"}, "unknown flag --unsave: did you mean --unsafe?"},
        {{"-prot=1"}, "unknown flag --prot: did you mean --port?"},
        {{"--something-else"}, "unknown flag --something-else: see --help"},
        {{"--confg=x"}, "unknown flag --confg: did you mean --config?"},
        {{std::string("--") + std::string(100, 'x')},
         "unknown flag --" + std::string(100, 'x') + ": see --help"},
        {{"--port", "0"}, "--port is \"0\": give an integer from 1 to 65535"},
        {{"--extender-port=65536"}, "--extender-port is \"65536\": give an integer from 1 to 65535"},
        {{"--port", "12x"}, "--port is \"12x\": give an integer from 1 to 65535"},
        {{"--port="}, "--port is \"\": give an integer from 1 to 65535"},
        {{"--port", "99999999999999999999"},
         "--port is \"99999999999999999999\": give an integer from 1 to 65535"},
        {{"--share=nan"}, "--share is \"nan\": give a number from 0 to 1"},
        {{"--share=1.01"}, "--share is \"1.01\": give a number from 0 to 1"},
        {{"--period", "5"}, "--period is \"5\": give a duration such as 200ms, 1s or 1h30m, from 50ms to 1h"},
        {{"--period=10ms"},
         "--period is \"10ms\": give a duration such as 200ms, 1s or 1h30m, from 50ms to 1h"},
        {{"--score=best"}, "--score is \"best\": give one of value, rank"},
        {{"--port"}, "--port needs a value: write --port=VALUE"},
        {{"--address", "--port", "7"}, "--address needs a value: write --address=VALUE"},
        {{"--syncPeriod"}, "--syncPeriod needs a value: write --syncPeriod=VALUE"},
        {{"--config="}, "--config names no file: write --config=FILE"},
        {{"--port=1", "--port=7"}, "--port is given twice: give it once"},
        {{"--port=7", "-port", "7"}, "--port is given twice: give it once"},
        {{"-port=7", "--extender-port", "8"},
         "--extender-port is given twice, first as --port: give it once"},
        {{"--period=1s", "--unsafe", "--period", "1s"}, "--period is given twice: give it once"},
        {{"--unsafe", "--unsafe=false"}, "--unsafe is given twice: give it once"},
        {{"--config=a", "--config=b"}, "--config is given twice: give it once"},
        {{"file.yaml"}, "unexpected argument \"file.yaml\": settings are flags, see --help"},
        {{"-"}, "unexpected argument \"-\": settings are flags, see --help"},
        {{"--"}, "unexpected argument \"--\": settings are flags, see --help"},
        {{""}, "unexpected argument \"\": settings are flags, see --help"},
    };
    for (const row& r : rows) {
      fixture f;
      auto words = r.words;
      words.insert(words.begin(), "--address=changed");
      CAPTURE(r.message);
      const auto e = f.refuse(words);
      CHECK(e.code == errc::invalid_input);
      CHECK(e.message == r.message);
      CHECK(f.address == "0.0.0.0");
    }
  }

  TEST_CASE("help names every flag in its group, with default and form") {
    fixture f;
    const auto done = f.parse({"--help"});
    REQUIRE(done.has_value());
    CHECK(done->exit);
    for (std::string part :
         {"binnacle-test: Does nothing.", "\nExtender:\n", "\nReading:\n", "--extender-port", "default 9001",
          "an integer from 1 to 65535", "--unsafe", "default \"value\"", "default [\"os\"]", "--port",
          "is --extender-port (accepted for Intel TAS)", "Accepted without effect: --v --logtostderr",
          "--config FILE", "Example:\n  binnacle-test --extender-port 1"}) {
      CAPTURE(part);
      CHECK(f.out.find(part) != std::string::npos);
    }
    CHECK(f.parse({"-h"})->exit);
    CHECK(f.parse({"--version"})->exit);
    CHECK(f.out.find("binnacle-test ") == 0);
  }
}

TEST_SUITE("common/config/file") {
  TEST_CASE("a file sets what it names, flags win over it") {
    const temporary_file file(
        "# a comment\n"
        "extender-port: 8\n"
        "share: 1\n"
        "unsafe: true\n"
        "period: 5s\n"
        "sources:\n  - rapl\n  - \"a,b\"\n"
        "address: '::'\n");
    fixture f;
    f.accept({"--period=7s", "--config", file.path()});
    CHECK(f.port == 8);
    CHECK(f.share == 1);
    CHECK(f.unsafe);
    CHECK(f.period == 7s);
    CHECK(f.sources == std::vector<std::string>{"rapl", "a,b"});
    CHECK(f.address == "::");
    f.accept({"--sources=x", "--config=" + file.path()});
    CHECK(f.sources == std::vector<std::string>{"x"});
  }

  TEST_CASE("an empty file changes nothing; one text is a list of one") {
    for (std::string text : {"", "\n", "# nothing\n", "---\n", "~\n"}) {
      CAPTURE(text);
      const temporary_file file(text);
      fixture f;
      f.accept({"--config", file.path()});
      CHECK(f.port == 9001);
    }
    const temporary_file file("sources: rapl\n");
    fixture f;
    f.accept({"--config", file.path()});
    CHECK(f.sources == std::vector<std::string>{"rapl"});
  }

  TEST_CASE("a bad file gets file, line, fault and remedy, and nothing is applied") {
    struct row {
      std::string text;
      std::string message;  // the message after the file's name
    };
    const row rows[] = {
        {"address: x\nperod: 1s\n", " line 2: unknown key \"perod\": did you mean \"period\"?"},
        {"port: 1\n",
         " line 1: unknown key \"port\": --print-config lists all keys"},  // an alias is a flag only
        {"extender_port: 1\n", " line 1: unknown key \"extender_port\": did you mean \"extender-port\"?"},
        {"config: x\n", " line 1: unknown key \"config\": --print-config lists all keys"},
        {"\n\nperiod: 5\n",
         " line 3: \"period\" is \"5\": give a duration such as 200ms, 1s or 1h30m, from 50ms to 1h"},
        {"period:\n",
         " line 1: \"period\" has no value: give a duration such as 200ms, 1s or 1h30m, from 50ms to 1h"},
        {"extender-port: 1.5\n", " line 1: \"extender-port\" is \"1.5\": give an integer from 1 to 65535"},
        {"extender-port: [1]\n", " line 1: \"extender-port\" is a list: give an integer from 1 to 65535"},
        {"address: {a: b}\n", " line 1: \"address\" has keys below it: give a text"},
        {"unsafe: yes\n", " line 1: \"unsafe\" is \"yes\": give true or false"},
        {"sources: {a: b}\n", " line 1: \"sources\" has keys below it: give a list of texts"},
        {"sources:\n- a\n- [b]\n", " line 3: an element of \"sources\" is not text"},
        {"share: 1\nshare: 0\n", " line 2: \"share\" is given a second time, first in line 1: remove one"},
        {"- a\n", " line 1: write one \"key: value\" on each line"},
        {"just text\n", " line 1: write one \"key: value\" on each line"},
        {"[a]: b\n", " line 1: a key must be a word"},
        {"share: 1\n---\nshare: 0\n", " line 3: a second document begins: put all keys into one"},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      const temporary_file file(r.text);
      fixture f;
      const auto e = f.refuse({"--address=changed", "--config", file.path()});
      CHECK(e.code == errc::invalid_input);
      CHECK(e.message == file.path() + r.message);
      CHECK(f.address == "0.0.0.0");
      CHECK(f.share == 0.5);
    }
  }

  TEST_CASE("what is not YAML is refused with its line") {
    for (std::string text :
         {"address: x\n  bad: [\n", "a: \"x\n", "address: x\n\tb: c\n", "a: *b\n", "{{{{{{"}) {
      CAPTURE(text);
      const temporary_file file(text);
      fixture f;
      const auto e = f.refuse({"--config", file.path()});
      CHECK(e.code == errc::invalid_input);
      CHECK_MESSAGE(e.message.find(file.path() + " line ") == 0, e.message);
    }
    const temporary_file deep(std::string(100'000, '['));
    fixture f;
    CHECK(f.refuse({"--config", deep.path()}).code == errc::invalid_input);
    const temporary_file large(std::string((1u << 20) + 1, '#'));
    CHECK(f.refuse({"--config", large.path()}).message.find("larger than 1 MiB") != std::string::npos);
  }

  TEST_CASE("a file that cannot be read is named with the reason") {
    fixture f;
    const auto missing = f.refuse({"--config=/nonexistent/x.yaml"});
    CHECK(missing.code == errc::not_found);
    CHECK(missing.message == "cannot read configuration file /nonexistent/x.yaml: No such file or directory");
    const auto folder = f.refuse({"--config=/tmp"});
    CHECK(folder.code == errc::invalid_input);
    CHECK(folder.message == "cannot read configuration file /tmp: Is a directory");
  }

  // Once binnacle-ipmi printed a file that it refused itself: the second line of its summary was not a
  // comment.
  TEST_CASE("in the printed file a summary of several lines is a comment of several lines") {
    std::string name = "x";
    binnacle::config_spec spec("p", "First: line.\nSecond: line.", "");
    spec.add("name", name, "whose");
    const auto printed = spec.commented_defaults();
    CHECK(printed.starts_with("# p: First: line.\n# Second: line.\n# Every key is also"));
    const temporary_file file(printed);
    std::ostringstream out;
    const char* const flags[] = {"p", "--config", file.path().c_str()};
    CHECK_MESSAGE(spec.parse(3, flags, out).has_value(), printed);
  }

  TEST_CASE("the printed file reads back to the same settings") {
    fixture f;
    const auto done = f.parse({"--address=a\"b\\c\nd", "--period=1m1.5s", "--sources=x,y", "--unsafe",
                               "--share=0.125", "--print-config"});
    REQUIRE(done.has_value());
    CHECK(done->exit);
    const std::string printed = f.out;
    CHECK(printed.find("\n# time between reads\n# a duration such as 200ms, 1s or 1h30m, from 50ms to "
                       "1h\nperiod: 1m1.5s\n") != std::string::npos);
    CHECK(printed.find("# ---- Reading ----") != std::string::npos);
    const temporary_file file(printed);
    fixture again;
    again.accept({"--config", file.path()});
    CHECK(again.address == "a\"b\\c\nd");
    CHECK(again.period == 61'500ms);
    CHECK(again.sources == std::vector<std::string>{"x", "y"});
    CHECK(again.unsafe);
    CHECK(again.share == 0.125);
    CHECK(again.port == 9001);

    fixture defaults;
    const temporary_file all(defaults.spec().commented_defaults());
    fixture same;
    same.accept({"--config", all.path()});
    CHECK(same.sources == std::vector<std::string>{"os"});
    CHECK(same.score == fixture::scale::value);
  }
}
