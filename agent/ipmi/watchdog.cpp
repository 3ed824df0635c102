#include "agent/ipmi/watchdog.hpp"

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace binnacle::ipmi {

watchdog::watchdog() {
  const char* where = std::getenv("NOTIFY_SOCKET");
  const char* limit = std::getenv("WATCHDOG_USEC");
  if (where == nullptr || limit == nullptr) return;
  const std::string_view path(where);
  const auto microseconds = std::strtoll(limit, nullptr, 10);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path || microseconds <= 0) return;
  path.copy(to.sun_path, path.size());
  descriptor s(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!s || ::connect(s.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return;
  socket_ = std::move(s);
  every_ = std::chrono::microseconds(microseconds) / 4;
}

void watchdog::alive(instant now) {
  if (!socket_ || now < next_) return;
  next_ = now + every_;
  // If systemd's queue is full, one of the next three messages is in time.
  constexpr std::string_view message = "WATCHDOG=1";
  ::send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

}  // namespace binnacle::ipmi
