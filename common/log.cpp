#include "common/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>

namespace binnacle {
namespace {

spdlog::level::level_enum to_spdlog(log_level level) noexcept {
  switch (level) {
    case log_level::debug:
      return spdlog::level::debug;
    case log_level::info:
      return spdlog::level::info;
    case log_level::warning:
      return spdlog::level::warn;
    case log_level::error:
      return spdlog::level::err;
    case log_level::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

}  // namespace

logger::logger(std::string part, log_level threshold) {
  sink_ =
      std::make_shared<spdlog::logger>(std::move(part), std::make_shared<spdlog::sinks::stderr_sink_mt>());
  sink_->set_formatter(std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %n: %v",
                                                                   spdlog::pattern_time_type::utc));
  sink_->set_level(to_spdlog(threshold));
  sink_->flush_on(spdlog::level::debug);
}

logger logger::part(std::string name) const {
  logger copy = *this;
  copy.sink_ = sink_->clone(std::move(name));
  return copy;
}

bool logger::enabled(log_level level) const noexcept { return sink_->should_log(to_spdlog(level)); }

void logger::write(log_level level, std::string_view text) const {
  sink_->log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
}

bool parse_log_level(std::string_view text, log_level& out) noexcept {
  struct row {
    std::string_view name;
    log_level level;
  };
  static constexpr std::array<row, 5> rows{{{"debug", log_level::debug},
                                            {"info", log_level::info},
                                            {"warning", log_level::warning},
                                            {"error", log_level::error},
                                            {"off", log_level::off}}};
  for (const row& r : rows) {
    if (r.name == text) {
      out = r.level;
      return true;
    }
  }
  return false;
}

}  // namespace binnacle
