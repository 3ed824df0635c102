#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace binnacle::support {

/// Writes a file in place: it keeps its inode, as the kernel's files do.
inline void write_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

/// A folder below the system's temporary folder. It is removed with everything in it when this object is
/// destroyed.
class temp_folder {
 public:
  temp_folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "binnacle-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = pattern;
  }
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  /// Like write_file(), and makes folders as needed.
  void write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = *this / name;
    std::filesystem::create_directories(file.parent_path());
    write_file(file, text);
  }
  void remove(std::string_view name) const { std::filesystem::remove_all(*this / name); }

 private:
  std::string path_;
};

}  // namespace binnacle::support
