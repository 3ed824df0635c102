#include "common/log/log.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using binnacle::log_level;

TEST_SUITE("common/log") {
  TEST_CASE("a logger says what its level lets through, and its parts say the same") {
    const binnacle::logger all("test", log_level::debug);
    CHECK(all.enabled(log_level::debug));
    const binnacle::logger few("test", log_level::warning);
    CHECK_FALSE(few.enabled(log_level::info));
    CHECK(few.enabled(log_level::warning));
    CHECK(few.enabled(log_level::error));
    const auto part = few.part("room");
    CHECK_FALSE(part.enabled(log_level::info));
    CHECK(part.enabled(log_level::error));
    const binnacle::logger none("test", log_level::off);
    CHECK_FALSE(none.enabled(log_level::error));
  }

  TEST_CASE("a line has time, level, part and text; part() shares the sink") {
    std::vector<std::string> lines;
    const binnacle::logger log("agent", log_level::info,
                               [&](std::string_view line) { lines.emplace_back(line); });
    log.info("read {} zones", 3);
    log.debug("not this");
    log.part("uplink").warning("link to {} lost", "a1");
    log.error("{}", "100 % {braces}");
    REQUIRE(lines.size() == 3);
    // "2026-01-01T00:00:00.000Z " is 25 characters.
    CHECK(lines[0].substr(25) == "info agent: read 3 zones");
    CHECK(lines[0][10] == 'T');
    CHECK(lines[0][23] == 'Z');
    CHECK(lines[1].substr(25) == "warning uplink: link to a1 lost");
    CHECK(lines[2].substr(25) == "error agent: 100 % {braces}");
  }

  TEST_CASE("a peer's text cannot make a line of its own") {
    std::vector<std::string> lines;
    const binnacle::logger log("ingest", log_level::info,
                               [&](std::string_view line) { lines.emplace_back(line); });
    log.info("node {}", "x\n2026-01-01T00:00:00.000Z error ingest: forged\x1b[2J\x7f é");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].substr(25) == "info ingest: node x?2026-01-01T00:00:00.000Z error ingest: forged?[2J? é");
  }
}
