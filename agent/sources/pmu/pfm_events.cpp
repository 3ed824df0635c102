// The only file with libpfm4: its <perfmon/perf_event.h> and <linux/perf_event.h> define the same names.
#include "agent/sources/pmu/pfm_events.hpp"

#include <fmt/format.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cstdlib>
#include <memory>

namespace binnacle::agent {
namespace {

template <class Info>
Info info_of() {
  Info info{};
  info.size = sizeof info;
  return info;
}

}  // namespace

pfm_events::pfm_events() : failed_(pfm_initialize()) {}
pfm_events::~pfm_events() {
  if (failed_ == PFM_SUCCESS) pfm_terminate();
}

result<pfm_events::found> pfm_events::encode(const std::string& name) const {
  if (failed_ != PFM_SUCCESS) {
    return error{errc::unsupported, fmt::format("libpfm4 does not start: {}", pfm_strerror(failed_))};
  }
  perf_event_attr attr{};
  attr.size = sizeof attr;
  char* full_name = nullptr;
  pfm_perf_encode_arg_t arg{};
  arg.size = sizeof arg;
  arg.attr = &attr;
  arg.fstr = &full_name;
  const int done = pfm_get_os_event_encoding(name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
  const std::unique_ptr<char, decltype(&std::free)> owned(full_name, &std::free);
  switch (done) {
    case PFM_SUCCESS: break;
    case PFM_ERR_NOTFOUND:
      return error{errc::not_found, fmt::format("libpfm4 knows no event \"{}\" here", name)};
    case PFM_ERR_NOTSUPP:
      return error{errc::unsupported,
                   fmt::format("\"{}\" belongs to a PMU that this kernel has no driver for", name)};
    default: return error{errc::invalid_input, fmt::format("\"{}\": {}", name, pfm_strerror(done))};
  }
  found f{{attr.type, attr.config, attr.config1, attr.config2}};
  auto event = info_of<pfm_event_info_t>();
  auto pmu = info_of<pfm_pmu_info_t>();
  if (pfm_get_event_info(arg.idx, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS &&
      pfm_get_pmu_info(event.pmu, &pmu) == PFM_SUCCESS) {
    f.outside_cores = pmu.type == PFM_PMU_TYPE_UNCORE;
    // Without its driver the library encodes such an event as a raw one of the cores, which counts something
    // else.
    if (f.outside_cores && f.encoding.type == PERF_TYPE_RAW) {
      return error{errc::unsupported,
                   fmt::format("\"{}\" belongs to {}, which this kernel has no driver for", name, pmu.desc)};
    }
  }
  return f;
}

std::vector<std::string> pfm_events::names() const {
  std::vector<std::string> all;
  if (failed_ != PFM_SUCCESS) return all;
  for (int id = PFM_PMU_NONE; id < PFM_PMU_MAX; ++id) {
    auto pmu = info_of<pfm_pmu_info_t>();
    if (pfm_get_pmu_info(static_cast<pfm_pmu_t>(id), &pmu) != PFM_SUCCESS || !pmu.is_present) continue;
    for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
      auto event = info_of<pfm_event_info_t>();
      if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS)
        all.push_back(fmt::format("{}::{}", pmu.name, event.name));
    }
  }
  return all;
}

}  // namespace binnacle::agent
