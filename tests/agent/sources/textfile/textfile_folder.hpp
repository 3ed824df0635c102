#pragma once

#include "agent/sources/textfile/textfile.hpp"
#include "tests/agent/support.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace binnacle::agent::test {

/// A folder of users' files, its clock, and the textfile source that reads it.
struct textfile_folder {
  explicit textfile_folder(textfile_options o = {}, board::bounds room = {})
      : out(room), source(with_path(std::move(o), path.path()), clock.source()) {
    REQUIRE(source.discover(out));
  }
  static textfile_options with_path(textfile_options o, const std::string& path) {
    o.folder = path;
    return o;
  }
  /// Writes a file whose last change was some time ago.
  void settled(const std::string& name, std::string_view text) {
    path.write(name, text);
    std::filesystem::last_write_time(
        path / name, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(10));
  }
  void look() {
    clock.now += std::chrono::seconds(1);
    REQUIRE(source.read(out));
  }
  instant read_at(const std::string& name) {
    for (const auto& g : out.groups()) {
      if (!g.removed && g.info.name == name) return g.read_at;
    }
    return {};
  }
  std::uint64_t refused(std::string_view reason) {
    for (const auto& r : out.refused()) {
      if (r.reason == reason) return r.count;
    }
    return 0;
  }

  support::temp_folder path;
  fake_clock clock;
  board out;
  textfile_source source;
};

}  // namespace binnacle::agent::test
