#pragma once

#include "common/error.hpp"
#include "common/system/descriptor.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/socket.h>

namespace binnacle::agent {

/// ICMP echo (RFC 792, RFC 4443) with the least privilege that the kernel grants: a ping socket (SOCK_DGRAM,
/// for groups in net.ipv4.ping_group_range, which counts for IPv6, too), else a raw socket (CAP_NET_RAW). One
/// object for each peer; nothing in here waits. Source: icmp(7), Linux net/ipv4/ping.c.
class echo_socket {
 public:
  /// Opens a socket towards that address. Errors: permission with the remedy; io.
  static result<echo_socket> open(const sockaddr* to, socklen_t size);

  /// Becomes readable when something came. Then call take().
  int fd() const noexcept { return fd_.get(); }
  /// Sends request number `sequence`. Errors: io (for example, no route to the peer).
  result<void> send(std::uint16_t sequence);
  /// The sequence number of the next answer to us. Other packets are skipped. Nothing if no more packets are
  /// there. Errors: io (the path reported an error).
  result<std::optional<std::uint16_t>> take();

 private:
  echo_socket(descriptor fd, bool v6, bool raw) : fd_(std::move(fd)), v6_(v6), raw_(raw) {}
  descriptor fd_;
  bool v6_;
  bool raw_;
  std::uint16_t id_ = 0;
};

/// Whether this process may open a ping socket. Otherwise ICMP needs CAP_NET_RAW.
bool ping_sockets_allowed() noexcept;

/// The Internet checksum. Source: RFC 1071.
std::uint16_t internet_checksum(std::span<const unsigned char> bytes) noexcept;

}  // namespace binnacle::agent
