#include "agent/sources/bmc/bmc.hpp"

#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/bmc/helper_link.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unistd.h>
#include <utility>

namespace binnacle::agent {
namespace {

link_options link_of(const bmc_options& o) {
  link_options l;
  l.socket = o.socket;
  l.command = {o.helper, o.arguments};
  l.select = o.select;
  l.supervision.child = o.socket.empty();
  return l;
}

// Source: Linux Documentation/driver-api/ipmi.rst (ipmi_si, ipmi_devintf); SMBIOS type 38 is the IPMI device.
bmc_obstacle no_device(const bmc_options& o) {
  bmc_obstacle none{errc::unsupported, fmt::format("there is no {}", o.device), {}};
  if (there(o.sys_root + "/class/ipmi/ipmi0")) {
    none.remedy = "the kernel has one, so mount it into this container (and allow the device)";
  } else if (there(o.sys_root + "/module/ipmi_si") || there(o.sys_root + "/module/ipmi_ssif")) {
    none.remedy = "modprobe ipmi_devintf";
  } else if (there(o.sys_root + "/firmware/dmi/entries/38-0")) {
    none.remedy = "the firmware says that this machine has a BMC: modprobe ipmi_si ipmi_devintf";
  } else {
    none.remedy =
        "modprobe ipmi_si ipmi_devintf; for a BMC over the network set bmc-host; on a machine "
        "without a BMC take bmc out of sources";
  }
  return none;
}

}  // namespace

std::optional<bmc_obstacle> obstacle_to(const bmc_options& o) {
  if (!o.socket.empty()) return std::nullopt;
  if (!o.device.empty()) {
    if (!there(o.device)) return no_device(o);
    if (::access(o.device.c_str(), R_OK | W_OK) != 0) {
      return bmc_obstacle{errc::permission, fmt::format("{} cannot be opened: {}", o.device, describe(errno)),
                          "run the agent as root, give its user's group read and write to the device, or run "
                          "binnacle-ipmi as a sidecar (ipmi-socket)"};
    }
  }
  if (const auto runs = check_helper(o.helper); !runs) {
    return bmc_obstacle{runs.error().code, runs.error().message,
                        "install binnacle-ipmi beside binnacle-agent, or say where it is (ipmi-helper)"};
  }
  return std::nullopt;
}

bmc_source::bmc_source(bmc_options options, logger log, clocks time)
    : options_(std::move(options)),
      time_(std::move(time)),
      link_(std::make_shared<helper_link>(link_of(options_), std::move(log))),
      credentials_(file_stamp::of(options_.credentials_file)) {}

bmc_source::~bmc_source() { link_->forget(); }

void bmc_source::start(async::task_group& beside, std::function<void()> arrived) {
  link_->start(beside, std::move(arrived), [this] { apply_interest(); });
}

std::vector<finding> bmc_source::probe() { return probe_bmc(options_, std::chrono::seconds(20)); }

result<void> bmc_source::discover(board& out) {
  about_ = out.add_group("bmc", "", options_.period, metrics::stale_after(options_.period));
  if (link_->minder().idle()) {
    if (auto obstacle = obstacle_to(options_)) {
      return error{obstacle->code, fmt::format("{}: {}", obstacle->why, obstacle->remedy)};
    }
    link_->allow();
  }
  out.add_series(about_, "bmc_sensors", {});  // not read yet until the BMC has said what it has
  return {};
}

void bmc_source::look_at_credentials() {
  if (options_.credentials_file.empty()) return;
  const auto now = file_stamp::of(options_.credentials_file);
  if (now == credentials_ || !now) return;
  credentials_ = now;
  link_->credentials_changed();
}

result<void> bmc_source::read(board& out) {
  look_at_credentials();
  auto& view = link_->view();
  if (view.version() != shown_version_) {
    series_.announce(view, out);
    shown_version_ = view.version();
  }
  const auto now = time_.now();
  for (const auto& r : view.take_readings()) {
    slowest_read_s_ = std::max(slowest_read_s_, r.took_us / 1e6);
    series_.show(r, now, out);
  }
  if (const auto& trouble = link_->minder().trouble()) return *trouble;
  show_about(out);
  return {};
}

void bmc_source::show_about(board& out) {
  const auto& view = link_->view();
  const auto set = [&](const char* family, auto value) {
    out.set(out.add_series(about_, family, {}), value);
  };
  if (view.planned()) set("bmc_sensors", static_cast<std::int64_t>(series_.size()));
  if (slowest_read_s_ > 0) set("bmc_read_seconds", std::exchange(slowest_read_s_, 0));
  if (const auto& s = view.stats()) {
    set("bmc_busy_ratio", s->busy_ratio);
    set("bmc_requests_total", static_cast<std::int64_t>(s->requests));
    set("bmc_failures_total", static_cast<std::int64_t>(s->failures));
    set("bmc_timeouts_total", static_cast<std::int64_t>(s->timeouts));
    set("bmc_sessions_total", static_cast<std::int64_t>(s->sessions));
    set("bmc_sdr_rebuilds_total", static_cast<std::int64_t>(s->sdr_rebuilds));
  }
  if (const auto& bmc = view.identity()) {
    const auto product = fmt::format("{}", bmc->product_id);
    const auto labels = fmt::format("{}\n{}\n{}", bmc->manufacturer, product, bmc->firmware);
    if (labels != info_) {
      out.remove_series(info_series_);
      info_series_ = out.add_series(
          about_, "bmc_info",
          {{"manufacturer", bmc->manufacturer}, {"product", product}, {"firmware", bmc->firmware}});
      info_ = labels;
    }
    out.set(info_series_, std::int64_t{1});
  }
  out.mark_read(about_, time_.now());
}

std::string bmc_source::limitation() const {
  const auto& view = link_->view();
  if (!view.identity() || !view.planned()) return {};
  if (!view.plan().empty()) {
    auto doubted = series_.doubted();
    return doubted.empty() ? unmatched(options_.select, view.sensors()) : doubted;
  }
  return view.sensors().empty()
             ? fmt::format("the BMC at {} has no sensors", view.identity()->address)
             : fmt::format(
                   "none of the {} sensors of the BMC at {} is selected: look at bmc-sensors and "
                   "bmc-exclude",
                   view.sensors().size(), view.identity()->address);
}

void bmc_source::set_interest(const wire::interest& wanted) {
  wanted_ = wanted;
  apply_interest();
}

void bmc_source::apply_interest() {
  link_->set_interest(keys_wanted(link_->view().sensors(), wanted_, options_.select.exclude));
}

std::vector<event_count> bmc_source::events() const {
  const auto& c = link_->minder().counted();
  return {{"helper_starts", c.starts}, {"helper_failures", c.failures}, {"helper_hung", c.hung},
          {"helper_broke", c.broke},   {"helper_ended", c.ended},       {"bmc_refused", c.refused}};
}

}  // namespace binnacle::agent
