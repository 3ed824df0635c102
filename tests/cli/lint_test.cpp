#include "cli/lint.hpp"

#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace binnacle;
using namespace binnacle::cli;

namespace {

const std::string right_policy = R"(apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata:
  name: load
spec:
  strategies:
    dontschedule:
      rules:
      - {metricname: os_load1, operator: GreaterThan, target: 60, clearBelow: 50}
)";

struct outcome {
  int status;
  std::string out;
};

outcome lint(const std::vector<std::string>& files, bool as_json = false) {
  std::ostringstream out, err;
  const int status = lint_command(files, {out, err, {}, as_json, false});
  return {status, out.str()};
}

}  // namespace

TEST_SUITE("cli/lint") {
  TEST_CASE("a right file is 0 and says so") {
    support::temp_folder dir;
    support::write_file(dir / "load.yaml", right_policy);
    const auto o = lint({dir / "load.yaml"});
    CAPTURE(o.out);
    CHECK(o.status == exit_ok);
    CHECK(o.out.ends_with("1 file: no errors\n"));
  }

  TEST_CASE("an error is 1 and named by file, line, field and remedy") {
    support::temp_folder dir;
    std::string wrong = right_policy;
    wrong.replace(wrong.find("target: 60, clearBelow: 50"), 26, "target: 60.5");
    support::write_file(dir / "load.yaml", wrong);
    const auto o = lint({dir / "load.yaml"});
    CAPTURE(o.out);
    CHECK(o.status == exit_problem);
    CHECK(
        o.out.starts_with((dir / "load.yaml") + ":9: error: spec.strategies.dontschedule.rules[0].target: "));
    CHECK(o.out.ends_with("1 file: 1 error\n"));
  }

  TEST_CASE("a folder without policy files is most likely the wrong one") {
    support::temp_folder dir;
    support::write_file(dir / "notes.txt", right_policy);
    const auto o = lint({dir / "."});
    CAPTURE(o.out);
    CHECK(o.status == exit_problem);
    CHECK(o.out.find("no *.yaml or *.yml in this folder") != std::string::npos);
    CHECK(o.out.ends_with("0 files: 1 error\n"));
  }

  TEST_CASE("a folder stands for its policy files; a missing file is an error") {
    support::temp_folder dir;
    support::write_file(dir / "b.yml", right_policy);
    support::write_file(dir / "a.yaml", "{");
    support::write_file(dir / ".hidden.yaml", "{");
    support::write_file(dir / "notes.txt", "{");
    const auto o = lint({dir.path(), dir / "missing.yaml"});
    CAPTURE(o.out);
    CHECK(o.status == exit_problem);
    CHECK(o.out.find("a.yaml:1: error: ") != std::string::npos);
    CHECK(o.out.find("hidden") == std::string::npos);
    CHECK(o.out.find((dir / "missing.yaml") +
                     ": error: cannot be read: does it exist, and may you read it?\n") != std::string::npos);
    CHECK(o.out.find("3 files: 2 errors") != std::string::npos);
    support::temp_folder empty;
    CHECK(lint({empty.path()}).status == exit_problem);
  }

  TEST_CASE("what is not a file is named and refused, and the others are read on") {
    support::temp_folder dir;
    support::write_file(dir / "a.yaml", right_policy);
    const auto o = lint({"/dev/zero", "/proc/self/mem", dir / "a.yaml"});
    CAPTURE(o.out);
    CHECK(o.status == exit_problem);
    CHECK(o.out.find("/dev/zero: error: is not a regular file: name one\n") != std::string::npos);
    CHECK(o.out.find("/proc/self/mem: error: cannot be read: ") != std::string::npos);
    CHECK(o.out.find("3 files: 2 errors") != std::string::npos);
    support::write_file(dir / "long.yaml", std::string(2u << 20, '#'));
    CHECK(lint({dir / "long.yaml"}).out.find("long.yaml: error: has more than 1048576 bytes: split it\n") !=
          std::string::npos);
  }

  TEST_CASE("JSON has the same") {
    support::temp_folder dir;
    support::write_file(dir / "a.yaml", right_policy);
    const auto o = lint({dir / "missing.yaml"}, true);
    CHECK(o.status == exit_problem);
    CHECK(o.out == R"({"files":1,"errors":1,"problems":[{"severity":"error","file":")" +
                       (dir / "missing.yaml") +
                       R"(","message":"cannot be read: does it exist, and may you read it?"}]})" + "\n");
  }
}
