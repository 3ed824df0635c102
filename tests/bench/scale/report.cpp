#include "tests/bench/scale/report.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace binnacle::bench {

void report::heading(const std::string& text) {
  fmt::print("\n{}\n", text);
  std::fflush(stdout);
}

void report::figure(const std::string& what, double value, const std::string& unit) {
  fmt::print("  {:<62} {:>10.3f} {}\n", what, value, unit);
  std::fflush(stdout);
}

void report::figure(const std::string& what, double value, const std::string& unit, double target,
                    bool at_least) {
  const bool met = at_least ? value >= target : value <= target;
  if (!met) ++missed_;
  fmt::print("  {:<62} {:>10.3f} {:<16} {} {:g}: {}\n", what, value, unit, at_least ? "at least" : "at most",
             target, met ? "met" : "MISSED");
  std::fflush(stdout);
}

}  // namespace binnacle::bench
