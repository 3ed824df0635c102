#include "common/async/follow_files.hpp"

#include "common/async/timers.hpp"
#include "common/log/said_once.hpp"
#include "common/tls/own_certificate.hpp"

namespace binnacle::async {
namespace {

// The context reports a broken file as an error only once. This function reports it at every look until the
// file is mended.
result<bool> reload(tls::context& context) {
  auto done = context.reload_if_changed();
  if (done.has_value() && !context.trouble().empty()) return error{errc::invalid_input, context.trouble()};
  return done;
}

}  // namespace

task<void> follow_files(std::shared_ptr<tls::context> context, std::string what, logger log,
                        std::chrono::seconds period, std::shared_ptr<reload_troubles> troubles) {
  said_once time, trouble;  // what is wrong with the certificate's time, and with its files
  for (;;) {
    const std::string wrong = tls::out_of_date(context->current().get());
    const bool soon = wrong.empty() && context->ends_soon();
    if (time.is_news(soon ? "it ends soon" : wrong)) {
      if (!wrong.empty()) log.error("{}: {}", what, wrong);
      if (soon) {
        log.warning("{}: less than a tenth of its time is left ({} hours); renew it before it ends", what,
                    context->seconds_left() / 3600);
      }
    }
    co_await sleep_for(period);
    const auto reloaded = reload(*context);
    if (reloaded.has_error()) {
      if (trouble.is_news(reloaded.error().message)) log.error("{}: {}", what, trouble.text());
      if (troubles) (*troubles)[what] = what + ": " + trouble.text();
      continue;
    }
    trouble.clear();
    if (troubles) troubles->erase(what);
    if (*reloaded) {
      log.info("{}: taken over from its changed files; it ends in {} hours", what,
               context->seconds_left() / 3600);
      time.clear();
    }
  }
}

}  // namespace binnacle::async
