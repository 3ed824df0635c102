#include "agent/ipmi/protocol/line_buffer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace binnacle;
using namespace binnacle::ipmi;

namespace {

// All whole lines that have come so far.
std::vector<std::string> take(line_buffer& from) {
  std::vector<std::string> lines;
  for (;;) {
    const auto line = from.next();
    REQUIRE(line.has_value());
    if (!*line) return lines;
    lines.emplace_back(**line);
  }
}

}  // namespace

TEST_SUITE_BEGIN("agent/ipmi/protocol/line_buffer");

TEST_CASE("lines come out whole however their bytes came") {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\nrest";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    CAPTURE(piece);
    line_buffer buffer;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      buffer.append(std::string_view(text).substr(at, piece));
      for (auto& line : take(buffer)) lines.push_back(std::move(line));
    }
    CHECK(lines == std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"});
    buffer.append("\n");
    CHECK(take(buffer) == std::vector<std::string>{"rest"});
  }
}

TEST_CASE("a line of 64 KiB passes, a longer one is refused before its end has come") {
  line_buffer buffer;
  buffer.append(std::string(max_line, 'x'));
  CHECK(take(buffer).empty());
  SUBCASE("ended") {
    buffer.append("\n");
    CHECK(take(buffer).front().size() == max_line);
  }
  SUBCASE("one byte more") {
    buffer.append("x");
    const auto line = buffer.next();
    REQUIRE(line.has_error());
    CHECK(line.error().message == "a line of more than 65536 bytes");
  }
}

TEST_SUITE_END();
