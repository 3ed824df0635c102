#include "common/text/load_yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>

namespace binnacle {
namespace {

/// Follows a document as far as it can be parsed, and keeps where its last scalar began and how long it is.
class last_scalar_heard final : public YAML::EventHandler {
 public:
  std::optional<YAML::Mark> at;
  std::size_t length = 0;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark& m, const std::string&, YAML::anchor_t, const std::string& value) override {
    at = m;
    length = value.size();
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}
};

/// The position of the quote that closes the one at `open`; npos if there is none.
std::size_t closing(const std::string& text, std::size_t open) {
  const char quote = text[open];
  for (std::size_t at = open + 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      const bool doubled = quote == '\'' && at + 1 < text.size() && text[at + 1] == quote;
      if (!doubled) return at;
      ++at;
    }
  }
  return text.npos;
}

std::size_t index_of(const YAML::Mark& m) {
  return m.is_null() ? std::string::npos : static_cast<std::size_t>(m.pos);
}

bool is_quote(const std::string& text, std::size_t at) {
  return at < text.size() && (text[at] == '"' || text[at] == '\'');
}

/// The error for a forgotten quote: the one at `open` is closed only at `close`.
YAML::ParserException forgotten(const std::string& text, std::size_t open, std::size_t close) {
  const auto begin = text.begin(), opens = begin + static_cast<std::ptrdiff_t>(open);
  YAML::Mark at;
  at.pos = static_cast<int>(open);
  at.line = static_cast<int>(std::count(begin, opens, '\n'));
  at.column = static_cast<int>(open - (open == 0 ? 0 : text.rfind('\n', open - 1) + 1));
  std::string where = "never closed";
  if (close != text.npos) {
    const auto lines = std::count(opens, begin + static_cast<std::ptrdiff_t>(close), '\n');
    where = fmt::format("closed only {} below", lines == 1 ? "one line" : fmt::format("{} lines", lines));
  }
  return {at, fmt::format("the {} quote that opens here is {}: write another at the end of its text",
                          text[open] == '"' ? "double" : "single", where)};
}

/// If a forgotten quote caused the error `e`: an error that says so. Nothing if no quote caused it.
std::optional<YAML::ParserException> quote_behind(const YAML::ParserException& e, const std::string& text) {
  last_scalar_heard heard;
  try {
    std::istringstream in(text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(heard)) {
    }
  } catch (const YAML::ParserException&) {
    // This is the error `e` again: the text was read again only to learn what comes before the fault.
  }
  const std::size_t fault = index_of(e.mark);
  // Either the last scalar that was read has swallowed the text behind it...
  std::size_t open = heard.at ? index_of(*heard.at) : 0;
  if (is_quote(text, open)) {
    const std::size_t close = closing(text, open);
    if (close == text.npos) return forgotten(text, open, close);
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(open);
    const auto to = text.begin() + static_cast<std::ptrdiff_t>(close);
    const bool ends_at_the_fault = fault > close && fault < text.size() &&
                                   std::find(to, text.begin() + static_cast<std::ptrdiff_t>(fault), '\n') ==
                                       text.begin() + static_cast<std::ptrdiff_t>(fault);
    if (ends_at_the_fault && std::find(from, to, '\n') != to) return forgotten(text, open, close);
    open = close + 1;
  } else {
    open += heard.length;
  }
  // ... or the fault lies inside the next scalar.
  if (e.msg != YAML::ErrorMsg::EOF_IN_SCALAR && e.msg != YAML::ErrorMsg::DOC_IN_SCALAR) return std::nullopt;
  while ((open = text.find_first_of("\"'", open)) < fault) {
    const std::size_t close = closing(text, open);
    if (close >= fault) return forgotten(text, open, text.npos);
    open = close + 1;
  }
  return std::nullopt;
}

/// Where the last element of a document begins, if it is a scalar.
std::optional<YAML::Mark> last_scalar(YAML::Node node) {
  constexpr int deepest = 1000;  // an alias may stand inside its own anchor
  for (int depth = 0; depth < deepest; ++depth) {
    if (node.IsScalar()) return node.Mark();
    if (!node.IsDefined() || node.IsNull() || node.size() == 0) return std::nullopt;
    if (node.IsSequence()) {
      node.reset(node[node.size() - 1]);
      continue;
    }
    auto last = node.begin();
    for (std::size_t i = 1; i < node.size(); ++i) ++last;
    node.reset(last->second.IsNull() ? YAML::Node(last->first) : YAML::Node(last->second));
  }
  return std::nullopt;
}

template <class Load>
std::vector<YAML::Node> checked(const std::string& text, Load load) {
  std::vector<YAML::Node> documents;
  try {
    documents = load();
  } catch (const YAML::ParserException& e) {
    if (const auto quote = quote_behind(e, text)) throw *quote;
    throw;
  }
  const auto last = documents.empty() ? std::nullopt : last_scalar(documents.back());
  const std::size_t open = last ? index_of(*last) : text.npos;
  if (is_quote(text, open) && closing(text, open) == text.npos) throw forgotten(text, open, text.npos);
  return documents;
}

}  // namespace

YAML::Node load_yaml(const std::string& text) {
  return checked(text, [&] { return std::vector<YAML::Node>{YAML::Load(text)}; }).front();
}

std::vector<YAML::Node> load_all_yaml(const std::string& text) {
  return checked(text, [&] { return YAML::LoadAll(text); });
}

}  // namespace binnacle
