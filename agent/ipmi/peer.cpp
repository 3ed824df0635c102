#include "agent/ipmi/peer.hpp"

#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace binnacle::ipmi {
namespace {

// Milliseconds until `until` for poll(2). Rounded up: a wait that ends a moment too early would make the loop
// spin.
int poll_ms(instant until) {
  const auto left = until - boot_clock::now();
  if (left <= duration::zero()) return 0;
  const auto ms = left / std::chrono::milliseconds(1) + 1;
  return static_cast<int>(std::min<std::int64_t>(ms, 60'000));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  return at;
}

// Removes the socket file if no program listens at it. Errors: invalid_input.
result<void> remove_stale(const std::string& path) {
  struct ::stat about {};
  if (::lstat(path.c_str(), &about) != 0) return {};
  if (!S_ISSOCK(about.st_mode)) {
    return error{errc::invalid_input,
                 "socket " + path + " is there and is not a socket: remove it or name another path"};
  }
  // Non-blocking: a helper that listens, but whose queue of connections is full, makes connect() fail with
  // EAGAIN.
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return error{errc::io, "socket " + path + " cannot be made: " + describe(errno)};
  const auto at = address_of(path);
  const bool refused =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 && errno == ECONNREFUSED;
  ::close(fd);
  if (!refused)
    return error{errc::invalid_input,
                 "socket " + path +
                     ": another binnacle-ipmi seems to serve it: end that one first, or remove the socket"};
  ::unlink(path.c_str());
  return {};
}

}  // namespace

std::unique_ptr<peer> peer::over(int in, int out, duration patience) {
  std::unique_ptr<peer> p(new peer);
  p->patience_ = patience;
  p->in_ = in;
  p->out_ = out;
  p->arrived_ = true;
  ::fcntl(in, F_SETFL, ::fcntl(in, F_GETFL) | O_NONBLOCK);
  ::fcntl(out, F_SETFL, ::fcntl(out, F_GETFL) | O_NONBLOCK);
  return p;
}

result<std::unique_ptr<peer>> peer::listen(const std::string& path, unsigned mode) {
  if (auto removed = remove_stale(path); !removed) return removed.error();
  std::unique_ptr<peer> p(new peer);
  p->listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto at = address_of(path);
  // Create the socket closed to others; it is opened to the group afterwards.
  const auto before = ::umask(0177);
  const bool bound = ::bind(p->listener_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  const int why = errno;
  ::umask(before);
  if (!bound || ::chmod(path.c_str(), mode) != 0 || ::listen(p->listener_, 4) != 0) {
    return error{why == EACCES ? errc::permission : errc::io,
                 fmt::format("socket {} cannot be made: {}: its folder must be there and writable", path,
                             describe(bound ? errno : why))};
  }
  p->path_ = path;
  return p;
}

peer::~peer() {
  hang_up({});
  if (listener_ >= 0) ::close(listener_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

void peer::wait(instant until) {
  if (!unsent_.empty() && until > unsent_since_ + gathering) flush();
  std::array<pollfd, 2> on{{{in_, POLLIN, 0}, {listener_, POLLIN, 0}}};  // poll(2) skips a negative one
  if (::poll(on.data(), on.size(), poll_ms(until)) <= 0) return;
  if (on[0].revents != 0) read_some();
  if (on[1].revents != 0) accept_one();
}

void peer::accept_one() {
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  if (in_ >= 0) {
    const auto refusal = encode(from_helper(status{
        false,
        "another agent is connected to this binnacle-ipmi, which serves one at a time: end that agent first",
        false}));
    (void)!::send(fd, refusal.data(), refusal.size(), MSG_NOSIGNAL);
    ::close(fd);
    return;
  }
  in_ = out_ = fd;
  lines_ = {};
  why_.clear();
  arrived_ = true;
}

void peer::read_some() {
  std::array<char, 16'384> piece;
  const auto n = ::read(in_, piece.data(), piece.size());
  if (n > 0) {
    lines_.append({piece.data(), static_cast<std::size_t>(n)});
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    hang_up(n == 0 ? std::string() : describe(errno));
  }
}

std::optional<from_agent> peer::next() {
  if (in_ < 0) return std::nullopt;
  const auto line = lines_.next();
  if (line && !*line) return std::nullopt;
  auto message = line ? decode_from_agent(**line) : result<from_agent>(line.error());
  if (message) return *std::move(message);
  hang_up(message.error().message);
  return std::nullopt;
}

void peer::send(const from_helper& message) {
  send_soon(message);
  flush();
}

void peer::send_soon(const from_helper& message) {
  if (out_ < 0) return;
  if (unsent_.empty()) unsent_since_ = boot_clock::now();
  unsent_ += encode(message);
}

void peer::flush() {
  if (unsent_.empty()) return;
  const auto going = std::exchange(unsent_, {});
  const auto limit = boot_clock::now() + patience_;
  for (std::string_view left = going; !left.empty();) {
    const auto n = ::write(out_, left.data(), left.size());
    if (n > 0) {
      left.remove_prefix(static_cast<std::size_t>(n));
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
      return hang_up(describe(errno));
    } else {
      pollfd one{out_, POLLOUT, 0};
      ::poll(&one, 1, poll_ms(limit));
      if (boot_clock::now() >= limit) return hang_up("it takes nothing any more");
    }
  }
}

void peer::hang_up(std::string why) {
  if (in_ >= 0) ::close(in_);
  if (out_ >= 0 && out_ != in_) ::close(out_);
  in_ = out_ = -1;
  unsent_.clear();
  why_ = std::move(why);
}

}  // namespace binnacle::ipmi
