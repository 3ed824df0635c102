#include "cli/doctor/agent/probe_findings.hpp"

#include "tests/cli/doctor/finding_words.hpp"
#include "tests/cli/samples.hpp"

#include <doctest/doctest.h>

#include <string>

namespace probe_findings_test {

namespace {

using namespace binnacle;
using namespace binnacle::cli;
using namespace binnacle::cli::doctor;

TEST_SUITE("cli/doctor/agent/probe_findings") {
  TEST_CASE("what the agent's probe finds keeps its remedy; absent hardware is no fault") {
    const auto said = parsed(R"({"node":"n1","sources":[
      {"source":"rapl","works":false,"findings":[{"grade":"absent","what":"RAPL","why":"no powercap","remedy":"modprobe"}]},
      {"source":"os","works":true,"findings":[{"grade":"works","what":"cpu","why":"","remedy":""},
                                              {"grade":"absent","what":"pressure","why":"no PSI","remedy":"psi=1"}]},
      {"source":"bmc","works":false,"findings":[{"grade":"broken","what":"/dev/ipmi0","why":"refused","remedy":"give it"}]}]})");
    const auto found = findings_of_probe(said, 0);
    CHECK(any_says(found, grade::ok, "rapl: RAPL: absent: no powercap"));
    CHECK(any_says(found, grade::ok, "os: 1 part works"));
    CHECK(any_says(found, grade::failure, "bmc: /dev/ipmi0: broken: refused"));
    CHECK(any_says(findings_of_probe(said, 1000), grade::warning, "seen as user 1000"));
    CHECK_FALSE(any_says(found, grade::ok, "pressure"));
    CHECK(any_says(
        findings_of_probe(parsed(R"({"sources":[{"source":"rapl","works":false,"findings":[]}]})"), 0),
        grade::failure, "no source of this node"));
  }
}

}  // namespace

}  // namespace probe_findings_test
