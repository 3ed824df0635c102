#pragma once

#include "common/clock.hpp"
#include "common/system/descriptor.hpp"

namespace binnacle::ipmi {

/// Tells systemd that this program still works, where it runs as a unit with WatchdogSec=. A call of FreeIPMI
/// that never returns then ends the program, and systemd starts it again. Elsewhere it does nothing: the
/// agent ends a child that hangs. Source: sd_notify(3), sd_watchdog_enabled(3).
class watchdog {
 public:
  /// Reads NOTIFY_SOCKET and WATCHDOG_USEC of the environment.
  watchdog();
  /// To be called often. It sends a message four times in the time that the unit allows. Does not wait.
  void alive(instant now);

 private:
  descriptor socket_;
  duration every_{};
  instant next_{};
};

}  // namespace binnacle::ipmi
