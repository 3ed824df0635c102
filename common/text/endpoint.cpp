#include "common/text/endpoint.hpp"

#include "common/text/text.hpp"

#include <arpa/inet.h>
#include <array>
#include <charconv>

namespace binnacle {
namespace {

// What has a colon is an IPv6 address, perhaps with a zone ("fe80::1%eth0"), or a mistake (":::").
bool possible_host(std::string_view host) {
  if (host.empty()) return false;
  if (host.find(':') == host.npos) return true;
  std::array<unsigned char, 16> address{};
  return ::inet_pton(AF_INET6, std::string(host.substr(0, host.find('%'))).c_str(), address.data()) == 1;
}

}  // namespace

std::optional<endpoint> read_endpoint(std::string_view text, std::uint16_t default_port) {
  endpoint out{{}, default_port};
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    out.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return std::nullopt;
  } else {
    const auto colon = text.rfind(':');
    // More than one colon without brackets is an IPv6 address without a port.
    const bool has_port = colon != std::string_view::npos && text.find(':') == colon;
    out.host = has_port ? text.substr(0, colon) : text;
    port = has_port ? text.substr(colon) : std::string_view();
  }
  if (!possible_host(out.host)) return std::nullopt;
  if (!port.empty()) {
    port.remove_prefix(1);
    const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (failed != std::errc{} || end != port.data() + port.size() || out.port == 0) return std::nullopt;
  }
  return out;
}

std::string to_string(const endpoint& e) { return host_and_port(e.host, e.port); }

}  // namespace binnacle
