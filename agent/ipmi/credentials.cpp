#include "agent/ipmi/credentials.hpp"

#include "common/system/os_error.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace binnacle::ipmi {
namespace {

// IPMI 2.0, 13.31 and 22.30: 16 bytes of name, 20 of password and key.
constexpr std::size_t most_user = 16, most_password = 20, most_k_g = 20;
constexpr std::size_t most_file = 4'096;

std::string_view unquoted(std::string_view text) {
  const bool quoted =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.front() == text.back();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// The name of the user that runs this process, or the user's number if it has no name.
std::string own_name() {
  const auto id = ::geteuid();
  const auto* entry = ::getpwuid(id);
  return entry != nullptr ? entry->pw_name : std::to_string(id);
}

std::optional<std::string> key_bytes(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::string(text);
  text.remove_prefix(2);
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string bytes;
  if (text.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

}  // namespace

result<credentials> parse_credentials(std::string_view text) {
  credentials found;
  bool any_user = false;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const auto line = trimmed(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    const auto colon = line.find(':');
    const auto key = colon == line.npos ? std::string_view() : trimmed(line.substr(0, colon));
    const auto value = colon == line.npos ? std::string_view() : unquoted(trimmed(line.substr(colon + 1)));
    if (key == "user" && value.size() <= most_user) {
      found.user = value;
      any_user = true;
    } else if (key == "password" && value.size() <= most_password) {
      found.password = value;
    } else if (key == "k_g") {
      auto bytes = key_bytes(value);
      if (!bytes || bytes->size() > most_k_g) {
        return invalid(fmt::format("line {}: k_g is at most {} characters, or hexadecimal digits after 0x",
                                   number, most_k_g));
      }
      found.k_g = *std::move(bytes);
    } else if (key == "user" || key == "password") {
      return invalid(fmt::format("line {}: the {} is longer than IPMI allows ({} bytes)", number, key,
                                 key == "user" ? most_user : most_password));
    } else {
      return invalid(fmt::format("line {}: expected \"user: …\", \"password: …\" or \"k_g: …\"", number));
    }
  }
  if (!any_user) return invalid("there is no line \"user: …\"");
  return found;
}

result<credentials> load_credentials(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const int why = errno;
    if (why == ENOENT) {
      return error{errc::not_found,
                   "credentials-file " + path + " does not exist: write one with user and password"};
    }
    return error{why == EACCES ? errc::permission : errc::io,
                 fmt::format("credentials-file {} cannot be read: {}: make user {} its owner", path,
                             describe(why), own_name())};
  }
  struct ::stat about {};
  std::string text(most_file + 1, '\0');
  const bool known = ::fstat(fd, &about) == 0;
  const auto n = ::read(fd, text.data(), text.size());
  ::close(fd);
  if (!known || n < 0 || !S_ISREG(about.st_mode)) {
    return error{errc::io,
                 "credentials-file " + path + " is not a file that can be read: name a regular file"};
  }
  if ((about.st_mode & S_IRWXO) != 0) {
    return error{errc::permission,
                 fmt::format("credentials-file {} is open to everybody (mode {:04o}): chmod 600 it", path,
                             about.st_mode & 07777u)};
  }
  text.resize(static_cast<std::size_t>(n));
  if (text.size() > most_file)
    return invalid(fmt::format("credentials-file {} is longer than {} bytes: it needs three lines at most",
                               path, most_file));
  auto parsed = parse_credentials(text);
  if (!parsed) return invalid(fmt::format("credentials-file {}: {}", path, parsed.error().message));
  return parsed;
}

}  // namespace binnacle::ipmi
