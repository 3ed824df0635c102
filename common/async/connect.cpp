#include "common/async/resolve.hpp"
#include "common/async/stream.hpp"
#include "common/async/stream_impl.hpp"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <utility>
#include <vector>

namespace binnacle::async {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

std::vector<tcp::endpoint> chosen(const std::vector<tcp::endpoint>& found, const address_choice& choose) {
  if (!choose) return found;
  std::vector<std::string> printed;
  for (const tcp::endpoint& peer : found) printed.push_back(to_string(peer));
  std::vector<tcp::endpoint> out;
  for (const std::size_t i : choose(printed)) out.push_back(found.at(i));
  return out;
}

}  // namespace

task<result<stream>> connect(std::string host, std::uint16_t port, std::shared_ptr<SSL_CTX> tls,
                             std::string server_name, deadline until, address_choice choose) {
  const auto ex = co_await asio::this_coro::executor;
  auto found = co_await resolve(host, port, until);
  if (found.has_error()) co_return found.error();

  const std::vector<tcp::endpoint> peers = chosen(*found, choose);
  error last{errc::not_found, fmt::format("the name {} has no address", host)};
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const tcp::endpoint& peer = peers[i];
    // Each address gets a share of the time left, so that a dead first address leaves time for the next one.
    const auto now = std::chrono::steady_clock::now();
    const deadline share = until == never ? never : now + (until - now) / static_cast<long>(peers.size() - i);
    auto opened = std::make_shared<stream::impl>(tcp_socket(ex));
    opened->read_until = share;
    opened->arm();
    auto [ec] = co_await opened->socket.async_connect(peer, use_task);
    opened->read_until = never;
    if (ec) {
      const bool late = ec == asio::error::operation_aborted;
      last = {late ? errc::timeout : errc::disconnected,
              fmt::format("{} ({}) cannot be reached: {}", host, to_string(peer),
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
