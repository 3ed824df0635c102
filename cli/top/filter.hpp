#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::top {

/// What stands behind "/": words that must all be found in a node's words; "!word" must not. Case does not
/// matter. An empty filter takes everything.
class filter {
 public:
  explicit filter(std::string_view text = {});
  /// `words` in lower case.
  bool takes(std::string_view words) const noexcept;
  /// What stands before "=" in its words, in lower case: the ends of labels' keys.
  std::vector<std::string> label_keys() const;

 private:
  std::vector<std::string> wanted_, refused_;
};

}  // namespace binnacle::cli::top
