#include "agent/base/probe.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace probe_test {

using namespace binnacle;
using namespace binnacle::agent;

namespace {

class thrower final : public source {
 public:
  std::string_view name() const noexcept override { return "thrower"; }
  duration period() const noexcept override { return std::chrono::seconds(1); }
  std::vector<finding> probe() override { throw std::runtime_error("a library threw"); }
  result<void> discover(board&) override { return {}; }
  result<void> read(board&) override { return {}; }
};

const std::vector<source_findings> some{
    {"rapl",
     {{finding::grade::broken, "package-0", "energy_uj is readable by root only", "run the agent as root"}}},
    {"os",
     {{finding::grade::works, "load", {}, {}}, {finding::grade::absent, "pressure", "no \"PSI\"", "psi=1"}}},
};

}  // namespace

TEST_SUITE_BEGIN("agent/probe");

TEST_CASE("people see what works, and below what does not, why and what mends it") {
  CHECK(as_text("node7", some) ==
        "What binnacle-agent can read on node7:\n"
        "\n"
        "rapl      broken   package-0\n"
        "                   why:  energy_uj is readable by root only\n"
        "                   mend: run the agent as root\n"
        "\n"
        "os        works    load\n"
        "          absent   pressure\n"
        "                   why:  no \"PSI\"\n"
        "                   mend: psi=1\n"
        "\n"
        "1 of 2 sources work.\n");
}

TEST_CASE("long sentences are wrapped below themselves") {
  const std::vector<source_findings> one{
      {"x", {{finding::grade::broken, "y", std::string(60, 'a') + " " + std::string(60, 'b'), ""}}}};
  const auto text = as_text("n", one);
  CHECK(text.find(std::string(60, 'a') + "\n" + std::string(25, ' ') + std::string(60, 'b') + "\n") !=
        std::string::npos);
}

// Before, a chip's or a zone's name could clear the terminal.
TEST_CASE("a terminal does not obey the names of a machine's parts") {
  const std::vector<source_findings> one{
      {"os\x1b[1m",
       {{finding::grade::limited, "chip\x1b[2J", "\x1b]0;x\x07 rail \xe2\x80\xae", "fan\xff on\nport 3"}}}};
  CHECK(as_text("no\x1b[2Jde", one) ==
        "What binnacle-agent can read on no?[2Jde:\n"
        "\n"
        "os?[1m    limited  chip?[2J\n"
        "                   why:  ?]0;x? rail ?\n"
        "                   mend: fan? on?port 3\n"
        "\n"
        "1 of 1 sources work.\n");
}

TEST_CASE("machines get the same as JSON") {
  const auto json = as_json("node7", some);
  CHECK(json.find("\"grade\": \"broken\"") != std::string::npos);
  CHECK(json.find("\"why\": \"no \\\"PSI\\\"\"") != std::string::npos);
  CHECK(json.find("\"works\": false") < json.find("\"works\": true"));
}

TEST_CASE("a source that throws is broken, not the end") {
  std::vector<std::unique_ptr<source>> sources;
  sources.push_back(std::make_unique<thrower>());
  const auto all = probe_all(sources);
  REQUIRE(all.size() == 1);
  CHECK(!all[0].works());
  CHECK(all[0].found[0].why == "a library threw");
}

TEST_SUITE_END();

}  // namespace probe_test
