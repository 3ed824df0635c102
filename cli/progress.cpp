#include "cli/progress.hpp"

#include "cli/screen.hpp"
#include "cli/views/table.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <ostream>

namespace binnacle::cli {
namespace {

constexpr std::string_view empty_line = "\r\x1b[K";

}  // namespace

progress::~progress() {
  if (on_.shows_progress && done_ > 0) on_.err << empty_line << std::flush;
}

void progress::step(std::string_view what) {
  ++done_;
  const std::string line = fmt::format("{}: {} of {}: {}", command_, done_, steps_, printable(what));
  if (!on_.shows_progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now - spoke_ < patience_) return;
    spoke_ = now;
    on_.err << line << '\n' << std::flush;
    return;
  }
  // A line that wraps could not be taken away.
  on_.err << empty_line << shortened(line, screen_dimensions().width - 1) << std::flush;
}

}  // namespace binnacle::cli
