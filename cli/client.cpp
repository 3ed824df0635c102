#include "cli/client.hpp"

#include "cli/json.hpp"
#include "common/http/client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

namespace binnacle::cli {
namespace {

constexpr std::size_t most_bytes = 256u << 20;  // a fleet of 20,000 nodes with all columns

async::task<void> fetch(endpoint to, std::shared_ptr<SSL_CTX> security, std::string target,
                        async::deadline until, result<http::answer>& out) {
  const http::server_address address{to.host, to.port};
  const auto current = [security] { return security; };
  http::client peer(address, current, "binnacle/" BINNACLE_VERSION);
  http::call get;
  get.target = std::move(target);
  get.headers = {{"Accept", "application/json"}, {"Connection", "close"}};
  get.most_bytes = most_bytes;
  out = co_await peer.ask(std::move(get), until);
}

/// What to do about a failed connection, as a clause to go on with.
std::string_view remedy(errc code) {
  switch (code) {
    case errc::disconnected:
      return "is binnacle-aggregator running there? --aggregator names another address";
    case errc::timeout: return "is the address right, and no firewall in between?";
    case errc::not_found: return "check the name given with --aggregator";
    case errc::permission: return "check --ca (who signed the server), --cert and --key (who you are)";
    case errc::protocol: return "is that the ops port (9102), and https?";
    default: return "";
  }
}

}  // namespace

result<client> client::open(const endpoint& to, const tls::files& pem) {
  if (!to.secure) return client(to, nullptr);
  if (pem.authority.empty()) {
    return error{
        errc::invalid_input,
        fmt::format("no certificate authority is given to verify {} with: name the file with --ca or "
                    "BINNACLE_CA",
                    to.url)};
  }
  if (pem.certificate.empty() != pem.key.empty()) {
    return error{errc::invalid_input, "--cert and --key belong together: give both or neither"};
  }
  tls::options o;
  o.side = tls::role::client;
  o.pem = pem;
  o.alpn = "http/1.1";
  auto security = tls::context::load(std::move(o));
  if (security.has_error()) return security.error();
  return client(to, std::move(*security));
}

result<client::answer> client::get(const std::string& target, std::chrono::milliseconds deadline) const {
  async::loop loop(1);
  result<http::answer> got = error{errc::internal, "the request never ran"};
  boost::asio::co_spawn(
      loop.get_executor(),
      fetch(to_, security_ ? security_->current() : nullptr, target, async::within(deadline), got),
      boost::asio::detached);
  loop.run();
  if (got.has_error()) {
    const auto& e = got.error();
    const auto what = remedy(e.code);
    return error{e.code,
                 fmt::format("cannot reach {}: {}{}{}", to_.url, e.message, what.empty() ? "" : "; ", what)};
  }

  answer a;
  boost::system::error_code ec;
  a.json = boost::json::parse(got->body, ec);
  if (got->status >= 400) {
    std::string said = ec ? std::string() : text(a.json, "error");
    if (said.empty()) said = fmt::format("HTTP status {}", got->status);
    const bool unknown_caller = got->status == 401 || got->status == 403;
    return error{unknown_caller ? errc::permission : errc::invalid_input,
                 fmt::format("{} refused: {}{}", to_.url, said, unknown_caller ? " (--cert and --key)" : "")};
  }
  if (ec)
    return error{errc::protocol,
                 fmt::format("{} answered no JSON: {}; is that the ops port (9102)?", to_.url, ec.message())};
  a.text = std::move(got->body);
  return a;
}

}  // namespace binnacle::cli
