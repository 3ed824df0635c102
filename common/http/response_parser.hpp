#pragma once

#include "common/error.hpp"
#include "common/http/request_parser.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::http {

/// An answer as a client gets it.
struct answer {
  unsigned status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names lower-cased
  std::string body;

  /// First value of that header (lower-case name); null if absent.
  const std::string* header(std::string_view name) const noexcept;
};

/// Bytes in, one answer out: no sockets, no waiting. Stops after the head. One parser for each answer.
/// Informational answers before it (100 Continue, 103 Early Hints…) are skipped, as RFC 9110 (15.2) wants it:
/// a server may send them unasked. 101 is refused.
class response_parser {
 public:
  /// More informational answers are refused.
  static constexpr unsigned most_informational = 16;

  using phase = request_parser::phase;
  using sink = request_parser::sink;

  /// `header_limit` in bytes of each head, status line included.
  explicit response_parser(std::size_t header_limit = 64u << 10);
  ~response_parser();

  /// Takes what it can from the front of `bytes` and returns how many bytes it took. The caller must show the
  /// rest again, with more bytes behind it. Pieces of the body go to `to` uncopied. Returns early when the
  /// head is complete.
  std::size_t feed(std::string_view bytes, const sink& to);
  /// Call it when the peer has ended the connection. This completes a body of unknown length; any other
  /// answer is cut off.
  void end();
  /// A body of more bytes than this is refused, at once if that many are announced. Call after the head.
  void limit_body(std::size_t bytes);

  phase now() const noexcept;
  /// Status and headers; the body is left to the sink.
  answer& head() noexcept;
  /// Whether the connection can take another request after this answer.
  bool keep_alive() const;
  /// Why the answer was `refused`: protocol, overloaded (too large), disconnected (ended in the middle).
  const error& why() const noexcept;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
  unsigned informational_ = 0;  // answers that were skipped
};

}  // namespace binnacle::http
