#include "common/log.hpp"

#include <doctest/doctest.h>

#include <string>

using binnacle::log_level;

TEST_SUITE("common/log") {
  TEST_CASE("levels are known by name and nothing else is") {
    struct row {
      std::string_view text;
      log_level level;
    };
    const row rows[] = {{"debug", log_level::debug},
                        {"info", log_level::info},
                        {"warning", log_level::warning},
                        {"error", log_level::error},
                        {"off", log_level::off}};
    for (const row& r : rows) {
      CAPTURE(r.text);
      log_level got{};
      CHECK(binnacle::parse_log_level(r.text, got));
      CHECK(got == r.level);
    }
    for (std::string_view text : {"", "Info", "warn", "trace", "info "}) {
      CAPTURE(text);
      log_level got = log_level::error;
      CHECK_FALSE(binnacle::parse_log_level(text, got));
      CHECK(got == log_level::error);
    }
  }

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
}
