#include "common/http/request_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <limits>

namespace binnacle::http {

namespace beast = boost::beast;
using beast::error_code;

struct request_parser::impl final : beast::http::basic_parser<true> {
  explicit impl(std::size_t limit) : header_limit_bytes(limit) {
    header_limit(
        static_cast<std::uint32_t>(std::min<std::size_t>(limit, std::numeric_limits<std::uint32_t>::max())));
    body_limit(boost::none);  // ours: known only after routing
  }

  void stop(error_code& ec) { ec = beast::http::make_error_code(beast::http::error::end_of_stream); }
  void fail(unsigned code, std::string_view sentence) {
    if (now == phase::refused) return;
    now = phase::refused;
    status = code;
    why = sentence;
  }

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int version,
                       error_code&) override {
    is_head = method == "HEAD";
    head.method = is_head ? "GET" : std::string(method);
    head.target = std::string(target);
    is_http10 = version < 11;
  }

  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value,
                     error_code& ec) override {
    if (now != phase::head) return;  // a trailer: nothing of ours uses them
    std::string lowered(name);
    for (char& c : lowered) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    head.headers.emplace_back(std::move(lowered), std::string(value));
    if (field == beast::http::field::transfer_encoding && (is_http10 || !beast::iequals(value, "chunked"))) {
      fail(501, "the only transfer encoding served is chunked, in HTTP/1.1");
      stop(ec);
    }
    chunked = chunked || field == beast::http::field::transfer_encoding;
    if (field == beast::http::field::expect) {
      if (!beast::iequals(value, "100-continue")) {
        fail(417, "the only expectation served is 100-continue");
        stop(ec);
      }
      expects_continue = !is_http10;
    }
  }

  void on_header_impl(error_code&) override { now = phase::body; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  void on_chunk_header_impl(std::uint64_t size, beast::string_view, error_code&) override {
    chunk_left = size;
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_finish_impl(error_code&) override {
    if (now == phase::body) now = phase::done;
  }

  std::size_t on_body_impl(beast::string_view piece, error_code& ec) override { return pass(piece, ec); }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view piece, error_code& ec) override {
    const auto taken = pass(piece, ec);
    chunk_left -= taken;
    return taken;
  }

  std::size_t pass(beast::string_view piece, error_code& ec) {
    if (piece.empty()) return 0;
    if (piece.size() > body_left) {
      fail(413, "the body is larger than this path takes");
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

  void translate(error_code ec) {
    using beast::http::error;
    if (ec == error::header_limit)
      return fail(431, "the request line and headers are larger than this server takes");
    if (ec == error::bad_version) return fail(505, "the request line does not say HTTP/1.0 or HTTP/1.1");
    if (ec == error::bad_transfer_encoding || ec == error::bad_content_length ||
        ec == error::multiple_content_length) {
      return fail(400, "Content-Length and Transfer-Encoding contradict one another or are malformed");
    }
    if (ec == error::bad_chunk || ec == error::bad_chunk_extension)
      return fail(400, "the chunked body is malformed");
    fail(400, now == phase::head ? "the request line or a header is malformed" : "the request is malformed");
  }

  const std::size_t header_limit_bytes;
  std::size_t head_bytes = 0;
  std::uint64_t body_left = 0;
  std::uint64_t chunk_left = 0;
  const sink* to = nullptr;
  phase now = phase::head;
  request head;
  bool is_head = false, is_http10 = false, expects_continue = false, chunked = false;
  unsigned status = 400;
  std::string why;
};

request_parser::request_parser(std::size_t header_limit) : impl_(std::make_unique<impl>(header_limit)) {}
request_parser::~request_parser() = default;

std::size_t request_parser::feed(std::string_view bytes, const sink& to) {
  impl& p = *impl_;
  const bool in_head = p.now == phase::head;
  p.to = &to;
  std::size_t used = 0;
  while (used < bytes.size() && (p.now == phase::body || p.now == phase::head)) {
    // Beast 1.81 asserts that the last chunk's header does not come in less than "0\r\n\r\n"; nothing shorter
    // can follow here.
    if (p.now == phase::body && p.chunked && p.chunk_left == 0 && bytes.size() - used < 5) break;
    error_code ec;
    const auto n = p.put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used), ec);
    used += n;
    if (in_head) {
      // Beast applies its limit to what is not yet consumed, so a head that drips in could grow for ever.
      p.head_bytes += n;
      const auto pending = p.now == phase::head ? bytes.size() - used : 0;
      if (p.head_bytes + pending > p.header_limit_bytes) {
        p.fail(431, "the request line and headers are larger than this server takes");
      }
    }
    if (ec == beast::http::error::need_more) break;
    if (ec && p.now != phase::stopped) p.translate(ec);
    if (in_head && p.now != phase::head) break;
  }
  return used;
}

void request_parser::limit_body(std::size_t bytes) {
  impl_->body_left = bytes;
  if (const auto announced = content_length(); impl_->now == phase::body && announced && *announced > bytes) {
    impl_->fail(413, "the body is larger than this path takes");
  }
}

void request_parser::refuse(unsigned status, std::string_view why) { impl_->fail(status, why); }
request_parser::phase request_parser::now() const noexcept { return impl_->now; }
request& request_parser::head() noexcept { return impl_->head; }
bool request_parser::is_head_request() const noexcept { return impl_->is_head; }
bool request_parser::is_http10() const noexcept { return impl_->is_http10; }
bool request_parser::keep_alive() const { return impl_->is_header_done() && impl_->keep_alive(); }
bool request_parser::expects_continue() const noexcept { return impl_->expects_continue; }
std::optional<std::uint64_t> request_parser::content_length() const {
  if (!impl_->is_header_done()) return std::nullopt;
  const auto announced = impl_->content_length();
  return announced ? std::optional(*announced) : std::nullopt;
}
unsigned request_parser::status() const noexcept { return impl_->status; }
const std::string& request_parser::why() const noexcept { return impl_->why; }

}  // namespace binnacle::http
