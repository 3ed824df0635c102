// The calls to model servers, to endpoint providers and for Secrets: bytes out, answers in.
#include "aggregator/model_servers/message.hpp"
#include "aggregator/model_servers/worker.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

namespace binnacle::model_servers {
namespace {

constexpr auto deadline_of_a_call = std::chrono::milliseconds(500);
constexpr auto deadline_of_a_secret = std::chrono::seconds(5);
constexpr auto deadline_of_a_provider = std::chrono::seconds(3);  // as WAO's
/// Of an answer over REST: 101 numbers, and names around them. MLServer's and Triton's have some 3 KiB, so
/// twenty outputs have room. The worst text of this size, lists in lists, takes a millisecond to read.
constexpr std::size_t most_answer_bytes = std::size_t{64} << 10;
constexpr std::size_t most_provider_bytes = std::size_t{64} << 10;

/// The function by which a client gets the present TLS context; empty for servers without TLS.
std::function<std::shared_ptr<SSL_CTX>()> current_of(const std::shared_ptr<tls::context>& security,
                                                     bool secure) {
  if (!secure) return {};
  return [security] { return security->current(); };
}

}  // namespace

http::client& worker::client_of(const served_model& m) {
  auto& there = clients[fmt::format("{}{}", m.scheme(), m.server())];
  if (there) return *there;
  http::server_address where;
  where.host = m.host;
  where.port = m.port;
  there =
      std::make_unique<http::client>(std::move(where), current_of(security, m.secure), "binnacle-aggregator");
  return *there;
}

grpc::client& worker::grpc_client_of(const served_model& m) {
  auto& there = grpc_clients[fmt::format("{}{}", m.scheme(), m.server())];
  if (!there) {
    there = std::make_unique<grpc::client>(endpoint{m.host, m.port}, current_of(grpc_security, m.secure),
                                           "binnacle-aggregator");
  }
  return *there;
}

/// A password goes over TLS only; read_node_config() has refused all else.
bool worker::may_ask(const std::string& secret, bool secure) const {
  return secret.empty() || (secure && secrets.header(secret) != nullptr);
}

async::task<result<reply>> worker::ask_by_rest(const asker::call& c, const std::string& authorization) {
  http::call what;
  if (c.for_metadata()) {
    what.target = c.about.model.metadata_path();
  } else {
    what.method = "POST";
    what.target = c.about.model.path;
    what.headers = {{"Content-Type", "application/json"}};
    what.body = body_of(c.about, c.first, c.count, c.input);
  }
  if (!authorization.empty()) what.headers.emplace_back("Authorization", authorization);
  what.most_bytes = most_answer_bytes;
  auto got = co_await client_of(c.about.model).ask(std::move(what), async::within(deadline_of_a_call));
  if (got.has_error() && got.error().code == errc::overloaded)
    co_return too_large_reply(c.count, got.error().message);
  if (got.has_error()) co_return got.error();
  co_return reply_of(*got, c.count, c.about.model.secret);
}

async::task<result<reply>> worker::ask_by_grpc(const asker::call& c, const std::string& authorization) {
  grpc::call what;
  what.authorization = authorization;
  what.method = c.for_metadata() ? metadata_method : method_of(c.about.model.speaks);
  what.message =
      c.for_metadata() ? metadata_message_of(c.about.model) : message_of(c.about, c.first, c.count, c.input);
  auto got = co_await grpc_client_of(c.about.model).ask(std::move(what), async::within(deadline_of_a_call));
  if (got.has_error()) co_return got.error();
  co_return reply_of(*got, c.count, c.about.model.secret);
}

async::task<void> worker::ask(std::shared_ptr<worker> self, asker::call c, std::string authorization) {
  const bool by_grpc = c.about.model.by == carrier::grpc;
  auto asked = by_grpc ? self->ask_by_grpc(c, authorization) : self->ask_by_rest(c, authorization);
  const auto got = co_await std::move(asked);
  const instant now = boot_clock::now();
  if (got.has_value() && got->unauthenticated) self->secrets.refused(c.about.model.secret, now);
  self->questions.answered(c, got, now);
  self->answered->notify();
}

async::task<void> worker::read_secret(std::shared_ptr<worker> self, http::call what) {
  const auto got = co_await self->with->api->ask(std::move(what), async::within(deadline_of_a_secret));
  const instant now = boot_clock::now();
  if (const auto changed = self->secrets.answered(got, now)) {
    self->questions.ask_at_once(*changed);
    self->providers.ask_at_once(*changed, now);
  }
  self->answered->notify();
}

/// Holds a conversation with an endpoint provider. Its connection ends with it: the next one is a quarter of
/// an hour later, and there may be as many providers as nodes.
async::task<void> worker::ask_provider(std::shared_ptr<worker> self, endpoint_providers::call first,
                                       std::string authorization) {
  http::server_address where;
  where.host = first.about.host;
  where.port = first.about.port;
  auto security_of_it = current_of(self->security, first.about.secure);
  http::client server(std::move(where), std::move(security_of_it), "binnacle-aggregator");
  std::optional<endpoint_providers::call> next = std::move(first);
  while (next) {
    http::call what;
    what.target = next->target();
    what.headers = {{"Accept", "application/json"}};
    if (!authorization.empty()) what.headers.emplace_back("Authorization", authorization);
    what.most_bytes = most_provider_bytes;
    const auto got = co_await server.ask(std::move(what), async::within(deadline_of_a_provider));
    const instant now = boot_clock::now();
    if (got.has_value() && got->status == 401) self->secrets.refused(next->about.secret, now);
    next = self->providers.answered(*next, got, now);
  }
  self->answered->notify();
}

}  // namespace binnacle::model_servers
