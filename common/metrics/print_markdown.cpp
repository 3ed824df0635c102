#include "common/metrics/families.hpp"

#include <cstdio>

/// Prints METRICS.md.
int main() {
  std::fputs(binnacle::metrics::markdown().c_str(), stdout);
  return 0;
}
