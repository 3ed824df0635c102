#pragma once

#include "common/http/message.hpp"

#include <string>
#include <string_view>

namespace binnacle::http {

/// Status line and headers of an answer, ending in the empty line. Control characters are removed from header
/// values, so that a client cannot make a handler send a header of the client's choice.
std::string head_of(const response& answer, bool keep_alive, bool http10);

/// The same for a body of unknown length: the body ends with the connection (RFC 9112 6.3, 8).
std::string head_of_live(const response& answer);

/// Bytes of the body.
std::size_t length_of(const response& answer);

/// Cuts an answer into pieces, one for each write. An answer of up to 64 KiB is one piece, so that its reader
/// wakes up once. Of a larger answer, the head and the beginning of the body share a TLS record, small pieces
/// are gathered into records, and large pieces go uncopied, at most 64 KiB at once.
class answer_slices {
 public:
  static constexpr std::size_t record = 16u << 10;
  static constexpr std::size_t largest = 64u << 10;

  /// `answer` must outlive the slices. `with_body` false: HEAD.
  answer_slices(const response& answer, std::string head, bool with_body);
  /// Empty when all has been given; valid until the next call.
  std::string_view next();

 private:
  std::string_view rest();  // the rest of the current piece

  const response& answer_;
  std::string gathered_;
  std::size_t gather_ = record;  // how much to gather at once
  bool given_ = false;           // next() has returned gathered_, so the next call starts it anew
  std::size_t piece_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace binnacle::http
