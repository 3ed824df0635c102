#include "cli/screen.hpp"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <ostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace binnacle::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;
void on_signal(int) { interrupted = 1; }

void set_handlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

}  // namespace

screen::screen(std::ostream& out) : out_(out) {
  set_handlers(&on_signal);
  out_ << "\x1b[?1049h\x1b[?25l" << std::flush;
}

screen::~screen() {
  out_ << "\x1b[?25h\x1b[?1049l" << std::flush;
  set_handlers(SIG_DFL);
}

screen::size screen::dimensions() {
  winsize w{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0 || w.ws_row == 0) return {80, 24};
  return {w.ws_col, w.ws_row};
}

void screen::show(std::string_view page) {
  std::string text = "\x1b[H";
  for (const char c : page) {
    if (c == '\n') text += "\x1b[K";  // the rest of the line before
    text += c;
  }
  out_ << text << "\x1b[J" << std::flush;
}

bool screen::wait(std::chrono::milliseconds span) {
  timespec left{static_cast<time_t>(span.count() / 1000), static_cast<long>(span.count() % 1000 * 1'000'000)};
  while (interrupted == 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
  return interrupted == 0;
}

}  // namespace binnacle::cli
