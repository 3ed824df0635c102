#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace binnacle::policy {

constexpr std::size_t most_documents = 5'000;  ///< of one file

struct document {
  std::string_view text;
  int first_line = 0;  ///< lines of the file in front of it
};

/// The documents of a YAML stream, each apart, so that a mistake of syntax in one leaves the others alone.
/// Blanks, comments, directives and markers alone make no document: a file that an editor has emptied has
/// none. If there are more than most_documents, not all of them are told apart.
std::vector<document> documents_in(std::string_view text);

}  // namespace binnacle::policy
