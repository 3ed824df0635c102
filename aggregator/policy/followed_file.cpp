#include "aggregator/policy/followed_file.hpp"

#include "aggregator/policy/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace binnacle::policy {
namespace {

std::int64_t ns(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  ~descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string unreadable() { return fmt::format("the file cannot be read: {}", std::strerror(errno)); }

/// Up to `most` + 1 bytes, so that a file that is too long shows as such.
bool read_all(int fd, std::size_t most, std::string& out) {
  out.clear();
  char buffer[16 * 1024];
  while (out.size() <= most) {
    const ssize_t n = ::read(fd, buffer, std::min(sizeof buffer, most + 1 - out.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) break;
    out.append(buffer, static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

followed_file::news followed_file::fail(std::string why) {
  const bool other = why != trouble_;
  *this = {};
  trouble_ = std::move(why);
  return other ? news::trouble : news::none;
}

followed_file::news followed_file::look(const std::string& path, std::string& text) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return fail(unreadable());
  // A pipe or device would block the reader or never end.
  if (!S_ISREG(st.st_mode))
    return fail("this is no regular file: put a YAML file here or give it another name");
  const stamp now{st.st_dev, st.st_ino, static_cast<std::uint64_t>(st.st_size), ns(st.st_mtim),
                  ns(st.st_ctim)};
  if (now == when_read_ && settled_) return news::none;

  timespec clock{};
  clock_gettime(CLOCK_REALTIME, &clock);
  const descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0 || !read_all(fd.get(), most_text_bytes, text)) return fail(unreadable());

  constexpr std::int64_t two_seconds = 2'000'000'000;
  const bool same_text = trouble_.empty() && !settled_ && when_read_.inode != 0 && text == text_;
  settled_ = ns(clock) - std::max(now.modified_ns, now.changed_ns) > two_seconds;
  when_read_ = now;
  trouble_.clear();
  text_ = settled_ ? std::string() : text;
  return same_text ? news::none : news::text;
}

}  // namespace binnacle::policy
