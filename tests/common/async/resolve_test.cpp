#include "common/async/resolve.hpp"

#include "tests/support/net/run.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <dlfcn.h>
#include <mutex>
#include <netdb.h>
#include <string_view>

namespace resolve_test {

namespace {

/// Holds look-ups of "….hangs.test", as a name server that does not answer would.
class gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --waiting_;
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  /// Lets the look-ups go on, and returns when none waits any more.
  void open() {
    std::unique_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return waiting_ == 0; });
  }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
};

gate& name_server() {
  static gate& it = *new gate;  // never destroyed: threads may still wait at the program's end
  return it;
}

}  // namespace

// Replaces libc's getaddrinfo in this program.
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** out) {
  if (host != nullptr && std::string_view(host).ends_with(".hangs.test")) {
    name_server().pass();
    return EAI_AGAIN;
  }
  if (host != nullptr && std::string_view(host) == "localhost") return EAI_AGAIN;
  if (host != nullptr && std::string_view(host) == "known.test") host = "127.0.0.3";
  using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(host, service, hints, out);
}

namespace {

using namespace binnacle;
using namespace std::chrono_literals;
using async::task;
using async::within;

TEST_SUITE("common/async/resolve") {
  TEST_CASE("a name, localhost and an address in digits are resolved") {
    support::run([](async::loop&) -> task<void> {
      auto found = co_await async::resolve("known.test", 80, within(15s));
      REQUIRE(found.has_value());
      CHECK(found->front() == async::tcp::endpoint(boost::asio::ip::make_address("127.0.0.3"), 80));
      found = co_await async::resolve("localhost", 9103, within(15s));
      REQUIRE(found.has_value());
      REQUIRE(found->size() == 2);
      CHECK(found->front() == async::tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 9103));
      CHECK(found->back() == async::tcp::endpoint(boost::asio::ip::make_address("::1"), 9103));
      found = co_await async::resolve("192.0.2.7", 443, within(15s));
      REQUIRE(found.has_value());
      REQUIRE(found->size() == 1);
      CHECK(found->front() == async::tcp::endpoint(boost::asio::ip::make_address("192.0.2.7"), 443));
    });
  }

  // The gate opens only after the loop has ended. If something waited for the hanging look-up, the test would
  // never get that far.
  TEST_CASE("a look-up that hangs is abandoned at its deadline, and holds up neither others nor the end") {
    name_server().close();
    support::run([](async::loop&) -> task<void> {
      while (name_server().waiting() == 0) {  // the look-up's thread may start only after the deadline
        auto found = co_await async::resolve("one.hangs.test", 80, within(20ms));
        REQUIRE(found.has_error());
        CHECK(found.error().code == errc::timeout);
        CHECK(found.error().message == "the look-up of one.hangs.test took too long");
      }
      auto found = co_await async::resolve("localhost", 80, within(15s));
      CHECK(found.has_value());
    });
    CHECK(name_server().waiting() >= 1);
    name_server().open();
  }

  TEST_CASE("when all look-ups hang, the next wait in a queue, and are asked when the others give up") {
    name_server().close();
    support::run([](async::loop&) -> task<void> {
      while (name_server().waiting() < 8) {
        auto found = co_await async::resolve("one.hangs.test", 80, within(20ms));
        REQUIRE(found.has_error());
      }
      auto found = co_await async::resolve("known.test", 80, within(20ms));
      REQUIRE(found.has_error());
      CHECK(found.error().code == errc::timeout);
      name_server().open();
      found = co_await async::resolve("known.test", 80, within(15s));
      CHECK(found.has_value());
    });
  }
}

}  // namespace

}  // namespace resolve_test
