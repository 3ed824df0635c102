#pragma once

#include <cstdint>
#include <string>

namespace binnacle::policy {

/// A text file that people write, looked at again and again.
///
/// Changes are found by stat(2) through links: size, times, inode. So an editor's rename, a write in place
/// and the swapped links of a mounted ConfigMap are all seen. A file that changed within the last two seconds
/// is read again, since two writes may share one time stamp.
class followed_file {
 public:
  enum class news {
    none,     ///< all is as it was at the last look
    text,     ///< another text than before
    trouble,  ///< it cannot be read, for another reason than before: trouble() says why
  };
  /// Looks at the file; `text` is what it holds now, whenever that is news, up to a byte more than
  /// most_text_bytes. Blocks: a stat, and reads what changed; never for a pipe or a device, which are
  /// trouble.
  news look(const std::string& path, std::string& text);
  /// Why it cannot be read, with the remedy; empty while it can.
  const std::string& trouble() const noexcept { return trouble_; }

 private:
  struct stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    friend bool operator==(const stamp&, const stamp&) = default;
  };
  news fail(std::string why);

  stamp when_read_;
  bool settled_ = false;  // old enough when read that a later write has another time
  std::string text_;      // while not settled: what was read
  std::string trouble_;
};

}  // namespace binnacle::policy
