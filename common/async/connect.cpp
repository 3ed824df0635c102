#include "common/async/stream.hpp"
#include "common/async/stream_impl.hpp"
#include "common/async/timeout.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <utility>
#include <vector>

namespace binnacle::async {

namespace asio = boost::asio;
using boost::system::error_code;
using endpoints = std::vector<tcp::endpoint>;

namespace {

task<result<endpoints>> look_up(std::string host, std::uint16_t port) {
  error_code ec;
  const auto numeric = asio::ip::make_address(host, ec);
  if (!ec) co_return endpoints(1, tcp::endpoint(numeric, port));
  const auto ex = co_await asio::this_coro::executor;
  asio::ip::basic_resolver<tcp, executor> resolver(ex);
  auto [failed, found] = co_await resolver.async_resolve(host, std::to_string(port), use_task);
  if (failed)
    co_return error{errc::not_found,
                    fmt::format("the name {} can not be resolved: {}", host, failed.message())};
  endpoints out;
  for (const auto& entry : found) out.push_back(entry.endpoint());
  co_return out;
}

}  // namespace

task<result<stream>> connect(std::string host, std::uint16_t port, std::shared_ptr<SSL_CTX> tls,
                             std::string server_name, deadline until) {
  const auto ex = co_await asio::this_coro::executor;
  auto found = co_await with_timeout(look_up(host, port), until, "the look-up of " + host);
  if (found.has_error()) co_return found.error();

  error last{errc::not_found, fmt::format("the name {} has no address", host)};
  for (std::size_t i = 0; i < found->size(); ++i) {
    const tcp::endpoint& peer = (*found)[i];
    // Each address gets its share of what time is left, so that a dead first one leaves time for the next.
    const auto now = std::chrono::steady_clock::now();
    const deadline share =
        until == never ? never : now + (until - now) / static_cast<long>(found->size() - i);
    auto opened = std::make_shared<stream::impl>(tcp_socket(ex));
    opened->read_until = share;
    opened->arm();
    auto [ec] = co_await opened->socket.async_connect(peer, use_task);
    opened->read_until = never;
    if (ec) {
      const bool late = ec == asio::error::operation_aborted;
      last = {late ? errc::timeout : errc::disconnected,
              fmt::format("{} ({}) can not be reached: {}", host, to_string(peer),
                          late ? "no answer in time" : ec.message())};
      continue;
    }
    stream out(std::move(opened->socket), tls, tls::role::client, server_name.empty() ? host : server_name);
    auto shaken = co_await out.handshake(until);
    if (shaken.has_error()) {
      co_return error{shaken.error().code,
                      fmt::format("{} ({}): {}", host, to_string(peer), shaken.error().message)};
    }
    co_return out;
  }
  co_return last;
}

}  // namespace binnacle::async
