#include "common/http/client/client.hpp"

#include "common/async/idle_connections.hpp"
#include "common/async/stream.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace binnacle::http {

using async::deadline;
using async::task;

namespace {

constexpr std::size_t most_idle = 8;  // as many as the patches of nodes' labels that are under way at a time
constexpr std::size_t most_unparsed = 64u << 10;  // of a body

std::string text_of(const call& what, const server_address& to, const std::string& user_agent) {
  std::string out = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\n", what.method, what.target,
                                host_and_port(to.host, to.port), user_agent);
  for (const auto& [name, value] : what.headers) out += fmt::format("{}: {}\r\n", name, value);
  if (!what.body.empty() || what.method != "GET")
    out += fmt::format("Content-Length: {}\r\n", what.body.size());
  out += "\r\n";
  return out + what.body;
}

}  // namespace

struct answer_stream::impl {
  impl(async::stream s, std::shared_ptr<SSL_CTX> made_with)
      : peer(std::move(s)), security(std::move(made_with)) {}

  task<result<void>> begin(std::string text, std::size_t most_bytes, deadline until);
  task<result<std::string_view>> next(deadline until);
  task<result<void>> read_more(deadline until);
  result<void> parse(std::string& out);
  bool reusable() const { return parser->keep_alive() && pending.empty(); }

  async::stream peer;
  std::shared_ptr<SSL_CTX> security;  // null: plain
  std::optional<response_parser> parser;
  std::string pending;    // bytes that arrived and that the parser has not taken yet
  std::string piece;      // the piece of the body that was given out last
  bool answered = false;  // a byte of the answer has come
};

task<result<void>> answer_stream::impl::read_more(deadline until) {
  std::array<char, 16u << 10> buffer;
  auto got = co_await peer.read_some(buffer, until);
  if (got.has_error()) co_return got.error();
  if (*got == 0) {
    parser->end();
    if (parser->now() == response_parser::phase::refused) co_return parser->why();
    co_return result<void>();
  }
  answered = true;
  pending.append(buffer.data(), *got);
  co_return result<void>();
}

result<void> answer_stream::impl::parse(std::string& out) {
  const response_parser::sink collect = [&out](std::string_view part) {
    out += part;
    return true;
  };
  const std::size_t used = parser->feed(pending, collect);
  pending.erase(0, used);
  if (parser->now() == response_parser::phase::refused) return parser->why();
  return {};
}

task<result<void>> answer_stream::impl::begin(std::string text, std::size_t most_bytes, deadline until) {
  using phase = response_parser::phase;
  parser.emplace();
  answered = false;
  auto sent = co_await peer.write(text, until);
  if (sent.has_error()) co_return sent.error();
  while (parser->now() == phase::head) {
    auto read = co_await read_more(until);
    if (read.has_error()) co_return read.error();
    auto parsed = parse(piece);
    if (parsed.has_error()) co_return parsed.error();
  }
  parser->limit_body(most_bytes);
  if (parser->now() == phase::refused) co_return parser->why();
  co_return result<void>();
}

task<result<std::string_view>> answer_stream::impl::next(deadline until) {
  using phase = response_parser::phase;
  piece.clear();
  for (;;) {
    auto parsed = parse(piece);
    if (parsed.has_error()) co_return parsed.error();
    if (!piece.empty() || parser->now() == phase::done) co_return std::string_view(piece);
    // The parser takes a chunk's header or trailer only whole; everything else it takes as it comes.
    if (pending.size() >= most_unparsed)
      co_return error{errc::protocol, "a chunk header or trailer is too long"};
    auto read = co_await read_more(until);
    if (read.has_error()) co_return read.error();
  }
}

answer_stream::answer_stream() = default;
answer_stream::~answer_stream() = default;
answer_stream::answer_stream(answer_stream&&) noexcept = default;
answer_stream& answer_stream::operator=(answer_stream&&) noexcept = default;

const answer& answer_stream::head() const { return impl_->parser->head(); }

task<result<std::string_view>> answer_stream::next(deadline until) { return impl_->next(until); }

struct client::impl {
  using connection = std::unique_ptr<answer_stream::impl>;

  task<result<connection>> connect(std::shared_ptr<SSL_CTX> security, deadline until);
  task<result<connection>> open(const call& what, deadline until);
  void keep(connection c);

  server_address to;
  std::function<std::shared_ptr<SSL_CTX>()> tls;
  std::string user_agent;
  async::idle_connections<answer_stream::impl> idle{most_idle};
};

void client::impl::keep(connection c) {
  if (c->reusable()) idle.keep(std::move(c), std::chrono::steady_clock::now());
}

task<result<client::impl::connection>> client::impl::connect(std::shared_ptr<SSL_CTX> security,
                                                             deadline until) {
  auto made = co_await async::connect(to.host, to.port, security, to.server_name, until);
  if (made.has_error()) co_return made.error();
  co_return std::make_unique<answer_stream::impl>(std::move(*made), std::move(security));
}

task<result<client::impl::connection>> client::impl::open(const call& what, deadline until) {
  for (;;) {
    std::shared_ptr<SSL_CTX> security = tls ? tls() : nullptr;
    connection c = idle.take(security, std::chrono::steady_clock::now());
    const bool kept = c != nullptr;
    if (!kept) {
      auto made = co_await connect(std::move(security), until);
      if (made.has_error()) co_return made.error();
      c = std::move(*made);
    }
    auto begun = co_await c->begin(text_of(what, to, user_agent), what.most_bytes, until);
    if (begun.has_value()) co_return c;
    const bool was_closing = kept && !c->answered && begun.error().code == errc::disconnected;
    if (!was_closing || !what.repeatable) co_return begun.error();
  }
}

client::client(server_address to, std::function<std::shared_ptr<SSL_CTX>()> tls, std::string user_agent)
    : impl_(std::make_shared<impl>()) {
  impl_->to = std::move(to);
  impl_->tls = std::move(tls);
  impl_->user_agent = std::move(user_agent);
}
client::~client() = default;

task<result<answer>> client::ask(call what, deadline until) {
  const std::shared_ptr<impl> self = impl_;
  auto opened = co_await self->open(what, until);
  if (opened.has_error()) co_return opened.error();
  impl::connection c = std::move(*opened);
  answer out = c->parser->head();
  for (;;) {
    auto piece = co_await c->next(until);
    if (piece.has_error()) co_return piece.error();
    if (piece->empty()) break;
    if (what.take && out.status == 200) {
      what.take(*piece);
    } else {
      out.body += *piece;
    }
  }
  self->keep(std::move(c));
  co_return out;
}

task<result<answer_stream>> client::open(call what, deadline until) {
  const std::shared_ptr<impl> self = impl_;
  auto opened = co_await self->open(what, until);
  if (opened.has_error()) co_return opened.error();
  answer_stream out;
  out.impl_ = std::move(*opened);
  co_return out;
}

}  // namespace binnacle::http
