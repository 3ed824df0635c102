#include "common/system/descriptor_limit.hpp"

#include <algorithm>
#include <sys/resource.h>

namespace binnacle {

std::size_t raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

std::vector<std::size_t> share_descriptors(std::size_t limit, std::size_t own,
                                           std::span<const port_need> ports) {
  std::size_t reserved = own, wanted = 0;
  for (const port_need& p : ports) {
    reserved += p.least;
    wanted += p.most - p.least;
  }
  const std::size_t left = std::min(limit - std::min(limit, reserved), wanted);
  std::vector<std::size_t> out;
  for (const port_need& p : ports) {
    const std::size_t more = wanted == 0 ? 0 : (p.most - p.least) * left / wanted;
    out.push_back(p.least + more);
  }
  return out;
}

}  // namespace binnacle
