#pragma once

#include "common/log/line_throttle.hpp"
#include "common/log/log.hpp"

#include <chrono>
#include <cstddef>
#include <string_view>

namespace binnacle {

/// One warning for many events of one kind, because thousands of peers may fail in the same way at once: at
/// most one every ten seconds, with the number of events left out. The events left out are logged for
/// developers (debug). Pure except for the logging: the caller gives the time.
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
