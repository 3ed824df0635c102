// The agent's side of the helper: bytes, a process, and time for the supervisor, which decides everything.
//
//   supervisor (pure) ←─ what happened, and when ─┬─ supervise(): deadlines, the child's end
//                      ─→ start, ping, end ────────┤  listen(): what the helper says
//                                                  └─ speak(): what we say
//
// IPMI calls block in a driver that may never return. So the helper, a process of its own, makes them, and
// this class must never wait for the helper. Sockets do not block, and the child is reaped without waiting. A
// child that does not die is checked once a second for as long as it takes. There are never two children,
// because the second would hang in the same driver.
//
// - What the helper says comes from another process, and with a sidecar from another container. It is decoded
//   with bounds, and the first thing wrong ends the connection.
// - What we send is bounded, too. If a helper does not read, it is given up when a MiB waits for it.
// - A connection is closed before its child is waited for. The helper then ends its session with the BMC
//   by itself, which BMCs need, because they have few sessions; after a moment it is killed.

#include "agent/sources/bmc/helper_link.hpp"

#include "agent/ipmi/protocol/line_buffer.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace binnacle::agent {
namespace {

namespace asio = boost::asio;
using local_socket = asio::basic_stream_socket<asio::local::stream_protocol, async::executor>;

constexpr std::size_t most_unsent = std::size_t{1} << 20;
// A killed child usually ends at once. One that hangs in the kernel may take hours; after this time it counts
// as stubborn.
constexpr auto stubborn = std::chrono::seconds(2);
constexpr auto reap_every = std::chrono::milliseconds(20);
constexpr auto reap_seldom = std::chrono::milliseconds(1000);

}  // namespace

struct helper_link::connection {
  explicit connection(descriptor c) : channel(std::move(c)) {}
  descriptor channel;  // our end, until the coroutines turn it into a socket
  std::optional<local_socket> socket;
  std::shared_ptr<async::event> due;
  std::string unsent;
  bool closed = false;

  void close() {
    closed = true;
    channel = {};
    boost::system::error_code ignored;
    if (socket) socket->close(ignored);
    if (due) due->notify();
  }
};

struct helper_link::coroutines {
  using self = std::shared_ptr<helper_link>;

  /// Carries out what the supervisor decides, at the times that it names.
  static async::task<void> supervise(self link) {
    const auto on = co_await asio::this_coro::executor;
    link->wake_ = std::make_shared<async::event>(on);
    for (;;) {
      link->reap();
      link->act();
      const auto now = boot_clock::now();
      if (now >= link->tell_at_) {
        link->tell_at_ = instant::max();
        if (link->arrived_) link->arrived_();
      }
      const auto next = std::min(link->minder_.deadline(), link->tell_at_);
      auto until = next == instant::max() ? async::never : async::within(std::max(next - now, duration{}));
      if (link->child_ && !link->present_) {
        const bool dies = now < link->kill_at_ + stubborn;
        until = std::min(until, async::within(dies ? reap_every : reap_seldom));
      }
      co_await link->wake_->wait(until);
    }
  }

  static async::task<void> listen(self link, std::shared_ptr<connection> c) {
    const auto on = co_await asio::this_coro::executor;
    c->due = std::make_shared<async::event>(on);
    c->socket.emplace(on, asio::local::stream_protocol(), c->channel.release());
    link->tasks_->spawn("speaking to binnacle-ipmi", speak(c));
    ipmi::line_buffer lines;
    std::array<char, 16384> piece;
    while (!c->closed) {
      const auto buffer = asio::buffer(piece);
      const auto [failed, n] = co_await c->socket->async_read_some(buffer, async::use_task);
      if (c->closed) co_return;
      if (failed) {
        link->close();
        co_return;
      }
      const auto heard = link->hear(lines, {piece.data(), n});
      if (!heard) {
        link->minder_.broke(heard.error());
        link->wake();
        co_return;
      }
    }
  }

  /// Waits without a deadline: a helper that does not read does not answer pings either, and is then given
  /// up.
  static async::task<void> speak(std::shared_ptr<connection> c) {
    while (!c->closed) {
      if (c->unsent.empty()) {
        const bool more = co_await c->due->wait();
        if (!more) co_return;
        continue;
      }
      // More may be queued while this is written, so take the text out of `unsent` first.
      const auto saying = std::exchange(c->unsent, {});
      for (std::size_t said = 0; said < saying.size();) {
        const auto buffer = asio::buffer(saying) + said;
        const auto [failed, n] = co_await c->socket->async_write_some(buffer, async::use_task);
        if (failed) co_return;  // the listening coroutine notices it, too
        said += n;
      }
    }
  }
};

helper_link::helper_link(link_options o, logger log)
    : options_(std::move(o)), log_(std::move(log)), minder_(options_.supervision, std::random_device{}()) {}

helper_link::~helper_link() {
  if (present_) present_->close();  // close it before waiting for the child's end
}

void helper_link::start(async::task_group& tasks, std::function<void()> arrived,
                        std::function<void()> inventory) {
  tasks_ = &tasks;
  inventory_ = std::move(inventory);
  arrived_ = std::move(arrived);
  tasks.keep("supervising binnacle-ipmi",
             [self = shared_from_this()] { return coroutines::supervise(self); });
}

void helper_link::forget() {
  arrived_ = nullptr;
  inventory_ = nullptr;
}

void helper_link::allow() {
  minder_.allow(boot_clock::now());
  wake();
}

