#pragma once

#include "common/http/message.hpp"
#include "common/http/text_pieces.hpp"
#include "common/text/json_writer.hpp"

#include <cstddef>

namespace binnacle::ops {

/// A long JSON answer that is made in slices.
class json_pieces {
 public:
  json_pieces() = default;
  json_pieces(const json_pieces&) = delete;  // out_ writes into pieces_
  json_pieces& operator=(const json_pieces&) = delete;

  json_writer& out() noexcept { return out_; }
  std::size_t bytes() const noexcept { return pieces_.bytes(); }
  /// Call it at the end of a slice.
  void end_slice() { pieces_.end_slice(); }
  /// The answer, with a line feed at its end.
  http::response take() {
    pieces_.text() += '\n';
    http::response a;
    a.body = pieces_.take();
    return a;
  }

 private:
  http::text_pieces pieces_;
  json_writer out_{pieces_.text()};
};

}  // namespace binnacle::ops
