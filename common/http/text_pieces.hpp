#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::http {

/// The body of a long answer that is made in slices. It is kept in pieces: one text that doubles its memory
/// again and again would be copied each time, and the copy of a text of 32 MiB makes a long slice.
class text_pieces {
 public:
  static constexpr std::size_t piece = std::size_t{256} << 10;
  static constexpr std::size_t room = piece + piece / 2;  ///< of a text, for a slice that goes beyond a piece

  /// What is written to. Its address stays the same.
  std::string& text() noexcept { return text_; }
  std::size_t bytes() const noexcept { return bytes_ + text_.size(); }
  /// Call it at the end of a slice.
  void end_slice() {
    if (text_.size() < piece) return;
    bytes_ += text_.size();
    pieces_.push_back(std::exchange(text_, std::string()));
    text_.reserve(room);
  }
  /// The body, as response::body takes it. Nothing is left.
  std::vector<std::string> take() {
    bytes_ = 0;
    pieces_.push_back(std::exchange(text_, std::string()));
    return std::exchange(pieces_, {});
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t bytes_ = 0;  // of pieces_
  std::string text_;
};

}  // namespace binnacle::http
