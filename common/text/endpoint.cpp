#include "common/text/endpoint.hpp"

#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>

namespace binnacle {
namespace {

// A host with a colon is an IPv6 address, perhaps with a zone ("fe80::1%eth0"), or a mistake (":::"). In a
// name, only characters that no name can have are refused here; the resolver checks the rest.
bool possible_host(std::string_view host) {
  if (host.empty()) return false;
  if (host.find(':') == host.npos) {
    return may_stand_in_url(host) && host.find_first_of("/?#@[]\\\"") == host.npos;
  }
  std::array<unsigned char, 16> address{};
  return ::inet_pton(AF_INET6, std::string(host.substr(0, host.find('%'))).c_str(), address.data()) == 1;
}

struct host_port {
  std::string_view host, port;  // the port with its colon; empty when there is none
  bool brackets = false;
};

std::optional<host_port> split_port(std::string_view text) {
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const auto port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return std::nullopt;
    return host_port{text.substr(1, end - 1), port, true};
  }
  const auto colon = text.rfind(':');
  // More than one colon without brackets is an IPv6 address without a port.
  if (colon == std::string_view::npos || text.find(':') != colon) return host_port{text, {}, false};
  return host_port{text.substr(0, colon), text.substr(colon), false};
}

}  // namespace

std::optional<std::uint16_t> read_port(std::string_view text) {
  const auto port = read_number<std::uint16_t>(text);
  return port && *port != 0 ? port : std::nullopt;
}

std::optional<endpoint> read_endpoint(std::string_view text, std::uint16_t default_port) {
  const auto parts = split_port(text);
  if (!parts || !possible_host(parts->host)) return std::nullopt;
  if (parts->port.empty()) return endpoint{std::string(parts->host), default_port};
  const auto port = read_port(parts->port.substr(1));
  if (!port) return std::nullopt;
  return endpoint{std::string(parts->host), *port};
}

std::optional<endpoint> read_listen_address(std::string_view text) {
  const auto parts = split_port(text);
  if (!parts || parts->port.empty()) return std::nullopt;
  const auto port = read_number<std::uint16_t>(parts->port.substr(1));
  if (!port || (parts->host.empty() ? parts->brackets : !possible_host(parts->host))) return std::nullopt;
  return endpoint{std::string(parts->host), *port};
}

bool may_stand_in_url(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

url_parts split_url(std::string_view url) {
  url_parts out;
  if (const auto end = url.find("://"); end != url.npos) {
    out.scheme = lowered(url.substr(0, end));
    url.remove_prefix(end + 3);
  }
  const auto end = std::min(url.find_first_of("/?#"), url.size());
  out.authority = url.substr(0, end);
  out.rest = url.substr(end);
  return out;
}

std::string to_string(const endpoint& e) { return host_and_port(e.host, e.port); }

}  // namespace binnacle
