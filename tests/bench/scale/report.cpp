#include "tests/bench/scale/report.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace binnacle::bench {
namespace {

int missed = 0;

}  // namespace

void heading(const std::string& text) {
  fmt::print("\n{}\n", text);
  std::fflush(stdout);
}

void figure(const std::string& what, double value, const std::string& unit) {
  fmt::print("  {:<58} {:>10.3f} {}\n", what, value, unit);
  std::fflush(stdout);
}

void figure(const std::string& what, double value, const std::string& unit, double target, bool less_is_better) {
  const bool met = less_is_better ? value <= target : value >= target;
  if (!met) ++missed;
  fmt::print("  {:<58} {:>10.3f} {:<14} target {} {:g}  {}\n", what, value, unit, less_is_better ? "<=" : ">=", target,
             met ? "met" : "MISSED");
  std::fflush(stdout);
}

bool all_met() { return missed == 0; }

}  // namespace binnacle::bench
