#define DOCTEST_CONFIG_IMPLEMENT
#include "common/system/descriptor_limit.hpp"

#include <doctest/doctest.h>

#include <cstdio>

namespace {

/// Counts the test cases that the filters of the command line chose.
class chosen final : public doctest::IReporter {
 public:
  static inline unsigned cases = 0;
  explicit chosen(const doctest::ContextOptions& /*options*/) {}
  void test_run_end(const doctest::TestRunStats& stats) override { cases = stats.numTestCasesPassingFilters; }

  void report_query(const doctest::QueryData& /*query*/) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData& /*test*/) override {}
  void test_case_reenter(const doctest::TestCaseData& /*test*/) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& /*stats*/) override {}
  void test_case_exception(const doctest::TestCaseException& /*thrown*/) override {}
  void subcase_start(const doctest::SubcaseSignature& /*part*/) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& /*assertion*/) override {}
  void log_message(const doctest::MessageData& /*message*/) override {}
  void test_case_skipped(const doctest::TestCaseData& /*test*/) override {}
};
REGISTER_LISTENER("chosen", 1, chosen);

}  // namespace

/// doctest's main, but it fails if the filters choose no case. Several tests of meson.build run one program
/// with different filters; a wrong filter would pass without testing anything.
int main(int argc, char** argv) {
  // A simulated kernel needs many: for each counter one at either end. Most machines start with 1,024.
  binnacle::raise_descriptor_limit();
  doctest::Context context(argc, argv);
  const int outcome = context.run();
  if (context.shouldExit() || outcome != 0 || chosen::cases != 0) return outcome;
  std::fputs("no test case fits these filters: --list-test-cases shows what there is\n", stderr);
  return 1;
}
