#pragma once

#include "common/log/line_throttle.hpp"
#include "common/log/log.hpp"

#include <chrono>
#include <cstddef>
#include <string_view>

namespace binnacle {

/// One warning for many events of one kind, when thousands of peers fail in the same way at once: at most one
/// every ten seconds, with how many were left out. Those are lines for developers. Pure but for the line:
/// time is given.
class rare_warning {
 public:
  void say(const logger& log, instant now, std::string_view text) {
    const std::size_t left_out = lines_.left_out(now);
    if (!lines_.take(now)) {
      log.debug("{}", text);
    } else if (left_out == 0) {
      log.warning("{}", text);
    } else {
      log.warning("{} (and {} more like it)", text, left_out);
    }
  }

 private:
  line_throttle lines_{1, std::chrono::seconds(10)};
};

}  // namespace binnacle
