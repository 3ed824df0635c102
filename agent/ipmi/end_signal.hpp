#pragma once

namespace binnacle::ipmi {

/// From now on SIGTERM and SIGINT ask the program to end in order, which gives the BMC its session back. (The
/// first process of a container ignores both signals unless it handles them.) A signal interrupts what waits
/// (EINTR), at once and then every second. If a BMC keeps a call waiting for more than five seconds, the
/// program ends without giving the session back, with status 0.
void end_at_signals();

/// Whether one has come.
bool asked_to_end() noexcept;

}  // namespace binnacle::ipmi
