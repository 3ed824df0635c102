#include "common/grpc/client.hpp"

#include "common/async/idle_connections.hpp"
#include "common/async/stream.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace binnacle::grpc {

using async::deadline;
using async::task;

namespace {

constexpr std::size_t most_idle = 2;
constexpr std::size_t piece_size = std::size_t{16} << 10;

/// An HTTP/2 connection and the stream that carries its bytes.
struct line {
  line(async::stream s, std::shared_ptr<SSL_CTX> made_with, connection::settings its)
      : peer(std::move(s)), security(std::move(made_with)), machine(std::move(its)) {}

  task<result<void>> send(deadline until);
  task<result<answer>> ask(const call& what, deadline until);

  async::stream peer;
  std::shared_ptr<SSL_CTX> security;  // null: plain
  connection machine;
};

task<result<void>> line::send(deadline until) {
  if (machine.outbox().empty()) co_return result<void>();
  const std::string text = std::exchange(machine.outbox(), {});
  co_return co_await peer.write(text, until);
}

task<result<answer>> line::ask(const call& what, deadline until) {
  std::array<char, piece_size> buffer;
  machine.begin(what);
  while (!machine.done()) {
    auto sent = co_await send(until);
    // If the server has closed the connection, it may have sent the reason before: read that first.
    if (sent.has_error() && sent.error().code != errc::disconnected) co_return sent.error();
    auto got = co_await peer.read_some(buffer, until);
    const bool ended = got.has_error() ? got.error().code == errc::disconnected : *got == 0;
    if (got.has_error() && !ended) co_return got.error();
    if (ended) {
      machine.end();
    } else {
      machine.feed(std::string_view(buffer.data(), *got));
    }
  }
  co_return machine.take();
}

}  // namespace

struct client::impl {
  using line_ptr = std::unique_ptr<line>;

  task<result<line_ptr>> connect(std::shared_ptr<SSL_CTX> security, deadline until);
  task<void> keep(line_ptr one);

  endpoint to;
  std::function<std::shared_ptr<SSL_CTX>()> tls;
  std::string user_agent;
  async::idle_connections<line> idle{most_idle};
};

task<result<client::impl::line_ptr>> client::impl::connect(std::shared_ptr<SSL_CTX> security,
                                                           deadline until) {
  auto made = co_await async::connect(to.host, to.port, security, {}, until);
  if (made.has_error()) co_return made.error();
  if (security && made->alpn() != "h2")
    co_return error{errc::protocol,
                    fmt::format("{} agrees on no HTTP/2 (ALPN h2), which gRPC needs", to_string(to))};
  connection::settings its;
  its.secure = security != nullptr;
  its.authority = to_string(to);
  its.user_agent = user_agent;
  co_return std::make_unique<line>(std::move(*made), std::move(security), std::move(its));
}

/// Sends what the machine still has to say (an acknowledgement) before the connection is kept. The answer is
/// complete by now and must not wait for that: a connection that does not take these bytes at once is not
/// kept.
task<void> client::impl::keep(line_ptr one) {
  if (!one->machine.usable() || idle.full()) co_return;
  auto sent = co_await one->send(std::chrono::steady_clock::now());
  if (sent.has_error()) co_return;
  idle.keep(std::move(one), std::chrono::steady_clock::now());
}

client::client(endpoint to, std::function<std::shared_ptr<SSL_CTX>()> tls, std::string user_agent)
    : impl_(std::make_shared<impl>()) {
  impl_->to = std::move(to);
  impl_->tls = std::move(tls);
  impl_->user_agent = std::move(user_agent);
}
client::~client() = default;

task<result<answer>> client::ask(call what, deadline until) {
  const std::shared_ptr<impl> self = impl_;
  for (;;) {
    std::shared_ptr<SSL_CTX> security = self->tls ? self->tls() : nullptr;
    impl::line_ptr one = self->idle.take(security, std::chrono::steady_clock::now());
    const bool kept = one != nullptr;
    if (!kept) {
      auto made = co_await self->connect(std::move(security), until);
      if (made.has_error()) co_return made.error();
      one = std::move(*made);
    }
    const auto left = until - std::chrono::steady_clock::now();
    what.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(left);
    auto got = co_await one->ask(what, until);
    if (kept && one->machine.unseen()) continue;
    if (got.has_value()) co_await self->keep(std::move(one));
    co_return got;
  }
}

}  // namespace binnacle::grpc
