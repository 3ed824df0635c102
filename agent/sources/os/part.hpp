#pragma once

#include "agent/base/board.hpp"
#include "agent/base/clocks.hpp"
#include "agent/base/problem_summary.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/kernel/slow_reader.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// One file or folder of /proc or /sys that the os source reads. If a part fails, the others go on. Its
/// series are in the source's group, or in groups of its own if it is read at another pace.
class os_part {
 public:
  virtual ~os_part() = default;

  /// For --probe: "CPU time (/proc/stat)".
  virtual std::string what() const = 0;
  /// What to do if it is not there.
  virtual std::string remedy() const { return "check proc-root and sys-root"; }

  /// Announces its series if it can be read now. Called again for a part that could not be read.
  virtual result<void> discover(board& out, board::group_ref group) = 0;
  /// Whether discover() should run again now, because something came or went since its last run. Called
  /// before each read, so it must be cheap.
  virtual bool looks_again() { return false; }
  /// Reads it once. If this returns an error, the part has already made its series absent.
  virtual result<void> read(board& out) = 0;
  /// Adds what is left out although the last read succeeded, each thing in a sentence.
  virtual void add_limitations(problem_summary& /*to*/) const {}
};

/// Where the parts look, how often, and what they share.
struct os_options {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string net;  ///< folder with the file dev of the machine's network; empty: that below proc
  clocks time;
  bool virtual_interfaces = false;
  bool per_cpu = false;  ///< a series for each CPU and core, too
  duration period = std::chrono::seconds(1);
  duration sensor_period = std::chrono::seconds(10);  ///< for files that hardware may delay
  duration drive_period = std::chrono::minutes(1);    ///< of drives' temperatures
  std::shared_ptr<slow_reader> slow;                  ///< reads what the hardware may delay
};

/// A part that is one text file. Keeps the file open; its series are absent while it cannot be read.
class text_part : public os_part {
 public:
  explicit text_part(std::string path) : file_(std::move(path)) {}

  std::string what() const override { return file_.path(); }
  result<void> discover(board& out, board::group_ref group) final;
  result<void> read(board& out) final;

 protected:
  /// Adds a series that becomes absent when the text cannot be read.
  board::series_ref announce(board& out, board::group_ref group, std::string family,
                             metrics::label_set labels = {});
  virtual void announce_all(board& out, board::group_ref group) = 0;
  /// Takes values from the text. False if the text does not have the kernel's form.
  virtual bool take(std::string_view text, board& out) = 0;
  /// The text cannot be read or does not have the kernel's form. The announced series are absent already.
  virtual void lost(absence, board&) {}

 private:
  kernel_file file_;
  std::vector<board::series_ref> series_;
  std::vector<char> buffer_;
};

/// Sets the value. If there is none, makes the series absent with the reason.
template <class Optional>
void set_or_absent(board& out, board::series_ref series, const Optional& value,
                   absence otherwise = absence::missing) {
  if (value) {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(*value)>>) {
      out.set(series, static_cast<double>(*value));
    } else {
      out.set(series, static_cast<std::int64_t>(*value));
    }
  } else {
    out.set_absent(series, otherwise);
  }
}

std::unique_ptr<os_part> make_cpu_part(const os_options& options);
std::unique_ptr<os_part> make_load_part(const os_options& options);
std::unique_ptr<os_part> make_memory_part(const os_options& options);
std::unique_ptr<os_part> make_uptime_part(const os_options& options);
/// `resource`: "cpu", "memory" or "io".
std::unique_ptr<os_part> make_pressure_part(const os_options& options, std::string resource);
std::unique_ptr<os_part> make_network_part(const os_options& options);
std::unique_ptr<os_part> make_hugepages_part(const os_options& options);
std::unique_ptr<os_part> make_cpufreq_part(const os_options& options);
std::unique_ptr<os_part> make_throttle_part(const os_options& options);
std::unique_ptr<os_part> make_hwmon_part(const os_options& options);
std::unique_ptr<os_part> make_thermal_part(const os_options& options);

}  // namespace binnacle::agent
