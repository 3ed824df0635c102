#include "aggregator/policy/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace binnacle::policy {
namespace {

std::int64_t ns(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

bool is_policy_file(std::string_view name) {
  return !name.starts_with('.') && (name.ends_with(".yaml") || name.ends_with(".yml"));
}

struct close_dir {
  void operator()(DIR* d) const { closedir(d); }
};

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

std::string why(std::string_view what) { return fmt::format("{}: {}", what, std::strerror(errno)); }

/// The first few of the names of files, and how many more.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most_named = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
    out += (i == 0 ? "" : ", ") + quoted(names[i]);
  return names.size() > most_named ? fmt::format("{} and {} more", out, names.size() - most_named) : out;
}

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

bool folder::refresh(policy_set& set) {
  const std::unique_ptr<DIR, close_dir> dir(opendir(path_.c_str()));
  std::string trouble;
  if (!dir)
    trouble = fmt::format("the policy folder {} cannot be read: {}; what was read before stays in force",
                          path_, std::strerror(errno));
  std::set<std::string> names;
  while (dir) {
    const dirent* entry = readdir(dir.get());
    if (entry == nullptr) break;
    if (!is_policy_file(entry->d_name)) continue;
    names.insert(entry->d_name);
  }
  if (names.size() > most_files) {
    const auto left_out = leave_out(names);
    trouble = fmt::format(
        "the policy folder {} has {} files, at most {} are read: {} are left out; put policies together, "
        "several in a file",
        path_, names.size() + left_out.size(), most_files, listed(left_out));
  }
  bool changed = trouble != trouble_;
  trouble_ = trouble;
  set.set_trouble(trouble);
  if (!dir) return changed;

  for (const std::string& name : names) changed = read(name, files_[name], set) || changed;
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

bool folder::read(const std::string& name, seen& s, policy_set& set) const {
  const std::string path = path_ + "/" + name;
  const auto fail = [&](std::string reason) {
    const bool news = reason != s.trouble;
    s = {};
    s.trouble = std::move(reason);
    if (news) set.unreadable(path, s.trouble);
    return news;
  };
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return fail(why("the file cannot be read"));
  // A pipe or device would block the reader or never end.
  if (!S_ISREG(st.st_mode))
    return fail("this is no regular file: put a YAML file here or give it another name");
  const stamp now{st.st_dev, st.st_ino, static_cast<std::uint64_t>(st.st_size), ns(st.st_mtim),
                  ns(st.st_ctim)};
  if (now == s.when_read && s.settled) return false;

  timespec clock{};
  clock_gettime(CLOCK_REALTIME, &clock);
  const descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return fail(why("the file cannot be read"));
  std::string text;
  if (!read_all(fd.get(), most_text_bytes, text)) return fail(why("the file cannot be read"));

  constexpr std::int64_t two_seconds = 2'000'000'000;
  const bool same_text = s.trouble.empty() && !s.settled && s.when_read.inode != 0 && text == s.text;
  s.settled = ns(clock) - std::max(now.modified_ns, now.changed_ns) > two_seconds;
  s.when_read = now;
  s.trouble.clear();
  s.text = s.settled ? std::string() : text;
  if (same_text) return false;
  set.put(path, text);
  return true;
}

}  // namespace binnacle::policy
