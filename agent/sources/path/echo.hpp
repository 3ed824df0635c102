#pragma once

#include "common/error.hpp"
#include "common/system/descriptor.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/socket.h>

namespace binnacle::agent {

/// ICMP echo (RFC 792, RFC 4443) over the least privilege that the kernel grants: a ping socket (SOCK_DGRAM,
/// for groups in net.ipv4.ping_group_range, IPv6 included), else a raw one (CAP_NET_RAW). One for each peer;
/// no waiting in here. Source: icmp(7), Linux net/ipv4/ping.c.
class echo_socket {
 public:
  /// Towards that address. Errors: permission with the remedy; io.
  static result<echo_socket> open(const sockaddr* to, socklen_t size);

  /// Becomes readable when something came; take() says what.
  int fd() const noexcept { return fd_.get(); }
  /// Sends request number `sequence`. Errors: io (no route to it, for one).
  result<void> send(std::uint16_t sequence);
  /// The next of what came: the sequence number of an answer to us; nothing when no more is there. What is no
  /// answer to us is passed over. Errors: io (the path reported an error).
  result<std::optional<std::uint16_t>> take();

 private:
  echo_socket(descriptor fd, bool v6, bool raw) : fd_(std::move(fd)), v6_(v6), raw_(raw) {}
  descriptor fd_;
  bool v6_;
  bool raw_;
  std::uint16_t id_ = 0;
};

/// Whether this process may open a ping socket; it needs CAP_NET_RAW for ICMP otherwise.
bool ping_sockets_allowed() noexcept;

/// The Internet checksum. Source: RFC 1071.
std::uint16_t internet_checksum(std::span<const unsigned char> bytes) noexcept;

}  // namespace binnacle::agent
