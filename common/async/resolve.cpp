#include "common/async/resolve.hpp"

#include "common/async/timeout.hpp"
#include "common/system/os_error.hpp"
#include "common/system/quiet_thread.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace binnacle::async {

namespace asio = boost::asio;
using endpoints = std::vector<tcp::endpoint>;
using descriptor = asio::posix::basic_stream_descriptor<executor>;

namespace {

// getaddrinfo(3) cannot be cancelled. Asio's resolver waits for it at the end of the program, and all other
// look-ups queue behind it. So a look-up runs on a thread that nobody waits for and that reports through an
// eventfd. After an abandoned look-up the thread goes on until getaddrinfo gives up.
struct look_up {
  look_up(std::string h, std::uint16_t p)
      : host(std::move(h)), port(p), told(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~look_up() {
    if (told >= 0) ::close(told);
  }
  look_up(const look_up&) = delete;
  look_up& operator=(const look_up&) = delete;

  const std::string host;
  const std::uint16_t port;
  const int told;
  // These belong to the thread until `done` is set, and to the coroutine after that.
  std::string why;
  endpoints found;
  std::atomic<bool> done{false};
};

void fill(look_up& it) {
  addrinfo wanted{};
  wanted.ai_flags = AI_ADDRCONFIG;
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int failed = ::getaddrinfo(it.host.c_str(), nullptr, &wanted, &list); failed != 0) {
    it.why = failed == EAI_SYSTEM ? describe(errno) : gai_strerror(failed);
    return;
  }
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    tcp::endpoint one;
    if (at->ai_addrlen > one.capacity()) continue;
    one.resize(at->ai_addrlen);
    std::memcpy(one.data(), at->ai_addr, at->ai_addrlen);
    one.port(it.port);
    it.found.push_back(one);
  }
  ::freeaddrinfo(list);
}

/// The threads, and the look-ups that wait for one. A look-up that is abandoned while it waits leaves the
/// queue.
struct desk {
  static constexpr int most_threads = 8;
  std::mutex mutex;
  int threads = 0;
  std::deque<std::weak_ptr<look_up>> queue;

  // Never destroyed: threads may outlive main().
  static desk& of_this_process() {
    static desk& it = *new desk;
    return it;
  }

  void push(const std::shared_ptr<look_up>& it) {
    const std::lock_guard lock(mutex);
    std::erase_if(queue, [](const auto& waiting) { return waiting.expired(); });
    queue.push_back(it);
    if (threads < most_threads && start_thread()) ++threads;
  }

  bool start_thread() {
    try {
      quiet_thread([this] { work(); }).detach();
      return true;
    } catch (const std::system_error&) {
      return false;  // the look-up waits until a running thread is free, or until its deadline
    }
  }

  std::shared_ptr<look_up> next() {
    const std::lock_guard lock(mutex);
    while (!queue.empty()) {
      auto it = queue.front().lock();
      queue.pop_front();
      if (it) return it;
    }
    --threads;
    return nullptr;
  }

  void work() {
    while (const auto it = next()) {
      fill(*it);
      it->done.store(true, std::memory_order_release);
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(it->told, &one, sizeof one);
    }
  }
};

task<result<void>> answered(descriptor& told) {
  auto [ec] = co_await told.async_wait(descriptor::wait_read, use_task);
  if (ec) co_return error{errc::io, ec.message()};
  co_return result<void>();
}

}  // namespace

task<result<endpoints>> resolve(std::string host, std::uint16_t port, deadline until) {
  boost::system::error_code ec;
  const auto numeric = asio::ip::make_address(host, ec);
  if (!ec) co_return endpoints(1, tcp::endpoint(numeric, port));
  if (host == "localhost") {
    // IPv4 comes first: a program that listens on only one family usually listens on IPv4.
    const tcp::endpoint v4(asio::ip::address_v4::loopback(), port);
    const tcp::endpoint v6(asio::ip::address_v6::loopback(), port);
    endpoints ours{v4, v6};
    co_return ours;
  }

  const auto it = std::make_shared<look_up>(std::move(host), port);
  const int handle = ::fcntl(it->told, F_DUPFD_CLOEXEC, 0);
  if (handle < 0)
    co_return error{errc::io, fmt::format("the name {} is not looked up: no file descriptor", it->host)};
  const auto ex = co_await asio::this_coro::executor;
  descriptor told(ex, handle);
  desk::of_this_process().push(it);
  auto waited = co_await with_timeout(answered(told), until, "the look-up of " + it->host);
  if (waited.has_error()) co_return waited.error();
  if (!it->done.load(std::memory_order_acquire))
    co_return error{errc::io, fmt::format("the look-up of {} was broken off", it->host)};
  if (!it->why.empty())
    co_return error{errc::not_found, fmt::format("the name {} cannot be resolved: {}", it->host, it->why)};
  if (it->found.empty())
    co_return error{errc::not_found, fmt::format("the name {} has no address", it->host)};
  co_return std::move(it->found);
}

}  // namespace binnacle::async
