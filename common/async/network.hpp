#pragma once

#include "common/async/task.hpp"
#include "common/crowd.hpp"

#include <optional>
#include <string_view>

namespace binnacle::async {

/// The network of the peer of `socket`: the first `v4_bits` of an IPv4 address, the first `v6_bits` of an
/// IPv6 address. All zero when the peer has gone.
network network_of(const tcp_socket& socket, unsigned v4_bits, unsigned v6_bits);
/// The same of an address.
network network_of(const boost::asio::ip::address& address, unsigned v4_bits, unsigned v6_bits);
/// All of an address that is given as text ("10.0.0.7", "fd00::7"); nothing when it is none.
std::optional<network> address_of(std::string_view text);

}  // namespace binnacle::async
