#include "aggregator/kube/client.hpp"

#include "aggregator/kube/token.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace binnacle::kube {

using async::deadline;
using async::task;

namespace {

std::string user_agent() { return "binnacle-aggregator/" BINNACLE_VERSION " (linux)"; }

}  // namespace

struct client::impl {
  impl(access a, logger l, std::shared_ptr<tls::context> c)
      : to(std::move(a)),
        log(std::move(l)),
        security(std::move(c)),
        wire(
            {to.host, to.port, to.server_name}, [this] { return current(); }, user_agent()) {}

  std::shared_ptr<SSL_CTX> current();
  void refresh_token();
  http::call dressed(http::call what);
  void count(const result<unsigned>& status);

  const access to;
  const logger log;
  const std::shared_ptr<tls::context> security;  // null: plain HTTP
  http::client wire;
  token_cache token;
  bool token_failing = false;
  counters numbers;
};

// A few stat(2) per new connection: certificates and authorities are rotated in place.
std::shared_ptr<SSL_CTX> client::impl::current() {
  if (!security) return nullptr;
  if (const auto reloaded = security->reload_if_changed(); reloaded.has_error())
    log.error("credentials for {}: {}", to.url(), reloaded.error().message);
  return security->current();
}

// Opened by its path every time: Kubernetes swaps a link when it rotates the token.
void client::impl::refresh_token() {
  const instant now = boot_clock::now();
  if (to.token_file.empty() || !token.is_due(now)) return;
  errno = 0;
  std::ifstream in(to.token_file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const int reason = errno;
  const auto took = in.is_open() && !in.bad() ? token.took(std::move(text), now + token_cache::file_freshness)
                                              : result<void>(error{errc::not_found, std::strerror(reason)});
  if (took.has_error()) {
    token.failed(now);
    if (!token_failing)
      log.error("the token file {} cannot be used: {}; the last token stays in use", to.token_file,
                took.error().message);
  }
  token_failing = took.has_error();
}

http::call client::impl::dressed(http::call what) {
  refresh_token();
  what.target = to.path + what.target;
  const std::string& bearer = to.token.empty() ? token.value() : to.token;
  if (!bearer.empty()) what.headers.emplace_back("Authorization", "Bearer " + bearer);
  return what;
}

void client::impl::count(const result<unsigned>& status) {
  ++numbers.calls;
  if (status.has_error()) {
    ++numbers.broken;
  } else if (*status >= 400) {
    ++numbers.refused;
    if (*status == 401) token.refused();
  }
}

client::client(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
client::~client() = default;

result<std::shared_ptr<client>> client::open(access to, logger log) {
  std::shared_ptr<tls::context> security;
  if (to.secure) {
    auto loaded = tls::context::load(to.tls);
    if (loaded.has_error())
      return error{loaded.error().code, fmt::format("{}: {}", to.url(), loaded.error().message)};
    security = std::move(*loaded);
  }
  auto made = std::make_unique<impl>(std::move(to), std::move(log), std::move(security));
  return std::shared_ptr<client>(new client(std::move(made)));
}

task<result<http::answer>> client::ask(http::call what, deadline until) {
  for (bool again = false;; again = true) {
    http::call ready = impl_->dressed(what);
    auto got = co_await impl_->wire.ask(std::move(ready), until);
    impl_->count(got.has_error() ? result<unsigned>(got.error()) : result<unsigned>(got->status));
    const bool worth_again = got.has_value() && got->status == 401 && !again && !impl_->to.token_file.empty();
    if (!worth_again) co_return got;
  }
}

task<result<http::answer_stream>> client::stream(http::call what, deadline until) {
  what.most_bytes = std::size_t(-1);  // a watch lives for minutes; each of its objects has a bound
  http::call ready = impl_->dressed(std::move(what));
  auto got = co_await impl_->wire.open(std::move(ready), until);
  impl_->count(got.has_error() ? result<unsigned>(got.error()) : result<unsigned>(got->head().status));
  co_return got;
}

const access& client::where() const noexcept { return impl_->to; }
const client::counters& client::stats() const noexcept { return impl_->numbers; }

}  // namespace binnacle::kube
