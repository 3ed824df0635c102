#include "agent/process/startup_memory.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <locale>
#include <sstream>

namespace startup_memory_test {

using namespace binnacle;

namespace {

// How many pages of mapped files are resident: proc(5), /proc/pid/statm.
long file_pages() {
  long size = 0, resident = 0, shared = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> shared;
  return shared;
}

}  // namespace

TEST_SUITE_BEGIN("agent/process/startup_memory");

TEST_CASE("what has been run is given back, and runs again when it is needed") {
  const auto spelled = [] {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << std::hexfloat << 0.1 << ' ' << 17;
    return out.str();
  };
  const auto before = spelled();
  const auto resident = file_pages();
  REQUIRE(resident > 0);
  agent::give_back_startup_memory();
  CHECK(file_pages() < resident);
  CHECK(spelled() == before);
}

TEST_SUITE_END();

}  // namespace startup_memory_test
