#include "cli/top/filter.hpp"

#include "common/text/text.hpp"

#include <algorithm>

namespace binnacle::cli::top {

filter::filter(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool refuses = word.starts_with('!');
    if (refuses) word.remove_prefix(1);
    if (!word.empty()) (refuses ? refused_ : wanted_).push_back(lowered(word));
  }
}

bool filter::takes(std::string_view words) const noexcept {
  const auto found = [&](const std::string& word) { return words.find(word) != words.npos; };
  return std::ranges::all_of(wanted_, found) && std::ranges::none_of(refused_, found);
}

std::vector<std::string> filter::label_keys() const {
  std::vector<std::string> keys;
  for (const auto* words : {&wanted_, &refused_}) {
    for (const std::string& word : *words) {
      const auto end = word.find('=');
      if (end != word.npos && end > 0) keys.push_back(word.substr(0, end));
    }
  }
  return keys;
}

}  // namespace binnacle::cli::top
