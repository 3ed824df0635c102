#include "common/async/resolve.hpp"

#include "common/async/timeout.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <utility>

namespace binnacle::async {

namespace asio = boost::asio;
using endpoints = std::vector<tcp::endpoint>;

namespace {

task<result<endpoints>> look_up(std::string host, std::uint16_t port) {
  boost::system::error_code ec;
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
  if (out.empty()) co_return error{errc::not_found, fmt::format("the name {} has no address", host)};
  co_return out;
}

}  // namespace

task<result<endpoints>> resolve(std::string host, std::uint16_t port, deadline until) {
  auto what = "the look-up of " + host;
  auto asked = look_up(std::move(host), port);
  co_return co_await with_timeout(std::move(asked), until, std::move(what));
}

}  // namespace binnacle::async
