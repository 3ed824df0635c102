#include "agent/sources/textfile/folder_entry.hpp"

#include <climits>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace binnacle::agent {

folder_entry folder_entry::look(const std::string& folder, const std::string& name) noexcept {
  const descriptor in(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!in) return {};
  folder_entry out;
  descriptor at(::openat(in.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!at || ::fstat(at.get(), &out.about_) != 0) return {};
  out.owner_ = out.about_.st_uid;
  if (S_ISLNK(out.about_.st_mode)) {
    // Reads the link that was opened above, not what may have the same name by now.
    std::array<char, PATH_MAX> to{};
    const auto length = ::readlinkat(at.get(), "", to.data(), to.size() - 1);
    if (length < 0) return {};
    at = descriptor(::openat(in.get(), to.data(), O_PATH | O_CLOEXEC));
    if (!at || ::fstat(at.get(), &out.about_) != 0) return {};
  }
  out.target_ = std::move(at);
  return out;
}

descriptor folder_entry::open() const noexcept {
  return open_readonly("/proc/self/fd/" + std::to_string(target_.get()));
}

}  // namespace binnacle::agent
