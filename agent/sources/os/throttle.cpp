#include "agent/kernel/counter_rate.hpp"
#include "agent/kernel/cpu_topology.hpp"
#include "agent/sources/os/number_files.hpp"
#include "agent/sources/os/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

// A throttling that is shorter than a tick of the kernel (1 to 10 ms) is counted and never adds any time. So
// this long after a count without time, it is taken to be over.
constexpr duration longest_doubt = std::chrono::minutes(1);

/// How often, and for how long, CPU packages and their cores slowed down because they were too hot. Each CPU
/// repeats the counter of its package, and hardware threads of a core repeat the core's. So one CPU's file is
/// read for each package, and one for each core. Source: Linux
/// Documentation/ABI/testing/sysfs-devices-system-cpu; arch x86, therm_throt.c.
class throttle_part final : public os_part {
 public:
  explicit throttle_part(const os_options& options)
      : options_(options), cpus_(options.sys + "/devices/system/cpu") {}

  std::string what() const override { return "thermal throttling (" + cpus_ + "/cpu*/thermal_throttle)"; }
  std::string remedy() const override {
    return masked_ ? "mount the host's /sys (read-only) at /host/sys and give --sys-root /host/sys"
                   : "nothing: only Intel's CPUs count it, and virtual machines do not show it";
  }

  result<void> discover(board& out, board::group_ref group) override {
    auto found = find();
    if (!found) return found.error();
    if (*found == folders_) return {};
    for (auto& [name, p] : packages_) {
      for (const auto s : {p.events, p.rate, p.seconds, p.ratio, p.cores}) out.remove_series(s);
    }
    packages_.clear();
    folders_ = *std::move(found);
    announce(out, group);
    return {};
  }

  result<void> read(board& out) override {
    if (!package_files_) return {};
    const auto now = options_.time.now();
    if (package_files_->poll(duration::zero())) {
      for (auto& [name, p] : packages_) take_package(p, now, out);
    }
    if (core_files_->poll(options_.sensor_period)) {
      for (auto& [name, p] : packages_) take_cores(p, out);
    }
    return {};
  }

 private:
  struct package {
    std::size_t first_file = 0;  // its index in package_files_
    std::vector<std::size_t> core_files;
    board::series_ref events = board::no_series, rate = board::no_series, seconds = board::no_series,
                      ratio = board::no_series, cores = board::no_series;
    counter_rate events_rate, time_rate;
    instant doubtful_until{};  // until then it may be throttled, and the time not yet told
  };
  // By package: a folder for each of its cores, in the order of the CPUs' numbers.
  using core_folders = std::map<std::string, std::vector<std::string>>;

  result<core_folders> find() {
    const auto cpus = find_cpus(options_.sys);
    if (!cpus) return cpus.error();
    core_folders found;
    std::set<std::string> cores;
    std::error_code bad;
    masked_ = false;
    for (const unsigned cpu : *cpus) {
      const auto folder = fmt::format("{}/cpu{}/thermal_throttle", cpus_, cpu);
      if (!fs::exists(folder + "/package_throttle_count", bad)) {
        masked_ = masked_ || fs::exists(folder, bad);
        continue;
      }
      const auto seat = seat_of(options_.sys, cpu);
      const auto package = seat.package.value_or("0");
      const auto core =
          fmt::format("{}/{}/{}", package, seat.die.value_or(""), seat.core.value_or(std::to_string(cpu)));
      if (cores.insert(core).second) found[package].push_back(folder);
    }
    if (!found.empty()) return found;
    if (masked_)
      return error{errc::permission,
                   cpus_ + "/cpu*/thermal_throttle is empty: the container runtime masks it"};
    return error{errc::not_found, cpus_ + "/cpu*/thermal_throttle: not there"};
  }

  void announce(board& out, board::group_ref group) {
    std::vector<number_files::file> of_packages, of_cores;
    for (const auto& [name, folders] : folders_) {
      auto& p = packages_[name];
      const metrics::label_set labels{{"package", name}};
      p.events = out.add_series(group, "os_cpu_package_throttles_total", labels);
      p.rate = out.add_series(group, "os_cpu_package_throttles_per_second", labels);
      p.seconds = out.add_series(group, "os_cpu_package_throttled_seconds_total", labels);
      p.ratio = out.add_series(group, "os_cpu_package_throttled_ratio", labels);
      p.cores = out.add_series(group, "os_cpu_core_throttles_total", labels);
      p.first_file = of_packages.size();
      of_packages.push_back({folders.front() + "/package_throttle_count"});
      of_packages.push_back({folders.front() + "/package_throttle_total_time_ms"});  // Linux 5.7
      for (const auto& f : folders) {
        p.core_files.push_back(of_cores.size());
        of_cores.push_back({f + "/core_throttle_count"});
      }
    }
    package_files_.emplace(std::move(of_packages), nullptr, options_.time);
    core_files_.emplace(std::move(of_cores), nullptr, options_.time);
  }

  // Sets a counter at its family's resolution. Gives why it has no rate; none if it has.
  static absence take_counter(const number_files::number& n, counter_rate& rate, instant now,
                              board::series_ref total, board& out) {
    if (n.reason != absence::none || n.value < 0) {
      const auto reason = n.reason == absence::none ? absence::malformed : n.reason;
      rate.restart();
      out.set_absent(total, reason);
      return reason;
    }
    out.set(total, n.value);
    rate.update(static_cast<std::uint64_t>(n.value), now);
    return rate.reason();
  }

  static void show(board::series_ref series, absence why_not, double value, board& out) {
    if (why_not == absence::none) {
      out.set(series, value);
    } else {
      out.set_absent(series, why_not);
    }
  }

  // Linux adds the time of a throttling when it ends (therm_throt_process). Until then only the count has
  // risen, so the ratio is not known, and afterwards the time is of more than the last interval.
  void take_package(package& p, instant now, board& out) {
    const auto& numbers = package_files_->numbers();
    const auto no_rate = take_counter(numbers[p.first_file], p.events_rate, now, p.events, out);
    auto no_ratio = take_counter(numbers[p.first_file + 1], p.time_rate, now, p.seconds, out);
    const double rate = p.events_rate.per_second(), ratio = p.time_rate.per_second() * 1e-3;
    // A new count may be of a throttling that goes on, also where the time of an earlier one was added.
    if (no_rate == absence::none && rate > 0) {
      p.doubtful_until = now + longest_doubt;
    } else if (no_ratio == absence::none && ratio > 0) {
      p.doubtful_until = {};
    }
    if (no_ratio == absence::none && ratio <= 0 && now < p.doubtful_until) no_ratio = absence::no_data;
    show(p.rate, no_rate, rate, out);
    show(p.ratio, no_ratio, std::min(ratio, 1.0), out);
  }

  void take_cores(const package& p, board& out) {
    std::int64_t sum = 0;
    for (const auto file : p.core_files) {
      const auto& n = core_files_->numbers()[file];
      if (n.reason != absence::none) return out.set_absent(p.cores, n.reason);
      sum += n.value;
    }
    out.set(p.cores, sum);
  }

  os_options options_;
  std::string cpus_;
  bool masked_ = false;
  core_folders folders_;
  std::map<std::string, package> packages_;
  std::optional<number_files> package_files_, core_files_;
};

}  // namespace

std::unique_ptr<os_part> make_throttle_part(const os_options& options) {
  return std::make_unique<throttle_part>(options);
}

}  // namespace binnacle::agent
