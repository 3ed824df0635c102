#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

/// The concrete Asio types that the project uses. There is one executor type, so that no operation goes
/// through the type-erased one, which costs seconds of compile time in every file. Include from .cpp files
/// only; headers keep Asio out (COMMON_ERRORS.md).
namespace binnacle::async {

using loop = boost::asio::io_context;
using executor = loop::executor_type;

template <class T = void>
using task = boost::asio::awaitable<T, executor>;

/// The completion token of every await: `auto [ec, n] = co_await socket.async_read_some(buffer, use_task);`
/// g++ 12: name every lambda and aggregate on the line before a co_await (COMMON_ERRORS.md 1).
inline constexpr auto use_task = boost::asio::as_tuple(boost::asio::use_awaitable_t<executor>{});

using tcp = boost::asio::ip::tcp;
using tcp_socket = boost::asio::basic_stream_socket<tcp, executor>;
using steady_timer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                      boost::asio::wait_traits<std::chrono::steady_clock>, executor>;

/// The latest time for something to happen. Every network operation takes one. `within(5s)` is five seconds
/// from now.
using deadline = std::chrono::steady_clock::time_point;
inline constexpr deadline never = deadline::max();
inline deadline within(std::chrono::nanoseconds span) { return std::chrono::steady_clock::now() + span; }

}  // namespace binnacle::async
