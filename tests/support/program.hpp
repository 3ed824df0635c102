#pragma once

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace binnacle::support {

/// A program that was started and whose output (both streams) is collected. It is killed when this object is
/// destroyed.
class program {
 public:
  /// `as_user`, unless it is 0, is the user as which the program runs, without any capability.
  program(const std::string& path, std::vector<std::string> flags, bool close_stdin = false,
          uid_t as_user = 0) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(ends[1], 1);
      ::dup2(ends[1], 2);
      if (close_stdin) ::close(0);
      if (as_user != 0 && ::setuid(as_user) != 0) ::_exit(126);
      std::vector<char*> argv{const_cast<char*>(path.c_str())};
      for (auto& f : flags) argv.push_back(f.data());
      argv.push_back(nullptr);
      ::execv(path.c_str(), argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
    ::fcntl(output_, F_SETFL, O_NONBLOCK);
  }
  ~program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(output_);
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Reads on until the output holds `text`; false if the program ended or `patience` passed before.
  bool until(const std::string& text, std::chrono::seconds patience = std::chrono::seconds(10)) {
    const auto limit = std::chrono::steady_clock::now() + patience;
    while (said.find(text) == said.npos && std::chrono::steady_clock::now() < limit) {
      std::array<char, 4096> piece;
      const auto n = ::read(output_, piece.data(), piece.size());
      if (n > 0) said.append(piece.data(), static_cast<std::size_t>(n));
      if (n == 0) break;
      if (n < 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return said.find(text) != said.npos;
  }
  /// Waits for the program's end and returns the exit status, −1 if a signal ended it.
  int status(std::chrono::seconds patience = std::chrono::seconds(10)) {
    until(std::string(1, '\0'), patience);  // reads to the end of the output
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void signal(int number) { ::kill(pid_, number); }
  pid_t pid() const noexcept { return pid_; }

  /// The value of a line in /proc/PID/status ("CapEff").
  std::string of_status(const std::string& key) const {
    std::ifstream text("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with(key + ":")) return line.substr(line.find_first_not_of(" \t", key.size() + 1));
    }
    return {};
  }

  std::string said;

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

/// The port of an agent's scrape endpoint, from its log.
inline std::uint16_t port_in(const std::string& log) {
  constexpr std::string_view host = "://127.0.0.1:";
  const auto at = log.find(host);
  REQUIRE(at != log.npos);
  return static_cast<std::uint16_t>(std::stoi(log.substr(at + host.size())));
}

}  // namespace binnacle::support
