#include "cli/progress.hpp"

#include "cli/screen.hpp"
#include "cli/terminal_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace binnacle::cli {
namespace {

constexpr std::string_view empty_line = "\r\x1b[K";
constexpr std::chrono::seconds too_soon{2};  // to estimate how long the rest takes

}  // namespace

std::string left_words(std::size_t done, std::size_t left, std::chrono::steady_clock::duration took) {
  if (done == 0 || took < too_soon) return "";
  const double each = std::chrono::duration<double>(took).count() / static_cast<double>(done);
  const auto seconds = static_cast<long>(std::ceil(each * static_cast<double>(left)));
  return seconds < 60 ? fmt::format(", about {} s left", seconds)
                      : fmt::format(", about {} min {} s left", seconds / 60, seconds % 60);
}

progress::~progress() {
  if (on_.shows_progress && done_ > 0) on_.err << empty_line << std::flush;
}

void progress::step(std::string_view what) {
  const auto now = std::chrono::steady_clock::now();
  const std::string left = left_words(done_, steps_ - std::min(steps_, done_), now - began_);
  ++done_;
  const std::string line =
      fmt::format("{}: {} of {}: {}{}", command_, done_, steps_, for_terminal(what), left);
  if (!on_.shows_progress) {
    if (now - spoke_ < patience_) return;
    spoke_ = now;
    on_.err << line << '\n' << std::flush;
    return;
  }
  // A line that wraps could not be overwritten.
  on_.err << empty_line << shortened(line, screen_dimensions().width - 1) << std::flush;
}

}  // namespace binnacle::cli
