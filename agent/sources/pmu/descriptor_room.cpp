#include "agent/sources/pmu/descriptor_room.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace binnacle::agent {
namespace {

constexpr rlim_t for_others = 512;  // links, scrapers, files of the other sources

}  // namespace

std::size_t make_descriptor_room(std::size_t wanted) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < wanted + for_others && limit.rlim_cur < limit.rlim_max) {
    auto raised = limit;
    raised.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted + for_others);
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur <= for_others ? 0 : std::min<std::size_t>(wanted, limit.rlim_cur - for_others);
}

}  // namespace binnacle::agent
