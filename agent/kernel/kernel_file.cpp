#include "agent/kernel/kernel_file.hpp"

#include "common/system/os_error.hpp"
#include "common/text/text.hpp"
#include "common/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace binnacle::agent {
namespace {

// For a file of /proc the kernel fills a page with as many lines as fit, and a file of sysfs is one page at
// most. So a text that ends in the first half of the page is complete, and a second read to find its end is
// not needed. Source: fs/seq_file.c, seq_read_iter(); no line of the files we read is as long as half a page.
constexpr std::size_t whole_text = 2048;

}  // namespace

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

std::optional<std::string> read_line(const std::string& path) {
  const auto fd = open_readonly(path);
  if (!fd) return std::nullopt;
  std::array<char, 512> text;
  const auto n = ::pread(fd.get(), text.data(), text.size(), 0);
  if (n <= 0) return std::nullopt;
  const std::string_view all(text.data(), static_cast<std::size_t>(n));
  const auto end = all.find('\n');
  if (end == all.npos && all.size() == text.size()) return std::nullopt;  // the line may go on
  return clean_utf8(trimmed(all.substr(0, end)));
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code bad;
  for (std::filesystem::directory_iterator it(folder, bad), end; !bad && it != end; it.increment(bad))
    names.push_back(it->path().filename().string());
  std::ranges::sort(names);
  return names;
}

bool there(const std::string& path) {
  std::error_code bad;
  return std::filesystem::exists(path, bad);
}

}  // namespace binnacle::agent
