#pragma once

#include <span>
#include <string_view>

namespace binnacle::cli::dashboard {

/// A file of the page. The build puts its contents into the program (embed.py).
struct asset {
  std::string_view path;  ///< "/style.css"; the page itself is "/"
  std::string_view content_type;
  std::string_view text;
};
std::span<const asset> assets();

}  // namespace binnacle::cli::dashboard
