#pragma once

#include "common/log.hpp"
#include "common/rate_limit.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace binnacle {

/// One warning for many events of one kind, when thousands of peers fail in the same way at once: at most one
/// every ten seconds, with how many were left out. Those are lines for developers. Pure but for the line:
/// time is given.
class rare_warning {
 public:
  void say(const logger& log, instant now, std::string_view text) {
    if (!room_.take(now)) {
      ++left_out_;
      log.debug("{}", text);
    } else if (left_out_ == 0) {
      log.warning("{}", text);
    } else {
      log.warning("{} (and {} more like it)", text, left_out_);
      left_out_ = 0;
    }
  }

 private:
  rate_limit room_{1, std::chrono::seconds(10)};
  std::uint64_t left_out_ = 0;
};

}  // namespace binnacle
