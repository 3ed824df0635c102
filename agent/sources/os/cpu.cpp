#include "agent/kernel/counter_rate.hpp"
#include "agent/sources/os/each_cpu.hpp"
#include "agent/sources/os/part.hpp"
#include "agent/sources/os/proc_text.hpp"

#include <chrono>
#include <unistd.h>

namespace binnacle::agent {
namespace {

// The ticks of a machine that runs move every 10 ms, idle ones, too.
constexpr duration still_after = std::chrono::seconds(10);

/// CPU time by mode, utilization, context switches, running tasks: /proc/stat.
class cpu_part final : public text_part {
 public:
  explicit cpu_part(const os_options& options)
      : text_part(options.proc + "/stat"), now_(options.time.now), per_cpu_(options.per_cpu) {}

  std::string what() const override { return "CPU time and context switches (" + text_part::what() + ")"; }
  void add_limitations(problem_summary& to) const override {
    if (stands_still_)
      to.add(text_part::what() +
             " has stood still for more than 10 s, so it gives no utilization: check proc-root, or what "
             "provides this file in a container");
  }

 protected:
  void announce_all(board& out, board::group_ref group) override {
    for (std::size_t i = 0; i < modes_.size(); ++i) {
      modes_[i] =
          announce(out, group, "os_cpu_seconds_total", {{"mode", std::string(proc::cpu_ticks::modes[i])}});
    }
    utilization_ = announce(out, group, "os_cpu_utilization_ratio");
    cpus_ = announce(out, group, "os_cpus");
    switches_ = announce(out, group, "os_context_switches_total");
    switch_rate_ = announce(out, group, "os_context_switches_per_second");
    running_ = announce(out, group, "os_processes_running");
    if (per_cpu_) each_.emplace(group);
  }

  bool take(std::string_view text, board& out) override {
    const auto now = now_();
    const auto s = proc::parse_stat(text);
    if (!s) return false;
    if (each_) each_->take(text, out);
    for (std::size_t i = 0; i < modes_.size(); ++i) {
      // The family's resolution is 1/100 s, which is a tick wherever USER_HZ is 100.
      out.set(modes_[i], static_cast<std::int64_t>(s->all.mode[i] * 100 / ticks_per_second_));
    }
    // The kernel's ticks move every 10 ms. If none has moved, there is nothing to divide, and the last value
    // stays for a while.
    const auto used = last_ ? proc::utilization(*last_, s->all) : std::nullopt;
    if (used) out.set(utilization_, *used);
    if (!last_ || used) {
      last_ = s->all;
      moved_at_ = now;
    }
    stands_still_ = now - moved_at_ >= still_after;
    if (stands_still_) {
      out.set_absent(utilization_, absence::stands_still);
      if (each_) each_->stand_still(out);
    }

    out.set(cpus_, std::int64_t{s->cpus});
    set_or_absent(out, running_, s->running);
    set_or_absent(out, switches_, s->context_switches);
    if (s->context_switches) {
      rate_.update(*s->context_switches, now);
    } else {
      rate_.restart();
    }
    if (s->context_switches && rate_.reason() == absence::none) {
      out.set(switch_rate_, rate_.per_second());
    } else {
      out.set_absent(switch_rate_, s->context_switches ? rate_.reason() : absence::missing);
    }
    return true;
  }

  void lost(absence reason, board& out) override {
    last_.reset();
    stands_still_ = false;
    rate_.restart();
    if (each_) each_->absent(reason, out);
  }

 private:
  std::function<instant()> now_;
  bool per_cpu_;
  std::optional<each_cpu> each_;
  std::uint64_t ticks_per_second_ = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  std::optional<proc::cpu_ticks> last_;
  instant moved_at_{};         // when last_ was read
  bool stands_still_ = false;  // no tick has moved for long
  counter_rate rate_;
  std::array<board::series_ref, 8> modes_{};
  board::series_ref utilization_ = board::no_series;
  board::series_ref cpus_ = board::no_series;
  board::series_ref switches_ = board::no_series;
  board::series_ref switch_rate_ = board::no_series;
  board::series_ref running_ = board::no_series;
};

class load_part final : public text_part {
 public:
  explicit load_part(const os_options& options) : text_part(options.proc + "/loadavg") {}

  std::string what() const override { return "load (" + text_part::what() + ")"; }

 protected:
  void announce_all(board& out, board::group_ref group) override {
    std::size_t i = 0;
    for (const auto* family : {"os_load1", "os_load5", "os_load15"})
      series_[i++] = announce(out, group, family);
  }
  bool take(std::string_view text, board& out) override {
    const auto load = proc::parse_loadavg(text);
    if (!load) return false;
    for (std::size_t i = 0; i < series_.size(); ++i) out.set(series_[i], (*load)[i]);
    return true;
  }

 private:
  std::array<board::series_ref, 3> series_{};
};

class uptime_part final : public text_part {
 public:
  explicit uptime_part(const os_options& options) : text_part(options.proc + "/uptime") {}

  std::string what() const override { return "uptime (" + text_part::what() + ")"; }

 protected:
  void announce_all(board& out, board::group_ref group) override {
    series_ = announce(out, group, "os_uptime_seconds");
  }
  bool take(std::string_view text, board& out) override {
    const auto seconds = proc::parse_uptime(text);
    if (seconds) out.set(series_, *seconds);
    return seconds.has_value();
  }

 private:
  board::series_ref series_ = board::no_series;
};

}  // namespace

std::unique_ptr<os_part> make_cpu_part(const os_options& options) {
  return std::make_unique<cpu_part>(options);
}
std::unique_ptr<os_part> make_load_part(const os_options& options) {
  return std::make_unique<load_part>(options);
}
std::unique_ptr<os_part> make_uptime_part(const os_options& options) {
  return std::make_unique<uptime_part>(options);
}

}  // namespace binnacle::agent
