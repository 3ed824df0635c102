#pragma once

#include "agent/ipmi/protocol/protocol.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::ipmi {

/// Bytes as they come, to lines as decode_from_…() takes them. Holds one line and what came with it.
class line_buffer {
 public:
  void append(std::string_view bytes) {
    text_.erase(0, begin_);
    begin_ = 0;
    text_ += bytes;
  }

  /// The next whole line without its line feed (empty ones are left out), valid until the next call of
  /// either; nothing: more bytes are needed. Errors: protocol, a line longer than max_line; end the session
  /// then.
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
  std::size_t begin_ = 0;  // of what has not been given out
};

}  // namespace binnacle::ipmi
