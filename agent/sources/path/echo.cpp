#include "agent/sources/path/echo.hpp"

#include "common/system/os_error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <unistd.h>

namespace binnacle::agent {
namespace {

constexpr std::size_t header_size = 8;  // type, code, checksum, id, sequence
// A payload, as every ping has one. It tells the owner of the address who we are.
constexpr std::string_view payload = "binnacle-agent path probe";

descriptor open_socket(int family, int type) {
  const int protocol = family == AF_INET6 ? int{IPPROTO_ICMPV6} : int{IPPROTO_ICMP};
  return descriptor(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
}

void put16(unsigned char* at, std::uint16_t value) {
  at[0] = static_cast<unsigned char>(value >> 8);
  at[1] = static_cast<unsigned char>(value & 0xffu);
}
std::uint16_t get16(const unsigned char* at) { return static_cast<std::uint16_t>(at[0] << 8 | at[1]); }

}  // namespace

std::uint16_t internet_checksum(std::span<const unsigned char> bytes) noexcept {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto low = i + 1 < bytes.size() ? bytes[i + 1] : 0u;
    sum += static_cast<std::uint32_t>(bytes[i]) << 8 | low;
  }
  while (sum > 0xffffu) sum = (sum & 0xffffu) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum & 0xffffu);
}

bool ping_sockets_allowed() noexcept { return static_cast<bool>(open_socket(AF_INET, SOCK_DGRAM)); }

result<echo_socket> echo_socket::open(const sockaddr* to, socklen_t size) {
  const bool v6 = to->sa_family == AF_INET6;
  bool raw = false;
  auto fd = open_socket(to->sa_family, SOCK_DGRAM);
  if (!fd) {
    fd = open_socket(to->sa_family, SOCK_RAW);
    raw = true;
  }
  if (!fd) {
    if (errno == EPERM || errno == EACCES)
      return error{errc::permission,
                   "no ICMP socket may be opened: put a group of this user into net.ipv4.ping_group_range "
                   "(sysctl -w net.ipv4.ping_group_range=\"0 2147483647\"), or give CAP_NET_RAW"};
    return error{errc::io, fmt::format("no ICMP socket: {}", describe(errno))};
  }
  if (raw && v6) {
    // Receive only echo replies: neighbour discovery and the like are not for us.
    icmp6_filter answers;
    ICMP6_FILTER_SETBLOCKALL(&answers);
    ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &answers);
    ::setsockopt(fd.get(), IPPROTO_ICMPV6, ICMP6_FILTER, &answers, sizeof answers);
  }
  if (::connect(fd.get(), to, size) != 0) return error{errc::io, describe(errno)};
  echo_socket out(std::move(fd), v6, raw);
  // Every raw socket gets all answers, so each needs an id of its own. A ping socket gets its id from the
  // kernel.
  out.id_ = static_cast<std::uint16_t>((::getpid() ^ (out.fd() << 10)) & 0xffff);
  return out;
}

result<void> echo_socket::send(std::uint16_t sequence) {
  std::array<unsigned char, header_size + payload.size()> packet{};
  packet[0] = v6_ ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
  put16(&packet[4], id_);
  put16(&packet[6], sequence);
  std::copy(payload.begin(), payload.end(), packet.begin() + header_size);
  // For IPv6 the kernel computes the checksum, since only it knows the pseudo-header.
  if (!v6_) put16(&packet[2], internet_checksum(packet));
  const auto sent = ::send(fd_.get(), packet.data(), packet.size(), 0);
  if (sent < 0) return error{errc::io, describe(errno)};
  return {};
}

result<std::optional<std::uint16_t>> echo_socket::take() {
  std::array<unsigned char, 512> packet;
  for (;;) {
    const auto got = ::recv(fd_.get(), packet.data(), packet.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return std::optional<std::uint16_t>();
    if (got < 0) return error{errc::io, describe(errno)};
    const unsigned char* at = packet.data();
    auto size = static_cast<std::size_t>(got);
    if (raw_ && !v6_) {
      // A raw IPv4 socket also gives the IP header. Its first byte says how many 32-bit words it has.
      const std::size_t header = size > 0 ? (at[0] & 0x0fu) * 4u : 0;
      if (header < 20 || size < header) continue;
      at += header;
      size -= header;
    }
    if (size < header_size || at[0] != (v6_ ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY)) continue;
    if (raw_ && get16(at + 4) != id_) continue;
    return std::optional(get16(at + 6));
  }
}

}  // namespace binnacle::agent
