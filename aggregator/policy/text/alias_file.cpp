#include "aggregator/policy/text/alias_file.hpp"

#include "aggregator/policy/text/alias_yaml.hpp"
#include "aggregator/policy/text/documents.hpp"

#include <utility>

namespace binnacle::policy {

alias_file::alias_file(std::string path)
    : path_(std::move(path)), table_(std::make_shared<const metrics::alias_table>()) {}

bool alias_file::refresh() {
  if (path_.empty()) return false;
  std::string text;
  const auto news = file_.look(path_, text);
  if (news == followed_file::news::none) return false;
  problems_.clear();
  if (news == followed_file::news::trouble) {
    problems_.push_back({path_, 0, {}, file_.trouble() + "; check --aliases and who may read the file"});
    return true;
  }
  if (documents_in(text).empty() && table_->own() > 0) {
    problems_.push_back({path_, 0, {}, "the file is empty now: write [] to remove its aliases"});
    return true;
  }
  auto fresh = std::make_shared<metrics::alias_table>();
  problems_ = parse_aliases(path_, text, *fresh);
  std::erase_if(problems_, [](const problem& p) { return p.level != severity::error; });
  if (problems_.empty()) table_ = std::move(fresh);
  return true;
}

}  // namespace binnacle::policy
