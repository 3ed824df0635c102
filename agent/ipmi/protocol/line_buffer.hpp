#pragma once

#include "agent/ipmi/protocol/protocol.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::ipmi {

/// Cuts incoming bytes into lines for decode_from_…(). Holds one line and the bytes that came with it.
class line_buffer {
 public:
  void append(std::string_view bytes) {
    text_.erase(0, begin_);
    begin_ = 0;
    text_ += bytes;
  }

  /// The next whole line, without its line feed; empty lines are left out. The view is valid until the next
  /// call of either function. Nothing if more bytes are needed. Errors: protocol (a line longer than
  /// max_line); the session must then be ended.
  result<std::optional<std::string_view>> next() {
    for (;;) {
      const auto end = text_.find('\n', begin_);
      const auto length = (end == text_.npos ? text_.size() : end) - begin_;
      if (length > max_line) {
        return error{errc::protocol, "a line of more than " + std::to_string(max_line) + " bytes"};
      }
      if (end == text_.npos) return std::optional<std::string_view>();
      const auto line = std::string_view(text_).substr(begin_, length);
      begin_ = end + 1;
      if (!line.empty()) return std::optional(line);
    }
  }

 private:
  std::string text_;
  std::size_t begin_ = 0;  // where the bytes begin that were not returned yet
};

}  // namespace binnacle::ipmi
