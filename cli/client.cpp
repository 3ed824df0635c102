#include "cli/client.hpp"

#include "cli/json.hpp"
#include "common/async/stream.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <array>

namespace binnacle::cli {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t most_bytes = 256u << 20;  // a fleet of 20,000 nodes with all columns

struct raw_answer {
  unsigned status = 0;
  std::string body;
};

/// Feeds what arrives to the parser until the answer is complete.
async::task<result<raw_answer>> read_answer(async::stream& from, async::deadline until) {
  http::response_parser<http::string_body> parser;
  parser.body_limit(most_bytes);
  parser.eager(true);
  std::string pending;
  std::array<char, 16 << 10> piece;
  while (!parser.is_done()) {
    auto got = co_await from.read_some(piece, until);
    if (got.has_error()) co_return got.error();
    boost::system::error_code ec;
    if (*got == 0) {
      parser.put_eof(ec);
      if (ec || !parser.is_done())
        co_return error{errc::disconnected, "the connection ended in the middle of the answer"};
      break;
    }
    pending.append(piece.data(), *got);
    // put() may leave a part of what it was given for the next time.
    while (!pending.empty() && !parser.is_done()) {
      const std::size_t used = parser.put(boost::asio::buffer(pending), ec);
      pending.erase(0, used);
      if (ec == http::error::need_more) break;
      if (ec) co_return error{errc::protocol, "what answered does not speak HTTP: " + ec.message()};
      if (used == 0) break;
    }
  }
  raw_answer a;
  a.status = parser.get().result_int();
  a.body = std::move(parser.get().body());
  co_return a;
}

async::task<result<raw_answer>> fetch(endpoint to, std::shared_ptr<SSL_CTX> security, std::string target,
                                      async::deadline until) {
  auto peer = co_await async::connect(to.host, to.port, security, to.host, until);
  if (peer.has_error()) co_return peer.error();
  const std::string request = fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: binnacle/{}\r\nAccept: application/json\r\nConnection: "
      "close\r\n\r\n",
      target, to.host, to.port, BINNACLE_VERSION);
  auto sent = co_await peer->write(request, until);
  if (sent.has_error()) co_return sent.error();
  co_return co_await read_answer(*peer, until);
}

async::task<void> run_fetch(endpoint to, std::shared_ptr<SSL_CTX> security, std::string target,
                            async::deadline until, result<raw_answer>& out) {
  out = co_await fetch(std::move(to), std::move(security), std::move(target), until);
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
  result<raw_answer> got = error{errc::internal, "the request never ran"};
  boost::asio::co_spawn(
      loop.get_executor(),
      run_fetch(to_, security_ ? security_->current() : nullptr, target, async::within(deadline), got),
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

std::string query_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace binnacle::cli
