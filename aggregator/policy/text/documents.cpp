#include "aggregator/policy/text/documents.hpp"

namespace binnacle::policy {
namespace {

/// Whether the line is this marker ("---" or "..."): nothing follows it but white space or, after "---", the
/// document's first words.
bool is_marker(std::string_view line, std::string_view marker) {
  return line.starts_with(marker) &&
         (line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r');
}

bool is_blank(std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with('%')) continue;  // a directive
    if (is_marker(line, "---") || is_marker(line, "...")) line.remove_prefix(3);
    const auto first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
  }
  return true;
}

}  // namespace

// Document markers at the start of a line cannot be part of any content. Source: YAML 1.2.2, rule
// c-forbidden.
std::vector<document> documents_in(std::string_view text) {
  std::vector<document> out;
  std::size_t begin = 0;
  int line_number = 0, first_line = 0;
  const auto close = [&](std::size_t end) {
    const std::string_view one = text.substr(begin, end - begin);
    if (!is_blank(one)) out.push_back({one, first_line});
    begin = end;
    first_line = line_number;
  };
  for (std::size_t at = 0; at < text.size() && out.size() <= most_documents;) {
    const auto end = text.find('\n', at);
    const std::string_view line = text.substr(at, end == std::string_view::npos ? end : end - at);
    const std::size_t next = end == std::string_view::npos ? text.size() : end + 1;
    if (is_marker(line, "---")) close(at);
    ++line_number;
    if (is_marker(line, "...")) close(next);
    at = next;
  }
  close(text.size());
  return out;
}

}  // namespace binnacle::policy
