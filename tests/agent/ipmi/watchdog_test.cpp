#include "agent/ipmi/watchdog.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace watchdog_test {

using namespace binnacle;
using namespace binnacle::ipmi;
using namespace std::chrono_literals;

namespace {

/// systemd's end of the conversation, named in the environment.
class manager {
 public:
  explicit manager(const char* limit_us) : end_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    const std::string path = folder_ / "notify";
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    REQUIRE(::bind(end_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_USEC", limit_us, 1);
  }
  ~manager() {
    ::unsetenv("NOTIFY_SOCKET");
    ::unsetenv("WATCHDOG_USEC");
  }
  manager(const manager&) = delete;
  manager& operator=(const manager&) = delete;

  /// The next message; empty if there is none.
  std::string next() {
    std::array<char, 64> text{};
    const auto n = ::recv(end_.get(), text.data(), text.size(), 0);
    return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
  }

 private:
  support::temp_folder folder_;
  descriptor end_;
};

TEST_SUITE_BEGIN("agent/ipmi/watchdog");

TEST_CASE("a unit with a watchdog tells systemd four times in its time that it works") {
  manager systemd("8000000");
  watchdog dog;
  const instant start(1h);
  dog.alive(start);
  CHECK(systemd.next() == "WATCHDOG=1");
  dog.alive(start + 1999ms);
  CHECK(systemd.next().empty());
  dog.alive(start + 2s);
  CHECK(systemd.next() == "WATCHDOG=1");
}

TEST_CASE("without a watchdog nothing is sent") {
  manager systemd("0");
  watchdog dog;
  dog.alive(instant(1h));
  CHECK(systemd.next().empty());
}

TEST_SUITE_END();

}  // namespace

}  // namespace watchdog_test
