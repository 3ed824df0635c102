#include "cli/input_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/stat.h>

namespace binnacle::cli {
namespace {

struct close_file {
  void operator()(std::FILE* f) const {
    if (f != stdin) std::fclose(f);
  }
};

error unread(int reason) {
  if (reason == ENOENT || reason == EACCES)
    return {reason == ENOENT ? errc::not_found : errc::permission,
            "cannot be read: does it exist, and may you read it?"};
  return {errc::io, fmt::format("cannot be read: {}", std::strerror(reason))};
}

}  // namespace

result<std::string> input_file(const std::string& name, std::size_t most) {
  struct stat st {};
  if (name != "-") {
    if (stat(name.c_str(), &st) != 0) return unread(errno);
    if (S_ISDIR(st.st_mode)) return error{errc::invalid_input, "is a folder: name a file"};
    // A device may never end.
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
      return error{errc::invalid_input, "is no regular file: name one"};
  }
  const std::unique_ptr<std::FILE, close_file> in(name == "-" ? stdin : std::fopen(name.c_str(), "rbe"));
  if (in == nullptr) return unread(errno);
  std::string text;
  char buffer[16 * 1024];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, in.get())) {
    text.append(buffer, n);
    if (text.size() > most)
      return error{errc::invalid_input, fmt::format("has more than {} bytes: split it", most)};
  }
  if (std::ferror(in.get()) != 0) return unread(errno);
  return text;
}

}  // namespace binnacle::cli
