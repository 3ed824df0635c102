#pragma once

#include "agent/ipmi/protocol/line_buffer.hpp"
#include "agent/ipmi/protocol/protocol.hpp"
#include "common/clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// Runs binnacle-ipmi as a child, with the agent's end of the conversation.
namespace binnacle::support {

/// Far longer than anything here takes, so that a busy machine does not make a test fail.
inline constexpr auto patience = std::chrono::seconds(60);

/// One end of the conversation. Keeps everything that the other end said.
class helper_talk {
 public:
  void say(const ipmi::from_agent& m) {
    const auto line = ipmi::encode(m);
    REQUIRE(::write(out_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }
  /// Takes messages until `found` accepts one. False after `limit`, or when the conversation ends.
  template <class Found>
  bool until(Found found, std::chrono::milliseconds limit = patience) {
    const auto end = boot_clock::now() + limit;
    for (;;) {
      for (; looked_ < said.size(); ++looked_) {
        if (found(said[looked_])) return ++looked_, true;
      }
      const auto left = (end - boot_clock::now()) / std::chrono::milliseconds(1);
      if (left <= 0 || ended || !take(static_cast<int>(left))) return false;
    }
  }
  /// Takes all messages that come within this time.
  void listen(std::chrono::milliseconds span) {
    until([](const auto&) { return false; }, span);
  }
  bool until_status(bool ok) {
    return until([ok](const auto& m) {
      const auto* s = std::get_if<ipmi::status>(&m);
      return s != nullptr && s->ok == ok;
    });
  }
  /// The next reading of the sensor with this key.
  std::optional<ipmi::reading> next_reading(const std::string& key) {
    return next(key, [](const ipmi::reading&) { return true; });
  }
  /// The next reading with a value. Under load the simulated BMC misses a deadline now and then.
  std::optional<ipmi::reading> next_value(const std::string& key) {
    return next(key, [](const ipmi::reading& r) { return r.reason == absence::none; });
  }
  /// The next reading of the sensor with this key that `fits` accepts.
  std::optional<ipmi::reading> next(const std::string& key,
                                    const std::function<bool(const ipmi::reading&)>& fits) {
    const ipmi::reading* r = nullptr;
    const bool came = until([&](const auto& m) {
      r = std::get_if<ipmi::reading>(&m);
      return r != nullptr && r->key == key && fits(*r);
    });
    return came ? std::optional(*r) : std::nullopt;
  }
  /// The last message of this kind.
  template <class Message>
  const Message* last() const {
    for (auto it = said.rbegin(); it != said.rend(); ++it) {
      if (const auto* m = std::get_if<Message>(&*it)) return m;
    }
    return nullptr;
  }
  /// A sensor of the newest inventory.
  const ipmi::sensor* sensor(const std::string& key) const {
    for (auto it = said.rbegin(); it != said.rend() && !std::holds_alternative<ipmi::bmc>(*it); ++it) {
      const auto* s = std::get_if<ipmi::sensor>(&*it);
      if (s != nullptr && s->key == key) return s;
    }
    return nullptr;
  }
  template <class Message>
  std::size_t count() const {
    return static_cast<std::size_t>(std::count_if(
        said.begin(), said.end(), [](const auto& m) { return std::holds_alternative<Message>(m); }));
  }

  std::vector<ipmi::from_helper> said;
  bool ended = false;

 protected:
  bool take(int ms) {
    pollfd one{in_, POLLIN, 0};
    if (::poll(&one, 1, ms) <= 0) return true;
    std::array<char, 4096> piece;
    const auto n = ::read(in_, piece.data(), piece.size());
    if (n <= 0) {
      ended = true;
      return false;
    }
    lines_.append({piece.data(), static_cast<std::size_t>(n)});
    for (;;) {
      const auto line = lines_.next();
      REQUIRE(line.has_value());
      if (!*line) return true;
      CAPTURE(**line);
      auto message = ipmi::decode_from_helper(**line);
      REQUIRE(message.has_value());
      said.push_back(*std::move(message));
    }
  }

  int in_ = -1, out_ = -1;

 private:
  ipmi::line_buffer lines_;
  std::size_t looked_ = 0;
};

class helper_process : public helper_talk {
 public:
  explicit helper_process(std::vector<std::string> flags, const std::vector<std::string>& environment = {}) {
    std::array<int, 2> to{}, from{}, log{};
    REQUIRE(::pipe2(to.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(from.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(log.data(), O_CLOEXEC) == 0);
    pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      ::dup2(log[1], 2);
      std::vector<char*> argv{const_cast<char*>(BINNACLE_IPMI)};
      for (auto& f : flags) argv.push_back(f.data());
      argv.push_back(nullptr);
      for (const auto& v : environment) ::putenv(const_cast<char*>(v.c_str()));
      ::execv(BINNACLE_IPMI, argv.data());
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    ::close(log[1]);
    out_ = to[1];
    in_ = from[0];
    log_ = log[0];
  }
  ~helper_process() {
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    hang_up();
    ::close(in_);
    ::close(log_);
  }
  helper_process(const helper_process&) = delete;
  helper_process& operator=(const helper_process&) = delete;

  /// Closes the helper's standard input, as an agent does when it ends.
  void hang_up() {
    if (out_ >= 0) ::close(out_);
    out_ = -1;
  }
  /// Waits until the helper ends, and gives its exit status. −1 if a signal ended it or it did not end in
  /// time.
  int status() {
    const auto limit = boot_clock::now() + patience;
    int status = 0;
    while (boot_clock::now() < limit) {
      if (::waitpid(pid, &status, WNOHANG) == pid) {
        pid = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      }
      listen(std::chrono::milliseconds(5));
      if (ended) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return -1;
  }
  /// What the helper has written to stderr so far.
  const std::string& log() {
    ::fcntl(log_, F_SETFL, O_NONBLOCK);
    std::array<char, 4096> piece;
    for (ssize_t n = 0; (n = ::read(log_, piece.data(), piece.size())) > 0;) {
      log_text_.append(piece.data(), static_cast<std::size_t>(n));
    }
    return log_text_;
  }

  pid_t pid = -1;

 private:
  int log_ = -1;
  std::string log_text_;
};

}  // namespace binnacle::support
