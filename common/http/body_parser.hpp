#pragma once

#include "common/http/request_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

// Private to request_parser.cpp and response_parser.cpp.
namespace binnacle::http {

/// The common part of the parsers of requests and responses: a head of limited size, then a body whose pieces
/// go to a sink uncopied.
template <bool IsRequest>
struct body_parser : boost::beast::http::basic_parser<IsRequest> {
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;
  using phase = request_parser::phase;
  using sink = request_parser::sink;

  explicit body_parser(std::size_t limit) : header_limit_bytes(limit) {
    this->header_limit(
        static_cast<std::uint32_t>(std::min<std::size_t>(limit, std::numeric_limits<std::uint32_t>::max())));
    this->body_limit(boost::none);  // the subclass limits the body once the head is known
  }

  /// Ends the parsing. The fault is given as the status that a server would answer.
  virtual void fail(unsigned status, std::string_view sentence) = 0;
  /// The same for an error that Beast found.
  virtual void translate(error_code ec) = 0;

  void stop(error_code& ec) {
    ec = boost::beast::http::make_error_code(boost::beast::http::error::end_of_stream);
  }

  void on_header_impl(error_code&) override { now = phase::body; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  void on_chunk_header_impl(std::uint64_t size, string_view, error_code&) override { chunk_left = size; }
  void on_finish_impl(error_code&) override {
    if (now == phase::body) now = phase::done;
  }
  std::size_t on_body_impl(string_view piece, error_code& ec) override { return pass(piece, ec); }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view piece, error_code& ec) override {
    const auto taken = pass(piece, ec);
    chunk_left -= taken;
    return taken;
  }

  std::size_t pass(string_view piece, error_code& ec) {
    if (piece.empty()) return 0;
    if (piece.size() > body_left) {
      fail(413, "the body is larger than what is taken here");
      stop(ec);
      return 0;
    }
    body_left -= piece.size();
    if (!(*to)({piece.data(), piece.size()})) {
      if (now == phase::body) now = phase::stopped;
      stop(ec);
    }
    return piece.size();
  }

  /// Whether a chunk's header may begin like this: the end of the previous chunk, then hex digits. Beast
  /// reports a wrong header only when the line is complete and something follows it, and looks at an
  /// incomplete one from its beginning again for each byte that comes. So zeros before the number have an
  /// end, too.
  static bool may_begin_chunk(std::string_view bytes) noexcept {
    if (bytes.starts_with('\r')) bytes.remove_prefix(bytes.starts_with("\r\n") ? 2 : 1);
    const auto digits = std::min(bytes.find_first_not_of("0123456789abcdefABCDEF"), bytes.size());
    if (digits > 64) return false;
    return digits == bytes.size() ||
           (digits > 0 && std::string_view("; \t\r").find(bytes[digits]) != std::string_view::npos);
  }

  /// See request_parser::feed().
  std::size_t feed(std::string_view bytes, const sink& pieces_to) {
    const bool in_head = now == phase::head;
    to = &pieces_to;
    std::size_t used = 0;
    while (used < bytes.size() && (now == phase::body || now == phase::head)) {
      const bool at_chunk = now == phase::body && chunked && chunk_left == 0;
      if (at_chunk && !may_begin_chunk(bytes.substr(used))) {
        fail(400, "the chunked body is malformed");
        break;
      }
      // Beast 1.81 asserts that it gets the last chunk's header in at least 5 bytes ("0\r\n\r\n"). The rest
      // of a body is never shorter, so wait for 5 bytes.
      if (at_chunk && bytes.size() - used < 5) break;
      error_code ec;
      const auto n = this->put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used), ec);
      used += n;
      if (in_head) {
        // Beast applies its limit only to the bytes not yet consumed, so a head that comes byte by byte could
        // grow for ever.
        head_bytes += n;
        const auto pending = now == phase::head ? bytes.size() - used : 0;
        if (head_bytes + pending > header_limit_bytes)
          fail(431, "the first line and the headers are too large");
      }
      if (ec == boost::beast::http::error::need_more) break;
      if (ec && now != phase::stopped) translate(ec);
      if (in_head && now != phase::head) break;
    }
    return used;
  }

  const std::size_t header_limit_bytes;
  std::size_t head_bytes = 0;
  std::uint64_t body_left = 0;
  std::uint64_t chunk_left = 0;
  const sink* to = nullptr;
  phase now = phase::head;
  bool chunked = false;
};

}  // namespace binnacle::http
