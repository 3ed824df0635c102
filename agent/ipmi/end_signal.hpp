#pragma once

namespace binnacle::ipmi {

/// From now on SIGTERM and SIGINT ask the program to end in order, so that the BMC gets its session back; and
/// as the first process of a container it would not take them otherwise. What waits is interrupted (EINTR)
/// then and every second after. If it has not ended after five, because a BMC keeps a call waiting, it ends
/// all the same, with status 0 and its session open.
void end_at_signals();

/// Whether one has come.
bool asked_to_end() noexcept;

}  // namespace binnacle::ipmi
