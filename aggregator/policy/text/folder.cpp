#include "aggregator/policy/text/folder.hpp"

#include "common/system/os_error.hpp"
#include "common/text/first_few.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <memory>

namespace binnacle::policy {
namespace {

struct close_dir {
  void operator()(DIR* d) const { closedir(d); }
};

/// The names of a folder's policy files. Returns why it cannot be read to its end; empty: it was.
std::string read_names(const std::string& path, std::set<std::string>& out) {
  const std::unique_ptr<DIR, close_dir> dir(opendir(path.c_str()));
  if (!dir) return describe(errno);
  for (std::size_t entries = 0;; ++entries) {
    errno = 0;  // readdir(3) tells an error from the end only by errno
    const dirent* entry = readdir(dir.get());
    if (entry == nullptr) return errno == 0 ? std::string() : describe(errno);
    if (entries == folder::most_entries)
      return fmt::format("it has more than {} entries: move what is no policy elsewhere", entries);
    if (is_policy_file(entry->d_name)) out.insert(entry->d_name);
  }
}

std::string listed(std::vector<std::string> names) {
  for (std::string& name : names) name = in_quotes(name);
  return first_few(names, 3);
}

}  // namespace

bool is_policy_file(std::string_view name) {
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml"));
}

bool folder::refresh(policy_set& set) {
  std::set<std::string> names;
  std::string trouble;
  const std::string failed = read_names(path_, names);
  if (!failed.empty()) {
    trouble = fmt::format("the policy folder {} cannot be read: {}; what was read before stays in force",
                          path_, failed);
  } else if (names.size() > most_files) {
    const auto left_out = leave_out(names);
    trouble = fmt::format(
        "the policy folder {} has {} files, at most {} are read: {} are left out; put policies together, "
        "several in a file",
        path_, names.size() + left_out.size(), most_files, listed(left_out));
  }
  bool changed = trouble != trouble_;
  trouble_ = trouble;
  set.set_trouble(trouble);
  if (!failed.empty()) return changed;

  for (const std::string& name : names) changed = read(name, files_[name], set) || changed;
  set.forget_recalled();
  for (auto at = files_.begin(); at != files_.end();) {
    if (names.contains(at->first)) {
      ++at;
      continue;
    }
    set.remove(path_ + "/" + at->first);
    at = files_.erase(at);
    changed = true;
  }
  return changed;
}

std::vector<std::string> folder::leave_out(std::set<std::string>& names) const {
  const auto is_known = [this](const std::string& name) { return files_.contains(name); };
  std::size_t room = most_files - static_cast<std::size_t>(std::ranges::count_if(names, is_known));
  std::vector<std::string> out;
  for (auto at = names.begin(); at != names.end();) {
    if (is_known(*at)) {
      ++at;
    } else if (room > 0) {
      --room;
      ++at;
    } else {
      out.push_back(*at);
      at = names.erase(at);
    }
  }
  return out;
}

bool folder::read(const std::string& name, followed_file& file, policy_set& set) const {
  const std::string path = path_ + "/" + name;
  std::string text;
  switch (file.look(path, text)) {
    case followed_file::news::none: return false;
    case followed_file::news::text: set.put(path, text); break;
    case followed_file::news::trouble: set.unreadable(path, file.trouble()); break;
  }
  return true;
}

}  // namespace binnacle::policy
