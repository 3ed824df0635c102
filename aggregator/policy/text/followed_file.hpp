#pragma once

#include "common/system/file_stamp.hpp"

#include <optional>
#include <string>

namespace binnacle::policy {

/// A text file that people write, looked at again and again. A file that changed within the last two seconds
/// is read again, since two writes may share one stamp.
class followed_file {
 public:
  enum class news {
    none,     ///< nothing has changed since the last look
    text,     ///< another text than before
    trouble,  ///< it cannot be read, for another reason than before: trouble() says why
  };
  /// Looks at the file. If its text is new, `text` gets it. Blocks for a stat, and for the reading of a
  /// changed file. A pipe, a device and a file of more than most_text_bytes are trouble and are not read.
  news look(const std::string& path, std::string& text);
  /// Why it cannot be read, with the remedy; empty while it can.
  const std::string& trouble() const noexcept { return trouble_; }

 private:
  news fail(std::string why);

  std::optional<file_stamp> when_read_;
  bool settled_ = false;  // the file was so old when it was read that any later write has another time
  std::string text_;      // while not settled: what was read
  std::string trouble_;
};

}  // namespace binnacle::policy
