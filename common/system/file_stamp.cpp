#include "common/system/file_stamp.hpp"

namespace binnacle {

file_stamp file_stamp::of(const struct ::stat& s) noexcept {
  const auto nanoseconds = [](const timespec& t) {
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  return {s.st_dev, s.st_ino, s.st_size, nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

std::optional<file_stamp> file_stamp::of(const std::string& path) noexcept {
  struct ::stat s {};
  if (::stat(path.c_str(), &s) != 0) return std::nullopt;
  return of(s);
}

}  // namespace binnacle
