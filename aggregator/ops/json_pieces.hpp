#pragma once

#include "common/http/message.hpp"
#include "common/text/json_writer.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::ops {

/// A long JSON answer that is made in slices. It is kept in pieces: one text that doubles its memory again
/// and again would be copied each time, and the copy of a text of 32 MiB makes a long slice.
class json_pieces {
 public:
  json_pieces() = default;
  json_pieces(const json_pieces&) = delete;  // out_ writes into text_
  json_pieces& operator=(const json_pieces&) = delete;

  json_writer& out() noexcept { return out_; }
  std::size_t bytes() const noexcept { return bytes_ + text_.size(); }
  /// Call it at the end of a slice.
  void end_slice() {
    if (text_.size() < piece) return;
    bytes_ += text_.size();
    pieces_.push_back(std::exchange(text_, std::string()));
    text_.reserve(piece + piece / 2);
  }
  /// The answer, with a line feed at its end.
  http::response take() {
    text_ += '\n';
    pieces_.push_back(std::move(text_));
    http::response a;
    a.body = std::move(pieces_);
    return a;
  }

 private:
  static constexpr std::size_t piece = 256u << 10;

  std::vector<std::string> pieces_;
  std::size_t bytes_ = 0;  // of pieces_
  std::string text_;
  json_writer out_{text_};
};

}  // namespace binnacle::ops
