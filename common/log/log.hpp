#pragma once

#include <fmt/core.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
}

namespace binnacle {

/// Levels and what they mean. `error`: a person must act. `warning`: something is degraded; logged once, not
/// at every tick. `info`: a change of state (started, connected, policy accepted). `debug`: for developers.
enum class log_level : unsigned char { debug, info, warning, error, off };

/// A logger is passed in and never global. Copies share one sink; safe to use from several threads. Lines go
/// to stderr as "2026-01-01T00:00:00.000Z info part: text". The text may hold what a peer sent. So every
/// control character becomes "?", and no text can make a second line. Nothing secret is ever logged.
class logger {
 public:
  /// `part` names the program or room in front of each line ("agent", "ingest").
  explicit logger(std::string part, log_level threshold = log_level::info);
  /// Gives each line, without its line feed, to `take` instead of stderr: for tests that check the log.
  /// `take` may be called from any thread, one call at a time.
  logger(std::string part, log_level threshold, std::function<void(std::string_view line)> take);

  /// The same sink and level under another part name.
  logger part(std::string name) const;

  template <class... Args>
  void debug(fmt::format_string<Args...> text, Args&&... args) const {
    if (enabled(log_level::debug)) write(log_level::debug, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void info(fmt::format_string<Args...> text, Args&&... args) const {
    if (enabled(log_level::info)) write(log_level::info, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> text, Args&&... args) const {
    if (enabled(log_level::warning))
      write(log_level::warning, fmt::format(text, std::forward<Args>(args)...));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> text, Args&&... args) const {
    if (enabled(log_level::error)) write(log_level::error, fmt::format(text, std::forward<Args>(args)...));
  }

  bool enabled(log_level level) const noexcept;
  void write(log_level level, std::string_view text) const;

 private:
  std::shared_ptr<spdlog::logger> sink_;
};

/// "debug", "info", "warning", "error", "off".
std::string_view to_string(log_level level) noexcept;

}  // namespace binnacle
