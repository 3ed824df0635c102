#pragma once

#include "common/async/task.hpp"
#include "common/crowd.hpp"

namespace binnacle::async {

/// The network of the peer of `socket`: the first `v4_bits` of an IPv4 address, the first `v6_bits` of an
/// IPv6 address. All zero when the peer has gone.
network network_of(const tcp_socket& socket, unsigned v4_bits, unsigned v6_bits);
/// The same of an address.
network network_of(const boost::asio::ip::address& address, unsigned v4_bits, unsigned v6_bits);

}  // namespace binnacle::async
