#include "cli/blocking.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/peers.hpp"
#include "common/async/stream.hpp"

#include <fmt/format.h>

#include <array>

namespace binnacle::cli::doctor {
namespace {

constexpr std::string_view link_protocol = "binnacle/1";

/// The outcome of a TLS handshake. The doctor sends no hello, because a session would replace the running
/// agent's.
struct greeting {
  bool speaks = false;  ///< the server chose the agents' protocol
  result<void> kept = result<void>();
};

/// Makes a TLS handshake as the agent does. In TLS 1.3 a server judges our certificate only after our side is
/// done. So this ends our side and waits: a server that accepted us ends the connection in order; one that
/// did not says why.
async::task<result<greeting>> greet(endpoint to, std::shared_ptr<SSL_CTX> tls, std::string server_name,
                                    async::deadline until) {
  auto connected = co_await async::connect(to.host, to.port, tls, server_name, until);
  if (connected.has_error()) co_return connected.error();
  async::stream peer = std::move(connected.value());
  greeting out;
  out.speaks = peer.alpn() == link_protocol;
  peer.end_writing();
  for (;;) {
    std::array<char, 512> room;
    const std::span<char> all(room);
    auto got = co_await peer.read_some(all, until);
    if (got.has_error()) out.kept = got.error();
    if (got.has_error() || *got == 0) co_return out;
  }
}

finding look_at(const std::string& address, const agent_settings& s, std::shared_ptr<SSL_CTX> tls,
                std::chrono::milliseconds patience) {
  const auto where = parse_server_url(address, 9110);
  if (where.has_error()) return failure(where.error().message, "give aggregator as HOST:9110");
  const auto got = blocking(greet(where->at, std::move(tls), s.server_name, async::within(patience)));
  const std::string agents_port = fmt::format("the aggregator's port for agents ({})", where->at.port);
  const std::string shown = where->url.substr(where->url.find("://") + 3);
  if (got.has_error()) {
    std::string remedy = unreachable_remedy(got.error().code, agents_port);
    if (got.error().code == errc::permission)
      remedy += "; server-name gives the agent a name other than the one dialled";
    return failure(fmt::format("the agent cannot reach {}: {}", shown, got.error().message), remedy);
  }
  if (got->kept.has_error() && got->kept.error().code == errc::permission) {
    return failure(
        fmt::format("the aggregator at {} refuses the agent: {}", shown, got->kept.error().message),
        "the agent's certificate must be signed by the aggregator's agents-ca, and be valid by its clock");
  }
  if (!got->speaks) {
    return failure(
        fmt::format("what answers at {} does not speak {}", shown, link_protocol),
        fmt::format("is that {}, and does everything in between pass TLS through unopened?", agents_port));
  }
  if (got->kept.has_error() && got->kept.error().code != errc::disconnected) {
    return warning(fmt::format("the aggregator at {} took the handshake and then said nothing: {}", shown,
                               got->kept.error().message),
                   "see its log");
  }
  return ok(fmt::format("the aggregator at {} {}, and has a name that the agent expects", shown,
                        s.pem.certificate.empty()
                            ? "can be reached (it judges the agent's token at its hello)"
                            : "takes the agent's certificate"));
}

}  // namespace

findings check_ingest(const place& p) {
  if (p.agent.has_error())
    return {unchecked("the agent's way to the aggregators is not known: " + p.agent.error().message)};
  const agent_settings& s = p.agent->settings;
  if (s.aggregators.empty()) return {unchecked("the agent has no aggregator: it only serves /metrics")};
  tls::options o;
  o.side = tls::role::client;
  o.pem = s.pem;
  o.tls13_only = true;
  o.alpn = link_protocol;
  const auto security = tls::context::load(std::move(o));
  if (security.has_error()) {
    return {unchecked(fmt::format("the agent's aggregators are not dialled: {}", security.error().message),
                      "run this as the user that the agent runs as")};
  }
  findings out;
  for (const std::string& address : s.aggregators)
    out.push_back(look_at(address, s, (*security)->current(), p.patience));
  return out;
}

}  // namespace binnacle::cli::doctor
