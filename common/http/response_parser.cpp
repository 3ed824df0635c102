#include "common/http/response_parser.hpp"

#include "common/http/body_parser.hpp"
#include "common/text/text.hpp"

#include <algorithm>

namespace binnacle::http {

namespace beast = boost::beast;
using beast::error_code;

const std::string* answer::header(std::string_view name) const noexcept {
  const auto at =
      std::find_if(headers.begin(), headers.end(), [&](const auto& h) { return h.first == name; });
  return at == headers.end() ? nullptr : &at->second;
}

struct response_parser::impl final : body_parser<false> {
  using body_parser::body_parser;

  void refuse(errc code, std::string_view sentence) {
    if (now == phase::refused) return;
    now = phase::refused;
    why = {code, std::string(sentence)};
  }

  void fail(unsigned status, std::string_view sentence) override {
    refuse(status == 413 ? errc::overloaded : errc::protocol, sentence);
  }

  void translate(error_code ec) override {
    fail(0, "what answered does not speak HTTP/1.1: " + ec.message());
  }

  void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int, error_code&) override {
  }

  void on_response_impl(int status, beast::string_view, int, error_code& ec) override {
    head.status = static_cast<unsigned>(status);
    if (head.status >= 100 && head.status != 101) return;
    fail(0, head.status == 101 ? "the server wants to speak another protocol, which nobody asked for"
                               : "what answered does not speak HTTP/1.1: its status is below 100");
    stop(ec);
  }

  void on_field_impl(beast::http::field field, beast::string_view name, beast::string_view value,
                     error_code& ec) override {
    if (now != phase::head) return;  // a trailer: we use none
    head.headers.emplace_back(lowered(name), std::string(value));
    if (field != beast::http::field::transfer_encoding) return;
    chunked = true;
    if (beast::iequals(value, "chunked")) return;
    fail(0, "the answer has a transfer encoding that nobody asked for");
    stop(ec);
  }

  answer head;
  error why;
};

response_parser::response_parser(std::size_t header_limit) : impl_(std::make_unique<impl>(header_limit)) {}
response_parser::~response_parser() = default;

std::size_t response_parser::feed(std::string_view bytes, const sink& to) {
  std::size_t used = impl_->feed(bytes, to);
  // After an informational answer, which is a head alone, comes another one.
  while (impl_->now == phase::done && impl_->head.status < 200) {
    if (++informational_ > most_informational) {
      impl_->refuse(errc::protocol, "the server sent too many HTTP 1xx answers and no other");
      break;
    }
    impl_ = std::make_unique<impl>(impl_->header_limit_bytes);
    used += impl_->feed(bytes.substr(used), to);
  }
  return used;
}

void response_parser::end() {
  if (impl_->now != phase::head && impl_->now != phase::body) return;
  error_code ec;
  if (impl_->now == phase::body) impl_->put_eof(ec);
  if (impl_->now != phase::done)
    impl_->refuse(errc::disconnected, "the connection ended in the middle of the answer");
}

void response_parser::limit_body(std::size_t bytes) {
  impl_->body_left = bytes;
  if (!impl_->is_header_done()) return;
  const auto announced = impl_->content_length();
  if (impl_->now == phase::body && announced && *announced > bytes)
    impl_->refuse(errc::overloaded, "the answer is larger than what is taken here");
}

response_parser::phase response_parser::now() const noexcept { return impl_->now; }
answer& response_parser::head() noexcept { return impl_->head; }
bool response_parser::keep_alive() const {
  return impl_->now == phase::done && impl_->is_header_done() && impl_->keep_alive();
}
const error& response_parser::why() const noexcept { return impl_->why; }

}  // namespace binnacle::http
