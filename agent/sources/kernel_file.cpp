#include "agent/sources/kernel_file.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace binnacle::agent {
namespace {

// The kernel fills a page with the lines (of /proc) that fit, and a file of sysfs is one page at most. So a
// text that ends in the first half of the page is whole, and needs no second read to learn that it ended.
// Source: fs/seq_file.c, seq_read_iter(); no line of the files we read is as long as half a page.
constexpr std::size_t whole_text = 2048;

}  // namespace

descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

descriptor open_readonly_at(int folder, const char* name) noexcept {
  int fd = -1;
  do {
    fd = ::openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  return descriptor(fd);
}

descriptor open_readonly(const std::string& path) noexcept {
  return open_readonly_at(AT_FDCWD, path.c_str());
}

file_stamp file_stamp::of(const struct ::stat& s) noexcept {
  const auto nanoseconds = [](const timespec& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  return {s.st_ino, s.st_size, nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

std::optional<file_stamp> file_stamp::of(const std::string& path) noexcept {
  struct ::stat s {};
  if (::stat(path.c_str(), &s) != 0) return std::nullopt;
  return of(s);
}

wire::absence absence_of(int error_number) noexcept {
  switch (error_number) {
    case 0: return wire::absence::none;
    case EACCES:
    case EPERM: return wire::absence::permission;
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ENOTDIR:
    case EBADF:  // a libpowercap getter on a file that is not there
      return wire::absence::missing;
    case EINVAL:
    case ERANGE:
    case EISDIR: return wire::absence::malformed;
    case ETIMEDOUT:
    case EAGAIN: return wire::absence::timeout;
    default: return wire::absence::no_data;
  }
}

errc errc_of(int error_number) noexcept {
  switch (absence_of(error_number)) {
    case wire::absence::permission: return errc::permission;
    case wire::absence::missing: return errc::not_found;
    case wire::absence::malformed: return errc::invalid_input;
    case wire::absence::timeout: return errc::timeout;
    default: return errc::io;
  }
}

std::string describe(int error_number) {
  return std::error_code(error_number, std::generic_category()).message();
}

result<std::string_view> kernel_file::read(std::vector<char>& buffer, std::size_t limit) {
  const auto failed = [this](int error_number) {
    errno_ = error_number;
    fd_ = {};
    return error{errc_of(error_number), path_ + ": " + describe(error_number)};
  };
  if (!fd_) {
    fd_ = open_readonly(path_);
    if (!fd_) return failed(errno);
  }
  if (buffer.size() < 4096) buffer.resize(4096);
  std::size_t have = 0;
  for (;;) {
    const auto n = ::pread(fd_.get(), buffer.data() + have, buffer.size() - have, static_cast<off_t>(have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(errno);
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
    if (have < whole_text) break;
    if (have < buffer.size()) continue;
    if (have >= limit) {
      return error{errc::overloaded,
                   path_ + ": longer than the " + std::to_string(limit) + " bytes that are read of it"};
    }
    buffer.resize(std::min(buffer.size() * 2, limit));
  }
  errno_ = 0;
  return std::string_view(buffer.data(), have);
}

std::optional<std::int64_t> kernel_file::read_integer() noexcept {
  if (!fd_) fd_ = open_readonly(path_);
  std::array<char, 64> text;
  ssize_t n = -1;
  if (fd_) {
    do {
      n = ::pread(fd_.get(), text.data(), text.size(), 0);
    } while (n < 0 && errno == EINTR);
  }
  if (n < 0) {
    errno_ = errno;
    fd_ = {};
    return std::nullopt;
  }
  const auto value = parse_integer(std::string_view(text.data(), static_cast<std::size_t>(n)));
  errno_ = value ? 0 : EINVAL;
  return value;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

namespace {

template <class Number>
std::optional<Number> parse_whole(std::string_view text) noexcept {
  text = trimmed(text);
  Number value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept {
  return parse_whole<std::uint64_t>(text);
}

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  return parse_whole<std::int64_t>(text);
}

std::optional<std::string> read_line(const std::string& path) {
  const auto fd = open_readonly(path);
  if (!fd) return std::nullopt;
  std::array<char, 512> text;
  const auto n = ::pread(fd.get(), text.data(), text.size(), 0);
  if (n <= 0) return std::nullopt;
  const std::string_view all(text.data(), static_cast<std::size_t>(n));
  const auto end = all.find('\n');
  if (end == all.npos && all.size() == text.size()) return std::nullopt;  // half a line is no value
  return std::string(trimmed(all.substr(0, end)));
}

}  // namespace binnacle::agent
