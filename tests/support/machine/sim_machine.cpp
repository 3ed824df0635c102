// binnacle-sim-machine FILE ROOT: makes ROOT/sys and ROOT/proc of a machine of tests/data/machines, for
// `binnacle-agent --sys-root ROOT/sys --proc-root ROOT/proc` and for scripts/check machines.
#include "tests/support/machine/machine.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: binnacle-sim-machine FILE ROOT\n");
    return 2;
  }
  try {
    binnacle::support::machine(argv[1]).write(argv[2]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "binnacle-sim-machine: %s\n", e.what());
    return 1;
  }
  return 0;
}
