#include "common/log/log.hpp"

#include "common/text/utf8.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <string>

namespace binnacle {
namespace {

spdlog::level::level_enum to_spdlog(log_level level) noexcept {
  switch (level) {
    case log_level::debug: return spdlog::level::debug;
    case log_level::info: return spdlog::level::info;
    case log_level::warning: return spdlog::level::warn;
    case log_level::error: return spdlog::level::err;
    case log_level::off: return spdlog::level::off;
  }
  return spdlog::level::info;
}

/// Hands each formatted line to a function.
class line_sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit line_sink(std::function<void(std::string_view)> take) : take_(std::move(take)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string_view text(line.data(), line.size());
    if (text.ends_with('\n')) text.remove_suffix(1);
    take_(text);
  }
  void flush_() override {}

  std::function<void(std::string_view)> take_;
};

std::shared_ptr<spdlog::logger> make(std::string part, log_level threshold, spdlog::sink_ptr sink) {
  auto made = std::make_shared<spdlog::logger>(std::move(part), std::move(sink));
  made->set_formatter(std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %n: %v",
                                                                  spdlog::pattern_time_type::utc));
  made->set_level(to_spdlog(threshold));
  made->flush_on(spdlog::level::debug);
  return made;
}

}  // namespace

logger::logger(std::string part, log_level threshold)
    : sink_(make(std::move(part), threshold, std::make_shared<spdlog::sinks::stderr_sink_mt>())) {}

logger::logger(std::string part, log_level threshold, std::function<void(std::string_view line)> take)
    : sink_(make(std::move(part), threshold, std::make_shared<line_sink>(std::move(take)))) {}

logger logger::part(std::string name) const {
  logger copy = *this;
  copy.sink_ = sink_->clone(std::move(name));
  return copy;
}

bool logger::enabled(log_level level) const noexcept { return sink_->should_log(to_spdlog(level)); }

void logger::write(log_level level, std::string_view text) const {
  const std::string clean = printable(text);
  sink_->log(to_spdlog(level), spdlog::string_view_t(clean.data(), clean.size()));
}

std::string_view to_string(log_level level) noexcept {
  switch (level) {
    case log_level::debug: return "debug";
    case log_level::info: return "info";
    case log_level::warning: return "warning";
    case log_level::error: return "error";
    case log_level::off: break;
  }
  return "off";
}

}  // namespace binnacle
