#include "common/async/network.hpp"

#include <boost/asio/ip/address.hpp>

namespace binnacle::async {

namespace ip = boost::asio::ip;

network network_of(const ip::address& address, unsigned v4_bits, unsigned v6_bits) {
  constexpr unsigned mapped_prefix = 96;
  const ip::address_v6 wide =
      address.is_v4() ? ip::make_address_v6(ip::v4_mapped, address.to_v4()) : address.to_v6();
  const unsigned kept = wide.is_v4_mapped() ? mapped_prefix + v4_bits : v6_bits;
  network out;
  const auto bytes = wide.to_bytes();
  for (unsigned i = 0; i < out.bytes.size(); ++i) {
    const unsigned from = i * 8;
    const unsigned bits = kept <= from ? 0 : kept - from >= 8 ? 8 : kept - from;
    out.bytes[i] = static_cast<std::uint8_t>(bytes[i] & (0xff00u >> bits));
  }
  return out;
}

network network_of(const tcp_socket& socket, unsigned v4_bits, unsigned v6_bits) {
  boost::system::error_code gone;
  const auto peer = socket.remote_endpoint(gone);
  return gone ? network{} : network_of(peer.address(), v4_bits, v6_bits);
}

std::optional<network> address_of(std::string_view text) {
  boost::system::error_code wrong;
  const auto address = ip::make_address(text, wrong);
  if (wrong) return std::nullopt;
  return network_of(address, 32, 128);
}

}  // namespace binnacle::async
