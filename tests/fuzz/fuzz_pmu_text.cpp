#include "agent/kernel/cpu_list.hpp"
#include "agent/kernel/pmu_device.hpp"
#include "agent/sources/pmu/pod_cgroups.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/machine/pmu_tree.hpp"
#include "tests/support/temp_folder.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz_pmu_text {

/// The texts about PMUs and pods that come from sysfs, cgroups and the configuration: a format, terms of an
/// event, a list of CPUs, the name of a folder. Input: one text, parsed as each of these.
namespace {

using namespace binnacle;
using namespace binnacle::agent;

void must(bool right) {
  if (!right) std::abort();
}

// The devices of a simulated machine, read once.
const std::vector<pmu_device>& devices() {
  static const support::temp_folder sys;
  static const auto all = [] {
    support::write_pmu_tree(sys.path(), support::pmus::xeon());
    return find_pmu_devices(sys.path());
  }();
  return all;
}

void try_format(std::string_view text) {
  const auto format = parse_pmu_format(text);
  if (!format) return;
  must(format->word <= 2 && !format->where.empty());
  std::uint64_t allowed = 0;
  for (const auto& [first, last] : format->where) {
    must(first <= last && last < 64);
    for (unsigned bit = first; bit <= last; ++bit) allowed |= std::uint64_t{1} << bit;
  }
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    perf_encoding e;
    (void)put_term(*format, value, e);
    must(((e.config | e.config1 | e.config2) & ~allowed) == 0);
  }
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_format(text);
  for (const auto& d : devices()) {
    const auto e = d.encode(text);
    must(e ? e->type == d.type() : !e.error().message.empty());
  }
  if (const auto cpus = parse_cpu_list(text)) {
    must(std::ranges::is_sorted(*cpus) && std::ranges::adjacent_find(*cpus) == cpus->end());
  }
  if (const auto uid = pod_uid_of(text)) must(uid->size() == 32 || uid->size() == 36);
  return 0;
}

}  // namespace fuzz_pmu_text
