#include "agent/sources/textfile/folder_entry.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>

namespace folder_entry_test {

using namespace binnacle::agent;
using binnacle::support::temp_folder;

namespace {

std::string text_of(const folder_entry& e) {
  const auto fd = e.open();
  std::array<char, 64> text{};
  const auto length = fd ? ::pread(fd.get(), text.data(), text.size(), 0) : -1;
  return length < 0 ? "not opened" : std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace

TEST_SUITE_BEGIN("agent/sources/textfile/textfile");

TEST_CASE("what is opened is what was looked at, whatever has its name by then") {
  temp_folder f;
  f.write("secret", "secret");
  f.write("mine", "mine");
  f.write("harmless", "harmless");
  SUBCASE("a file that becomes a link") {
    std::filesystem::copy(f / "mine", f / "a.prom");
    const auto entry = folder_entry::look(f.path(), "a.prom");
    REQUIRE(entry);
    std::filesystem::create_symlink("secret", f / "link");
    std::filesystem::rename(f / "link", f / "a.prom");
    CHECK(text_of(entry) == "mine");
  }
  SUBCASE("a link that becomes another's file") {
    std::filesystem::create_symlink("mine", f / "a.prom");
    const auto entry = folder_entry::look(f.path(), "a.prom");
    REQUIRE(entry);
    std::filesystem::rename(f / "harmless", f / "a.prom");
    CHECK(text_of(entry) == "mine");
  }
  SUBCASE("a link whose target is replaced") {
    std::filesystem::create_symlink("mine", f / "a.prom");
    const auto entry = folder_entry::look(f.path(), "a.prom");
    REQUIRE(entry);
    std::filesystem::rename(f / "secret", f / "mine");
    CHECK(text_of(entry) == "mine");
  }
}

TEST_CASE("a link is judged by who made it and whose file it leads to") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can give files away");
    return;
  }
  temp_folder f;
  f.write("roots", "roots");
  f.write("users", "users");
  REQUIRE(::chown((f / "users").c_str(), 65'534, 65'534) == 0);
  for (const auto* to : {"roots", "users"}) {
    std::filesystem::create_symlink(to, f / (std::string(to) + ".prom"));
    CHECK_FALSE(folder_entry::look(f.path(), std::string(to) + ".prom").links_to_another_users_file());
    REQUIRE(::lchown((f / (std::string(to) + ".prom")).c_str(), 65'534, 65'534) == 0);
    CHECK(folder_entry::look(f.path(), std::string(to) + ".prom").links_to_another_users_file() ==
          (to == std::string_view("roots")));
  }
  CHECK_FALSE(folder_entry::look(f.path(), "users").links_to_another_users_file());
}

TEST_CASE("what cannot be looked at says why") {
  temp_folder f;
  CHECK_FALSE(folder_entry::look(f.path(), "a.prom"));
  CHECK(errno == ENOENT);
  std::filesystem::create_symlink("nowhere", f / "a.prom");
  CHECK_FALSE(folder_entry::look(f.path(), "a.prom"));
  CHECK(errno == ENOENT);
}

TEST_SUITE_END();

}  // namespace folder_entry_test
