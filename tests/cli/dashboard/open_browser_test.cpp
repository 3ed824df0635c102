#include "cli/dashboard/open_browser.hpp"

#include "common/system/read_file.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace open_browser_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

/// Sets a variable of the environment for as long as this object exists.
struct variable {
  variable(const char* of, const std::string& value) : name(of) {
    if (const char* was = std::getenv(name)) before = was;
    ::setenv(name, value.c_str(), 1);
  }
  ~variable() {
    if (before.empty()) {
      ::unsetenv(name);
    } else {
      ::setenv(name, before.c_str(), 1);
    }
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  const char* name;
  std::string before;
};

TEST_SUITE("cli/dashboard/open_browser") {
  TEST_CASE("a browser inherits no socket, also none that is not close-on-exec") {
    const support::temp_folder dir;
    dir.write("xdg-open",
              "#!/bin/sh\n"
              "readlink /proc/$$/fd/* > \"${0%/*}/part\"\n"
              "mv \"${0%/*}/part\" \"${0%/*}/open files\"\n");
    std::filesystem::permissions(dir / "xdg-open", std::filesystem::perms::owner_all);
    const variable path("PATH", dir.path() + ":/usr/bin:/bin"), own("XDG_RUNTIME_DIR", dir.path());
    const int ours = ::socket(AF_INET, SOCK_STREAM, 0);
    struct stat what {};
    REQUIRE(::fstat(ours, &what) == 0);

    const auto page = cli::dashboard::browser_page::open("http://127.0.0.1:1/#key");
    REQUIRE(page.has_value());
    const std::string list = dir / "open files";
    for (const auto end = std::chrono::steady_clock::now() + 1min;
         !std::filesystem::exists(list) && std::chrono::steady_clock::now() < end;)
      std::this_thread::sleep_for(5ms);
    ::close(ours);
    const auto open = read_file(list, 64u << 10);
    REQUIRE(open.has_value());
    CHECK(open->find("/dev/null") != std::string::npos);
    CHECK(open->find(fmt::format("socket:[{}]", what.st_ino)) == std::string::npos);
  }
}

}  // namespace

}  // namespace open_browser_test
