#pragma once

#include "common/async/task.hpp"
#include "common/crowd.hpp"

#include <optional>
#include <string_view>

namespace binnacle::async {

/// The network of the peer of `socket`: the first `v4_bits` of an IPv4 address, or the first `v6_bits` of an
/// IPv6 address. All zero if the peer is no longer connected.
network network_of(const tcp_socket& socket, unsigned v4_bits, unsigned v6_bits);
/// The network of `address`, cut in the same way.
network network_of(const boost::asio::ip::address& address, unsigned v4_bits, unsigned v6_bits);
/// The whole address that `text` gives ("10.0.0.7", "fd00::7"); nothing if `text` is no address.
std::optional<network> address_of(std::string_view text);

}  // namespace binnacle::async
