#include "common/async/follow_files.hpp"

#include "common/async/timers.hpp"

namespace binnacle::async {

task<void> follow_files(std::shared_ptr<tls::context> context, std::string what, logger log,
                        std::chrono::seconds period) {
  bool warned = false;
  std::string said;  // each trouble once, while it lasts
  for (;;) {
    if (context->ends_soon() && !warned) {
      const long hours = context->seconds_left() / 3600;
      log.warning("{}: less than a tenth of its time is left ({} hours); renew it before it ends", what,
                  hours);
      warned = true;
    }
    co_await sleep_for(period);
    const auto reloaded = context->reload_if_changed();
    if (reloaded.has_error()) {
      if (reloaded.error().message != said) log.error("{}: {}", what, reloaded.error().message);
      said = reloaded.error().message;
      continue;
    }
    said.clear();
    if (*reloaded) {
      log.info("{}: taken over from changed files, {} hours left", what, context->seconds_left() / 3600);
      warned = false;
    }
  }
}

}  // namespace binnacle::async
