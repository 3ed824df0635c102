#include "cli/input_file.hpp"

#include "common/system/read_file.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

namespace binnacle::cli {

result<std::string> input_file(const std::string& name, std::size_t most) {
  struct stat st {};
  if (name != "-" && stat(name.c_str(), &st) == 0) {
    if (S_ISDIR(st.st_mode)) return error{errc::invalid_input, "is a folder: name a file"};
    // Reading a device might never end.
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
      return error{errc::invalid_input, "is not a regular file: name one"};
  }
  auto text = name == "-" ? read_file(STDIN_FILENO, most) : read_file(name, most);
  if (text.has_value()) return text;
  switch (const errc code = text.error().code) {
    case errc::not_found:
    case errc::permission: return error{code, "cannot be read: does it exist, and may you read it?"};
    case errc::overloaded:
      return error{errc::invalid_input, fmt::format("has more than {} bytes: split it", most)};
    default: return error{code, fmt::format("cannot be read: {}", text.error().message)};
  }
}

}  // namespace binnacle::cli
