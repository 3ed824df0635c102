#pragma once

#include "common/http/message.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace binnacle::http {

/// Bytes in, one request out: no sockets, no waiting. Stops after the head, so that the body's limit and
/// destination can be chosen by what is asked for. One parser for each request.
class request_parser {
 public:
  enum class phase : unsigned char {
    head,     ///< request line and headers are not complete
    body,     ///< head() is there, more of the body is to come
    done,     ///< the request is complete; bytes left over begin the next one
    refused,  ///< see status() and why(); the connection cannot go on
    stopped,  ///< the sink wanted no more
  };
  /// Takes the next piece of the body; false ends the reading.
  using sink = std::function<bool(std::string_view)>;

  /// `header_limit` in bytes, request line included.
  explicit request_parser(std::size_t header_limit);
  ~request_parser();

  /// Takes what it can from the front of `bytes` and returns how much; what it leaves must come again with
  /// more behind it. Body pieces go to `to`, uncopied. Returns early when the head is complete.
  std::size_t feed(std::string_view bytes, const sink& to);
  /// More bytes than this are refused with 413: at once if that many are announced. Call after the head.
  void limit_body(std::size_t bytes);
  /// Ends the parsing with an answer that the server wants to give (also what the parser itself uses).
  void refuse(unsigned status, std::string_view why);

  phase now() const noexcept;
  /// Method, headers and raw target; target not yet decoded (parse_target).
  request& head() noexcept;
  bool is_head_request() const noexcept;  ///< HEAD, shown to handlers as GET
  bool is_http10() const noexcept;
  bool keep_alive() const;
  bool expects_continue() const noexcept;
  /// Announced length of the body; nothing when chunked.
  std::optional<std::uint64_t> content_length() const;
  unsigned status() const noexcept;
  const std::string& why() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::http
