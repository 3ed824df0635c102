#pragma once

#include "common/http/message.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::http {

/// Bytes in, one request out: no sockets, no waiting. It stops after the head, so that the caller can choose
/// the body's limit and destination by what the request asks for. Use one parser for each request.
class request_parser {
 public:
  enum class phase : unsigned char {
    head,     ///< the request line and the headers are not complete yet
    body,     ///< head() is complete; the body is not
    done,     ///< the request is complete; bytes left over begin the next one
    refused,  ///< see status() and why(); the connection cannot go on
    stopped,  ///< the sink wanted no more
  };
  /// Takes the next piece of the body; false ends the reading.
  using sink = std::function<bool(std::string_view)>;

  /// `header_limit`: bytes of the head, request line included.
  explicit request_parser(std::size_t header_limit);
  ~request_parser();

  /// Takes what it can from the front of `bytes` and returns how many bytes it took. The caller must show the
  /// rest again, with more bytes behind it. Pieces of the body go to `to` uncopied. Returns early when the
  /// head is complete.
  std::size_t feed(std::string_view bytes, const sink& to);
  /// A body of more bytes than this is refused with 413, at once if its announced length is larger. Call it
  /// after the head.
  void limit_body(std::size_t bytes);
  /// Ends the parsing with this answer. The server calls it for its own refusals; the parser uses it, too.
  void refuse(unsigned status, std::string_view why);

  phase now() const noexcept;
  /// Method, headers and raw target. The target is not decoded yet (parse_target).
  request& head() noexcept;
  bool is_head_request() const noexcept;  ///< HEAD, shown to handlers as GET
  bool is_http10() const noexcept;
  bool keep_alive() const;
  bool expects_continue() const noexcept;
  /// The announced length of the body; nothing for a chunked body.
  std::optional<std::uint64_t> content_length() const;
  unsigned status() const noexcept;
  const std::string& why() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::http
