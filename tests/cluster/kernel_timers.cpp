// Preloaded before libfaketime: timerfd_settime() goes to the kernel. libfaketime 0.9.10 shifts absolute
// times of timers by what it adds to the wall clock, though CLOCK_MONOTONIC itself stays
// (DONT_FAKE_MONOTONIC). Asio arms its timer with 1 ns after the machine's start when it is due at once. An
// hour back, that came an hour after the start: on a machine that had run for less, no timer of the program
// fired any more. Source: timerfd_create(2).
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

extern "C" int timerfd_settime(int fd, int flags, const itimerspec* when, itimerspec* before) noexcept {
  return static_cast<int>(syscall(SYS_timerfd_settime, fd, flags, when, before));
}
