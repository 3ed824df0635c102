#include "agent/base/token_file.hpp"

#include "common/wire/limits.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <string>

namespace token_file_test {

using namespace binnacle;
using namespace binnacle::agent;
using support::temp_folder;

TEST_SUITE_BEGIN("agent/token_file");

TEST_CASE("a token of any length that the wire takes is read whole") {
  temp_folder folder;
  for (const std::size_t length : {1u, 511u, 512u, 2048u, 4096u, 16'384u}) {
    CAPTURE(length);
    REQUIRE(length <= wire::max_credential);
    const std::string token(length, 't');
    folder.write("token", token + "\n");
    CHECK(read_token(folder / "token").value() == token);
    folder.write("token", token);
    CHECK(read_token(folder / "token").value() == token);
  }
}

TEST_CASE("only its first word is the token") {
  temp_folder folder;
  folder.write("token", "\n abc\r\nX-Header: y\n");
  CHECK(read_token(folder / "token").value() == "abc");
}

TEST_CASE("no token is an error that names the file") {
  temp_folder folder;
  CHECK(read_token(folder / "none").error().code == errc::not_found);
  folder.write("token", " \n");
  CHECK(read_token(folder / "token").error().code == errc::invalid_input);
  folder.write("token", std::string(wire::max_credential * 2, 't'));
  const auto longer = read_token(folder / "token");
  CHECK(longer.error().code == errc::overloaded);
  CHECK(longer.error().message.find(folder / "token") == 0);
}

TEST_SUITE_END();

}  // namespace token_file_test
