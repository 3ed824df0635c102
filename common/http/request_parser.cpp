#include "common/http/request_parser.hpp"

#include "common/http/body_parser.hpp"
#include "common/text/text.hpp"

namespace binnacle::http {

namespace beast = boost::beast;
using beast::error_code;

struct request_parser::impl final : body_parser<true> {
  using body_parser::body_parser;

  void fail(unsigned code, std::string_view sentence) override {
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
    if (now != phase::head) return;  // a trailer: we use none
    if (field == beast::http::field::host && head.header("host") != nullptr) {
      fail(400, "the request has more than one Host");
      stop(ec);
      return;
    }
    head.headers.emplace_back(lowered(name), std::string(value));
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

  void on_response_impl(int, beast::string_view, int, error_code&) override {}

  void translate(error_code ec) override {
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

  request head;
  bool is_head = false, is_http10 = false, expects_continue = false;
  unsigned status = 400;
  std::string why;
};

request_parser::request_parser(std::size_t header_limit) : impl_(std::make_unique<impl>(header_limit)) {}
request_parser::~request_parser() = default;

std::size_t request_parser::feed(std::string_view bytes, const sink& to) { return impl_->feed(bytes, to); }

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
