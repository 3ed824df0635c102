#include "aggregator/state/state_file.hpp"

#include "aggregator/snapshot/snapshot.hpp"
#include "aggregator/state/state_seal.hpp"
#include "common/system/read_file.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <thread>

namespace state_file_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

snapshot of(const std::string& node) {
  snapshot s;
  s.boot_id = "boot";
  s.nodes.push_back({node, {1, 2, 3}, {}});
  s.left_out = 7;
  return s;
}

bool until_idle(const state_file& file) {
  const auto deadline = std::chrono::steady_clock::now() + 1min;
  while (file.is_busy() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
  return !file.is_busy();
}

TEST_SUITE("aggregator/state/state_file") {
  TEST_CASE("what is kept is read again, and nothing is left beside it") {
    support::temp_folder folder;
    const std::string path = folder / "state";
    {
      state_file file(path);
      file.keep(of("first"));
      REQUIRE(until_idle(file));
      CHECK(file.counted().written == 1);
      CHECK(file.counted().left_out == 7);
      CHECK(file.counted().bytes == std::filesystem::file_size(path));
      CHECK(file.counted().trouble.empty());
      file.keep(of("second"));
    }  // the destructor waits for the write
    const auto back = read_state(path);
    REQUIRE(back.has_value());
    REQUIRE(back->nodes.size() == 1);
    CHECK(back->nodes[0].name == "second");
    CHECK_FALSE(std::filesystem::exists(path + ".new"));
    CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::others_read) ==
          std::filesystem::perms::none);
  }

  TEST_CASE("a file of which one byte has changed is not read") {
    support::temp_folder folder;
    const std::string path = folder / "state";
    {
      state_file file(path);
      file.keep(of("node1"));
    }
    const std::string written = *read_file(path, 1 << 20);
    const std::size_t content = written.size() - state_seal::size;
    for (std::size_t at = 0; at < content; ++at) {
      CAPTURE(at);
      std::string changed = written;
      changed[at] ^= 1;
      folder.write("state", changed);
      const auto read = read_state(path);
      REQUIRE(read.has_error());
      CHECK(read.error().code == errc::invalid_input);
      CHECK(read.error().message ==
            "state file " + path + ": its checksum is wrong: the file is not as it was written");
    }
    folder.write("state", written.substr(0, content));  // as an older release wrote it
    CHECK(read_state(path)->nodes[0].name == "node1");
  }

  TEST_CASE("a write that fails is counted, says why, and leaves the old file alone") {
    support::temp_folder folder;
    const std::string path = folder / "state";
    state_file file(path);
    file.keep(of("good"));
    REQUIRE(until_idle(file));
    std::filesystem::create_directory(path + ".new");  // also in root's way
    file.keep(of("lost"));
    REQUIRE(until_idle(file));
    CHECK(file.counted().failed == 1);
    CHECK(file.counted().trouble.find(path + ".new: cannot create it") != std::string::npos);
    CHECK(read_state(path)->nodes[0].name == "good");
    std::filesystem::remove(path + ".new");
    file.keep(of("better"));
    REQUIRE(until_idle(file));
    CHECK(file.counted().trouble.empty());
    CHECK(read_state(path)->nodes[0].name == "better");
  }

  TEST_CASE(
      "a FIFO, a folder, a device and a link to one are errors at once, in front of the file or beside it") {
    support::temp_folder folder;
    const std::string path = folder / "state";
    const auto fifo = [](const std::string& at) { REQUIRE(::mkfifo(at.c_str(), 0600) == 0); };
    const auto folder_at = [](const std::string& at) { std::filesystem::create_directory(at); };
    const auto zeros = [](const std::string& at) { std::filesystem::create_symlink("/dev/zero", at); };
    const std::function<void(const std::string&)> kinds[] = {fifo, folder_at, zeros};
    for (const auto& make : kinds) {
      make(path);
      const auto read = read_state(path);
      REQUIRE(read.has_error());
      CHECK(read.error().code == errc::invalid_input);
      CHECK(read.error().message.find(path + ": it is not a regular file") != std::string::npos);
      std::filesystem::remove(path);

      make(path + ".new");
      state_file file(path);
      file.keep(of("lost"));
      REQUIRE(until_idle(file));
      CHECK(file.counted().failed == 1);
      CHECK(file.counted().trouble.find(path + ".new") != std::string::npos);
      CHECK_FALSE(std::filesystem::exists(path));
      std::filesystem::remove(path + ".new");
    }
  }

  TEST_CASE(
      "a file that is as large as a disk is an error, and no more of it is read than a snapshot may have") {
    support::temp_folder folder;
    folder.write("state", "");
    std::filesystem::resize_file(folder / "state", std::uintmax_t{1} << 40);  // sparse
    const auto read = read_state(folder / "state");
    REQUIRE(read.has_error());
    CHECK(read.error().code == errc::overloaded);
  }

  TEST_CASE("a file that is missing, or is no snapshot, is an error with its path") {
    support::temp_folder folder;
    const auto missing = read_state(folder / "state");
    REQUIRE(missing.has_error());
    CHECK(missing.error().code == errc::not_found);
    folder.write("state", "no snapshot");
    const auto wrong = read_state(folder / "state");
    REQUIRE(wrong.has_error());
    CHECK(wrong.error().code == errc::invalid_input);
    CHECK(wrong.error().message.find(folder / "state") != std::string::npos);
  }
}

}  // namespace

}  // namespace state_file_test
