#include "aggregator/policy/text/followed_file.hpp"

#include "aggregator/policy/text/yaml.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/os_error.hpp"
#include "common/system/read_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace binnacle::policy {
namespace {

std::string unreadable(std::string_view why) { return fmt::format("the file cannot be read: {}", why); }

}  // namespace

followed_file::news followed_file::fail(std::string why) {
  const bool other = why != trouble_;
  *this = {};
  trouble_ = std::move(why);
  return other ? news::trouble : news::none;
}

followed_file::news followed_file::look(const std::string& path, std::string& text) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return fail(unreadable(describe(errno)));
  // A pipe or device would block the reader or never end.
  if (!S_ISREG(st.st_mode))
    return fail("this is not a regular file: put a YAML file here or give it another name");
  if (st.st_size > std::int64_t{most_text_bytes}) {
    return fail(fmt::format("the file has {} bytes, at most {} are read: make it smaller", st.st_size,
                            most_text_bytes));
  }
  const auto stamp = file_stamp::of(st);
  if (stamp == when_read_ && settled_) return news::none;

  const auto now = std::chrono::system_clock::now();
  const descriptor fd = open_readonly(path);
  if (!fd) return fail(unreadable(describe(errno)));
  auto read = read_file(fd.get(), most_text_bytes);
  if (!read) return fail(unreadable(read.error().message));
  text = *std::move(read);

  const bool same_text = when_read_ && !settled_ && text == text_;
  const std::chrono::nanoseconds written(std::max(stamp.modified_ns, stamp.changed_ns));
  settled_ = now.time_since_epoch() - written > std::chrono::seconds(2);
  when_read_ = stamp;
  trouble_.clear();
  text_ = settled_ ? std::string() : text;
  return same_text ? news::none : news::text;
}

}  // namespace binnacle::policy
