// The only file that uses libpfm4: its <perfmon/perf_event.h> and <linux/perf_event.h> define the same names.
#include "agent/sources/pmu/pfm_events.hpp"

#include <fmt/format.h>
#include <perfmon/pfmlib_perf_event.h>

#include <cstdlib>
#include <dlfcn.h>
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

struct pfm_events::library {
  struct closed {
    void operator()(void* handle) const noexcept { ::dlclose(handle); }
  };
  std::unique_ptr<void, closed> handle;
  decltype(&::pfm_initialize) initialize = nullptr;
  decltype(&::pfm_terminate) terminate = nullptr;
  decltype(&::pfm_strerror) text_of = nullptr;
  decltype(&::pfm_get_os_event_encoding) encode = nullptr;
  decltype(&::pfm_get_event_info) event_info = nullptr;
  decltype(&::pfm_get_event_next) event_next = nullptr;
  decltype(&::pfm_get_pmu_info) pmu_info = nullptr;

  template <class Function>
  bool find(const char* symbol, Function& into) {
    into = reinterpret_cast<Function>(::dlsym(handle.get(), symbol));
    return into != nullptr;
  }
  bool load() {
    handle.reset(::dlopen(name, RTLD_NOW | RTLD_LOCAL));
    return handle && find("pfm_initialize", initialize) && find("pfm_terminate", terminate) &&
           find("pfm_strerror", text_of) && find("pfm_get_os_event_encoding", encode) &&
           find("pfm_get_event_info", event_info) && find("pfm_get_event_next", event_next) &&
           find("pfm_get_pmu_info", pmu_info);
  }
  static constexpr const char* name = "libpfm.so.4";
};

pfm_events::pfm_events() : library_(std::make_unique<library>()) {
  if (!library_->load()) {
    failed_ = fmt::format("{} cannot be loaded: install libpfm4, or name the event by its number (r01c2)",
                          library::name);
  } else if (const int wrong = library_->initialize(); wrong != PFM_SUCCESS) {
    failed_ = fmt::format("libpfm4 does not start: {}", library_->text_of(wrong));
  }
}
pfm_events::~pfm_events() {
  if (failed_.empty()) library_->terminate();
}

result<pfm_events::found> pfm_events::encode(const std::string& name) const {
  if (!failed_.empty()) return error{errc::unsupported, fmt::format("\"{}\": {}", name, failed_)};
  perf_event_attr attr{};
  attr.size = sizeof attr;
  char* full_name = nullptr;
  pfm_perf_encode_arg_t arg{};
  arg.size = sizeof arg;
  arg.attr = &attr;
  arg.fstr = &full_name;
  const int done = library_->encode(name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
  const std::unique_ptr<char, decltype(&std::free)> owned(full_name, &std::free);
  switch (done) {
    case PFM_SUCCESS: break;
    case PFM_ERR_NOTFOUND:
      return error{errc::not_found, fmt::format("libpfm4 knows no event \"{}\" here", name)};
    case PFM_ERR_NOTSUPP:
      return error{errc::unsupported,
                   fmt::format("\"{}\" belongs to a PMU that this kernel has no driver for", name)};
    default: return error{errc::invalid_input, fmt::format("\"{}\": {}", name, library_->text_of(done))};
  }
  found f{{attr.type, attr.config, attr.config1, attr.config2}};
  auto event = info_of<pfm_event_info_t>();
  auto pmu = info_of<pfm_pmu_info_t>();
  if (library_->event_info(arg.idx, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS &&
      library_->pmu_info(event.pmu, &pmu) == PFM_SUCCESS) {
    f.outside_cores = pmu.type == PFM_PMU_TYPE_UNCORE;
    // If the driver of such a PMU is missing, the library encodes the event as a raw event of the cores,
    // which counts something else.
    if (f.outside_cores && f.encoding.type == PERF_TYPE_RAW) {
      return error{errc::unsupported,
                   fmt::format("\"{}\" belongs to {}, which this kernel has no driver for", name, pmu.desc)};
    }
  }
  return f;
}

std::vector<std::string> pfm_events::names() const {
  std::vector<std::string> all;
  if (!failed_.empty()) return all;
  for (int id = PFM_PMU_NONE; id < PFM_PMU_MAX; ++id) {
    auto pmu = info_of<pfm_pmu_info_t>();
    if (library_->pmu_info(static_cast<pfm_pmu_t>(id), &pmu) != PFM_SUCCESS || !pmu.is_present) continue;
    for (int i = pmu.first_event; i != -1; i = library_->event_next(i)) {
      auto event = info_of<pfm_event_info_t>();
      if (library_->event_info(i, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS)
        all.push_back(fmt::format("{}::{}", pmu.name, event.name));
    }
  }
  return all;
}

}  // namespace binnacle::agent
