#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::top {

/// The filter typed after "/". All its words must occur in a node's text; "!word" must not occur. Case does
/// not matter. An empty filter lets every node through.
class filter {
 public:
  explicit filter(std::string_view text = {});
  /// `words` must be in lower case.
  bool takes(std::string_view words) const noexcept;
  /// For each word with "=", the part before it, in lower case: the end of a label's key.
  std::vector<std::string> label_keys() const;

 private:
  std::vector<std::string> wanted_, refused_;
};

}  // namespace binnacle::cli::top
