#include "agent/base/source.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/sources/os/number_files.hpp"
#include "agent/sources/os/part.hpp"
#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

/// The frequency at which CPUs run, and which governor decides it. Before Linux 5.18, reading it may sleep 10
/// ms for each CPU that was not asked in the last second, so it is never read in the loop.
/// Source: Linux Documentation/admin-guide/pm/cpufreq.rst; arch/x86/kernel/cpu/aperfmperf.c.
class cpufreq_part final : public os_part {
 public:
  explicit cpufreq_part(const os_options& options)
      : options_(options),
        folder_(options.sys + "/devices/system/cpu/cpufreq"),
        period_(std::max(options.period, options.sensor_period)) {}

  std::string what() const override { return "CPU frequency (" + folder_ + ")"; }
  std::string remedy() const override {
    return "on a virtual machine nothing can be done; otherwise load the CPU's cpufreq driver, or let the "
           "firmware leave the frequency to the system";
  }

  result<void> discover(board& out, board::group_ref) override {
    auto found = find();
    if (!found) {
      forget(out);
      return found.error();
    }
    if (group_ == board::no_group || *found != policies_) {
      forget(out);
      policies_ = *std::move(found);
      announce(out);
    }
    out.mark_read(governors_, options_.time.now());
    return {};
  }

  result<void> read(board& out) override {
    if (!files_) return {};
    if (files_->poll(period_)) {
      take(out);
    } else if (files_->overdue()) {
      absent(out, absence::timeout);
      return error{errc::timeout, folder_ + " does not answer"};
    }
    return {};
  }

 private:
  // A cpufreq policy: CPUs that share a clock.
  struct policy {
    std::string folder;
    std::vector<std::string> cpus;
    std::string governor;
    bool operator==(const policy&) const = default;
  };

  result<std::vector<policy>> find() const {
    std::error_code bad;
    std::vector<policy> found;
    std::vector<char> buffer;
    fs::directory_iterator it(folder_, bad);
    if (bad) return error{errc_of(bad.value()), folder_ + ": " + describe(bad.value())};
    for (const fs::directory_iterator end; !bad && it != end; it.increment(bad)) {
      const auto path = it->path().string();
      if (!it->path().filename().string().starts_with("policy")) continue;
      policy p{path, {}, read_line(path + "/scaling_governor").value_or("unknown")};
      // Read with kernel_file and not read_line(): for a socket with hundreds of CPUs this line is longer
      // than 511 bytes.
      const auto line = kernel_file(path + "/affected_cpus").read(buffer);
      const std::string_view online = line ? *line : std::string_view();
      for (std::size_t at = 0; at < online.size();) {
        const auto end_of = std::min(online.find_first_of(" \n", at), online.size());
        if (end_of > at) p.cpus.emplace_back(online.substr(at, end_of - at));
        at = end_of + 1;
      }
      if (!p.cpus.empty()) found.push_back(std::move(p));
    }
    if (found.empty()) return error{errc::not_found, folder_ + ": no policies there"};
    std::ranges::sort(found, {}, &policy::folder);
    return found;
  }

  void announce(board& out) {
    group_ = out.add_group("os", "cpufreq", period_, metrics::stale_after(period_));
    mean_ = out.add_series(group_, "os_cpu_frequency_hertz", {});
    least_ = out.add_series(group_, "os_cpu_frequency_min_hertz", {});
    most_ = out.add_series(group_, "os_cpu_frequency_max_hertz", {});
    std::vector<number_files::file> files;
    std::map<std::string, std::int64_t> cpus_of;  // by governor
    for (const auto& p : policies_) {
      files.push_back({p.folder + "/scaling_cur_freq"});
      cpus_of[p.governor] += static_cast<std::int64_t>(p.cpus.size());
      for (const auto& cpu : p.cpus) {
        if (options_.per_cpu)
          each_.push_back(out.add_series(group_, "os_per_cpu_frequency_hertz", {{"cpu", cpu}}));
      }
    }
    // They are read only at a discovery, so they are as old as the last one.
    governors_ = out.add_group("os", "cpufreq governors", regular_look, metrics::stale_after(regular_look));
    for (const auto& [governor, cpus] : cpus_of) {
      out.set(out.add_series(governors_, "os_cpu_governor_cpus", {{"governor", governor}}), cpus);
    }
    files_.emplace(std::move(files), options_.slow, options_.time);
  }

  void forget(board& out) {
    out.remove_group(group_);
    out.remove_group(governors_);
    group_ = governors_ = board::no_group;
    files_.reset();
    each_.clear();
    policies_.clear();
  }

  void take(board& out) {
    double sum = 0, least = 0, most = 0;
    std::size_t cpus = 0, next = 0;
    auto reason = absence::missing;
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      const auto& n = files_->numbers()[i];
      const double hertz = static_cast<double>(n.value) * 1e3;
      for (std::size_t k = 0; k < policies_[i].cpus.size() && next < each_.size(); ++k, ++next) {
        if (n.reason == absence::none) {
          out.set(each_[next], hertz);
        } else {
          out.set_absent(each_[next], n.reason);
        }
      }
      if (n.reason != absence::none) {
        reason = n.reason;
        continue;
      }
      least = cpus == 0 ? hertz : std::min(least, hertz);
      most = std::max(most, hertz);
      sum += hertz * static_cast<double>(policies_[i].cpus.size());
      cpus += policies_[i].cpus.size();
    }
    if (cpus == 0) return absent(out, reason);
    out.set(mean_, sum / static_cast<double>(cpus));
    out.set(least_, least);
    out.set(most_, most);
    out.mark_read(group_, files_->read_at());
  }

  void absent(board& out, absence reason) {
    for (const auto s : {mean_, least_, most_}) out.set_absent(s, reason);
    for (const auto s : each_) out.set_absent(s, reason);
  }

  os_options options_;
  std::string folder_;
  duration period_;
  std::vector<policy> policies_;
  std::optional<number_files> files_;
  board::group_ref group_ = board::no_group, governors_ = board::no_group;
  board::series_ref mean_ = board::no_series, least_ = board::no_series, most_ = board::no_series;
  std::vector<board::series_ref> each_;  // by CPU, in the order of the policies
};

}  // namespace

std::unique_ptr<os_part> make_cpufreq_part(const os_options& options) {
  return std::make_unique<cpufreq_part>(options);
}

}  // namespace binnacle::agent
