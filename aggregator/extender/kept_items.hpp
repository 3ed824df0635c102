#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::extender {

/// The raw JSON of node objects that go back to the scheduler, separated by commas, in pieces of about a
/// megabyte. Whether a node is refused is known only at the end of its object. So its bytes are added as they
/// come, and taken back if it is refused. Nothing is copied into one buffer; the pieces are the answer's
/// body.
class kept_items {
 public:
  /// `head` goes in front of the first item.
  explicit kept_items(std::string head = {}) : begun_(head.size()) { pieces_.push_back(std::move(head)); }

  /// More bytes of the current item.
  void append(std::string_view bytes);
  /// The current item stays; the next append() begins another.
  void keep();
  /// The current item is taken back.
  void drop();

  std::size_t count() const noexcept { return count_; }
  std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the pieces, with `tail` after the last one, and leaves this object empty.
  std::vector<std::string> take(std::string_view tail);

 private:
  static constexpr std::size_t piece_size = 1u << 20;

  std::vector<std::string> pieces_;
  std::size_t begun_ = 0;  // where in the last piece the current item begins
  bool inside_ = false;    // an item is under way
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;  // of all pieces
};

}  // namespace binnacle::extender