void helper_link::credentials_changed() {
  minder_.credentials_changed(boot_clock::now());
  wake();
}

void helper_link::set_interest(std::map<std::string, std::uint32_t> period_ms) {
  if (interest_.period_ms == period_ms) return;
  interest_.period_ms = std::move(period_ms);
  if (minder_.talking()) say(interest_);
}

void helper_link::wake() {
  if (wake_) wake_->notify();
}

void helper_link::act() {
  for (;;) {
    switch (minder_.next(boot_clock::now())) {
      case supervisor::action::none: return;
      case supervisor::action::start: open(); break;
      case supervisor::action::ping: say(ipmi::ping{minder_.ping()}); break;
      case supervisor::action::end:
        close();
        tell_by({});
        break;
    }
  }
}

void helper_link::open() {
  const auto now = boot_clock::now();
  if (!options_.socket.empty()) {
    auto channel = dial_helper(options_.socket);
    if (!channel) return minder_.not_started(channel.error(), now);
    adopt(std::move(*channel));
  } else {
    auto child = helper_process::start(options_.command);
    if (!child) return minder_.not_started(child.error(), now);
    adopt(std::move(child->channel));
    child_.emplace(std::move(*child));
  }
  minder_.started(now);
}

void helper_link::adopt(descriptor channel) {
  present_ = std::make_shared<connection>(std::move(channel));
  tasks_->spawn("listening to binnacle-ipmi", coroutines::listen(shared_from_this(), present_));
}

/// Ends the connection or the child, or takes note that it has ended. A child gets a moment to end its
/// session with the BMC and to say how it ended. reap() tells when it is gone.
void helper_link::close() {
  if (present_) present_->close();
  present_.reset();
  view_.lost();
  const auto now = boot_clock::now();
  if (child_) {
    kill_at_ = now + helper_process::last_words;
  } else {
    minder_.gone("", now);
  }
  wake();
}

void helper_link::reap() {
  if (!child_ || present_) return;
  const auto now = boot_clock::now();
  const auto how = child_->reap();
  if (!how) {
    if (now >= kill_at_) child_->kill();
    return;
  }
  child_.reset();
  minder_.gone(*how, now);
  // A debug line is enough here. The source's status says why, and the sampler logs it when it changes.
  log_.debug("the helper ended with {}", *how);
  tell_by({});
}

void helper_link::tell_by(instant when) {
  if (when >= tell_at_) return;
  tell_at_ = when;
  wake();
}

void helper_link::say(const ipmi::from_agent& message) {
  if (!present_) return;
  present_->unsent += ipmi::encode(message);
  if (present_->unsent.size() > most_unsent) {
    minder_.broke({errc::overloaded, "it does not read its messages"});
    wake();
  }
  if (present_->due) present_->due->notify();
}

result<void> helper_link::hear(ipmi::line_buffer& lines, std::string_view bytes) {
  lines.append(bytes);
  for (;;) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line) break;
    const auto message = ipmi::decode_from_helper(**line);
    if (!message) return message.error();
    if (auto taken = hear_one(*message); !taken) return taken;
  }
  return {};
}

result<void> helper_link::hear_one(const ipmi::from_helper& message) {
  const auto now = boot_clock::now();
  if (const auto* hello = std::get_if<ipmi::hello>(&message)) {
    // Each hello costs a line of the log and an answer, so a connection has only one.
    if (minder_.talking()) return error{errc::protocol, "it says hello a second time"};
    if (hello->protocol != ipmi::protocol_version) {
      return error{
          errc::protocol,
          fmt::format("binnacle-ipmi {} speaks version {} of the protocol, this agent {}: install both "
                      "of one release",
                      hello->version, hello->protocol, ipmi::protocol_version)};
    }
    log_.info("binnacle-ipmi {} is there", hello->version);
    minder_.hello(std::chrono::milliseconds(hello->quiet_ms), now);
    say(options_.select);
    if (!interest_.period_ms.empty()) say(interest_);
    wake();
    return {};
  }
  if (!minder_.talking()) {
    if (const auto* status = std::get_if<ipmi::status>(&message); status != nullptr && !status->ok) {
      minder_.serves_another(status->message);
      wake();
      return {};
    }
    return error{
        errc::protocol,
        "what answers at the helper's socket does not begin as binnacle-ipmi does: check ipmi-socket"};
  }
  if (auto taken = view_.take(message); !taken) return taken;
  if (const auto* status = std::get_if<ipmi::status>(&message)) {
    minder_.status(status->ok, status->permanent, status->message, now);
    tell_by(now);
  } else if (const auto* pong = std::get_if<ipmi::pong>(&message)) {
    minder_.pong(pong->number);
  } else if (std::holds_alternative<ipmi::inventory_end>(message)) {
    minder_.status(true, false, {}, now);
    if (inventory_) inventory_();
    tell_by(now);
  } else if (std::holds_alternative<ipmi::plan>(message)) {
    std::optional<duration> shortest;
    for (const auto& [key, ms] : view_.plan()) {
      const duration period = std::chrono::milliseconds(ms);
      if (!shortest || period < *shortest) shortest = period;
    }
    minder_.planned(shortest, now);
  } else if (const auto* reading = std::get_if<ipmi::reading>(&message)) {
    minder_.reading(now);
    if (interest_.period_ms.contains(reading->key)) tell_by(now + gathering);
  }
  return {};
}

}  // namespace binnacle::agent
