#pragma once

#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace binnacle::bench {

/// A program that is measured: started, watched through /proc, and ended by its process id.
class process {
 public:
  /// Throws when it cannot be started. Standard output and error go to `log_file`.
  process(const std::vector<std::string>& command, const std::string& log_file);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  pid_t id() const noexcept { return pid_; }
  bool running() const;
  void signal(int number) const;
  /// Sends SIGTERM, and SIGKILL after ten seconds.
  void stop();

  /// Resident memory, MiB.
  double resident_mib() const;
  /// The largest resident memory so far, MiB.
  double peak_mib() const;
  /// CPU seconds of each thread, by thread name (user and system).
  std::map<std::string, double> cpu_by_thread() const;
  double cpu() const;

 private:
  pid_t pid_ = -1;
};

}  // namespace binnacle::bench
