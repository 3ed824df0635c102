#include "agent/kernel/kernel_file.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace kernel_file_test {

using namespace binnacle;
using namespace binnacle::agent;
using support::temp_folder;

TEST_SUITE_BEGIN("agent/kernel/kernel_file");

TEST_CASE("a text of any length is read whole, again and again") {
  temp_folder folder;
  std::vector<char> buffer;
  kernel_file file(folder / "text");
  for (const std::size_t length : {0u, 1u, 2047u, 2048u, 4095u, 4096u, 4097u, 20'000u, 5u}) {
    CAPTURE(length);
    const std::string text(length, 'x');
    folder.write("text", text);
    const auto read = file.read(buffer);
    REQUIRE(read);
    CHECK(*read == text);
  }
}

TEST_CASE("a text beyond the limit is refused") {
  temp_folder folder;
  folder.write("text", std::string(9000, 'x'));
  std::vector<char> buffer;
  kernel_file file(folder / "text");
  const auto read = file.read(buffer, 8192);
  REQUIRE(!read);
  CHECK(read.error().code == errc::overloaded);
}

TEST_CASE("a first line that is cut off is no line") {
  temp_folder folder;
  folder.write("name", "short\nmore");
  CHECK(read_line(folder / "name") == "short");
  folder.write("name", std::string(511, 'x'));
  CHECK(read_line(folder / "name") == std::string(511, 'x'));
  folder.write("name", std::string(511, 'x') + "\n" + "more");
  CHECK(read_line(folder / "name") == std::string(511, 'x'));
  folder.write("name", std::string(600, 'x') + "\n");
  CHECK(!read_line(folder / "name"));
}

TEST_CASE("a line has a question mark for each byte that is not UTF-8, as on the board") {
  temp_folder folder;
  folder.write("name", "package-\xff \xc3\xa9\n");
  CHECK(read_line(folder / "name") == "package-? \xc3\xa9");
}

TEST_CASE("the names in a folder are sorted, and a folder that is not there has none") {
  temp_folder folder;
  folder.write("b", "");
  folder.write("c/d", "");
  folder.write("a", "");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"a", "b", "c"});
  CHECK(names_in(folder / "e").empty());
}

TEST_CASE("a whole number, or why there is none") {
  temp_folder folder;
  kernel_file file(folder / "number");
  CHECK(!file.read_integer());
  CHECK(file.last_errno() == ENOENT);
  struct row {
    const char* text;
    std::optional<std::int64_t> value;
  };
  for (const auto& r : {row{"42\n", 42}, row{" -7 \n", -7}, row{"", {}}, row{"4 2\n", {}}, row{"0x10\n", {}},
                        row{"9223372036854775808\n", {}}, row{"+1\n", {}}}) {
    CAPTURE(r.text);
    folder.write("number", r.text);
    CHECK((file.read_integer() == r.value));
    CHECK(file.last_errno() == (r.value ? 0 : EINVAL));
  }
}

TEST_SUITE_END();

}  // namespace kernel_file_test
