#include "common/system/process_cost.hpp"

#include <cstdio>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

namespace binnacle {
namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

std::optional<std::uint64_t> resident_bytes() {
  std::FILE* f = std::fopen("/proc/self/statm", "re");
  if (f == nullptr) return std::nullopt;
  unsigned long size = 0, resident = 0;  // pages
  const bool read = std::fscanf(f, "%lu %lu", &size, &resident) == 2;
  std::fclose(f);
  if (!read) return std::nullopt;
  return std::uint64_t{resident} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

process_cost own_cost() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return {seconds(used.ru_utime) + seconds(used.ru_stime), resident_bytes()};
}

duration own_thread_time() noexcept {
  timespec worked{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &worked);
  return std::chrono::seconds(worked.tv_sec) + std::chrono::nanoseconds(worked.tv_nsec);
}

}  // namespace binnacle
