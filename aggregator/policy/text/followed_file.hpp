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
    none,     ///< all is as it was at the last look
    text,     ///< another text than before
    trouble,  ///< it cannot be read, for another reason than before: trouble() says why
  };
  /// Looks at the file; `text` is what it holds now, whenever that is news. Blocks: a stat, and reads what
  /// changed; never for a pipe or a device, which are trouble, as is a file of more than most_text_bytes.
  news look(const std::string& path, std::string& text);
  /// Why it cannot be read, with the remedy; empty while it can.
  const std::string& trouble() const noexcept { return trouble_; }

 private:
  news fail(std::string why);

  std::optional<file_stamp> when_read_;
  bool settled_ = false;  // old enough when read that a later write has another time
  std::string text_;      // while not settled: what was read
  std::string trouble_;
};

}  // namespace binnacle::policy
