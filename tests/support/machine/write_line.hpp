#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

namespace binnacle::support {

/// A file as the kernel shows it below /sys: the text and a newline. Makes folders as needed.
inline void write_line(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text << '\n';
}

}  // namespace binnacle::support
