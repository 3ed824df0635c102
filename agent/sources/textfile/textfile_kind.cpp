#include "agent/sources/textfile/textfile_kind.hpp"

#include <filesystem>
#include <sys/stat.h>
#include <system_error>

namespace binnacle::agent {
namespace {

constexpr std::size_t most_files_tried = 256;

}  // namespace

void textfile_kind::bind(config_spec& spec) {
  spec.group("textfile: users' *.prom files");
  add_period(spec, name(), period_);
  spec.add("textfile-directory", folder_, "folder of *.prom files; empty: the source textfile is off");
}

void textfile_kind::add_needs(const settings& /*s*/, source_needs& needs) const {
  if (folder_.empty()) return;
  needs.files.push_back(folder_);
  std::size_t tried = 0;
  std::error_code bad;
  for (std::filesystem::directory_iterator it(folder_, bad), end;
       !bad && it != end && tried < most_files_tried; it.increment(bad)) {
    struct ::stat entry {};
    if (it->path().extension() != ".prom" || ::lstat(it->path().c_str(), &entry) != 0) continue;
    if (!S_ISREG(entry.st_mode) && entry.st_uid != 0) continue;
    needs.files.push_back(it->path());
    ++tried;
  }
}

std::unique_ptr<source> textfile_kind::make(const settings& s, const source_parts& with) const {
  if (folder_.empty()) return nullptr;
  textfile_options o;
  o.folder = folder_;
  o.period = s.period_of(period_);
  o.names = with.names;
  return std::make_unique<textfile_source>(std::move(o));
}

std::vector<finding> textfile_kind::why_not_made() const {
  return {{finding::grade::absent, "*.prom files of users", "no folder is configured",
           "set textfile-directory to a folder, if you want any other number from this node"}};
}

}  // namespace binnacle::agent
