#include "common/async/listener.hpp"

#include "common/async/timers.hpp"
#include "common/text/text.hpp"

#include <boost/asio/ip/v6_only.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

namespace binnacle::async {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// "::" serves IPv4 and IPv6. A kernel without IPv6 cannot bind it; then 0.0.0.0 takes its place.
asio::ip::address all_addresses() {
  std::error_code ignored;
  if (std::filesystem::exists("/proc/net/if_inet6", ignored)) return asio::ip::address_v6::any();
  return asio::ip::address_v4::any();
}

}  // namespace

result<listener> listener::open(loop& on, const std::string& address, std::uint16_t port, logger log) {
  error_code ec;
  const auto numeric = address.empty() ? all_addresses() : asio::ip::make_address(address, ec);
  if (ec) {
    return error{
        errc::invalid_input,
        fmt::format("{} is not a numeric address to listen on: use 0.0.0.0, :: or one of this machine's "
                    "addresses, or none for all",
                    in_quotes(address))};
  }
  acceptor a(on);
  const tcp::endpoint where(numeric, port);
  a.open(where.protocol(), ec);
  if (!ec) a.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec && numeric.is_v6() && numeric.is_unspecified()) a.set_option(asio::ip::v6_only(false), ec);
  if (!ec) a.bind(where, ec);
  if (!ec) a.listen(asio::socket_base::max_listen_connections, ec);
  // accept() never waits inside Asio, not even after a connection that was gone before it was taken.
  if (!ec) a.non_blocking(true, ec);
  if (!ec) a.set_option(asio::socket_base::enable_connection_aborted(true), ec);
  if (!ec) {
    const auto bound = a.local_endpoint(ec).port();
    if (!ec) return listener(std::move(a), bound, std::move(log));
  }
  if (ec == asio::error::address_in_use) {
    return error{
        errc::io,
        fmt::format(
            "port {} is in use ({}): stop what listens there (ss -ltnp 'sport = :{}') or give another port",
            port, host_and_port(address, port), port)};
  }
  if (ec == asio::error::access_denied) {
    return error{errc::permission,
                 fmt::format("port {} may not be opened by this user: use one above 1023, or grant "
                             "CAP_NET_BIND_SERVICE",
                             port)};
  }
  if (ec == boost::system::errc::address_not_available) {
    return error{
        errc::io,
        fmt::format("{} is not an address of this machine: use 0.0.0.0, :: or one that `ip address` shows",
                    address)};
  }
  return error{errc::io,
               fmt::format("{} cannot be listened on: {}", host_and_port(address, port), ec.message())};
}

task<result<tcp_socket>> listener::accept() {
  while (acceptor_.is_open()) {
    tcp_socket accepted(acceptor_.get_executor());
    error_code ec = asio::error::would_block;
    if (++this_turn_ < most_per_turn) acceptor_.accept(accepted, ec);
    if (ec == asio::error::would_block) {  // nobody waits, or the turn is over
      this_turn_ = 0;
      std::tie(ec) = co_await acceptor_.async_accept(accepted, use_task);
    }
    if (!ec) {
      failing_ = false;
      co_return accepted;
    }
    if (!acceptor_.is_open()) break;
    if (ec == asio::error::connection_aborted) continue;  // gone before we took it
    if (!failing_)
      log_.warning("port {} cannot accept connections now: {}; trying again", port_, ec.message());
    failing_ = true;
    co_await sleep_for(std::chrono::milliseconds(100));
  }
  co_return error{errc::disconnected, "the listening socket is closed"};
}

void listener::close() {
  error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace binnacle::async
