#pragma once

namespace binnacle::ipmi {

/// From now on SIGTERM and SIGINT ask the program to end in order, so that it can give the BMC its session
/// back. (The first process of a container ignores both signals unless it handles them.) A signal interrupts
/// blocking calls (EINTR) at once, and again every second. If a call to the BMC goes on for more than five
/// seconds, the program exits with status 0 without giving the session back.
void end_at_signals();

/// Whether such a signal has come.
bool asked_to_end() noexcept;

}  // namespace binnacle::ipmi
