#pragma once

#include <string>
#include <string_view>

namespace binnacle {

/// For a fault that is checked again and again: it is logged once and not again while it stays the same.
/// Pure.
class said_once {
 public:
  /// `trouble` is the present fault; empty: none. True if it differs from the last call: log it.
  bool is_news(std::string_view trouble) {
    if (trouble == text_) return false;
    text_ = trouble;
    return true;
  }
  /// The fault is over. The next fault is news, even if it is the same.
  void clear() noexcept { text_.clear(); }
  /// The fault at the last call.
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace binnacle
