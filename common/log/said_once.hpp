#pragma once

#include <string>
#include <string_view>

namespace binnacle {

/// Has a trouble logged once for as long as it stays the same, however often it is looked at. Pure.
class said_once {
 public:
  /// `trouble` is what is wrong now; empty: nothing. True if it differs from the last look: log it.
  bool is_news(std::string_view trouble) {
    if (trouble == text_) return false;
    text_ = trouble;
    return true;
  }
  /// It is over: the next one is news, whatever it is.
  void clear() noexcept { text_.clear(); }
  /// What was wrong at the last look.
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace binnacle
