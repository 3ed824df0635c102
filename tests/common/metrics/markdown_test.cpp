#include "common/metrics/families.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

TEST_SUITE("common/metrics/markdown") {
  TEST_CASE("METRICS.md is what the program prints") {
    std::ifstream file(BINNACLE_METRICS_MD, std::ios::binary);
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    const bool same = text.str() == binnacle::metrics::markdown();
    CHECK_MESSAGE(same,
                  "METRICS.md is out of date; print it again: build/common/metrics/metrics_md > METRICS.md");
  }

  TEST_CASE("METRICS.md names every family and alias once") {
    const std::string text = binnacle::metrics::markdown();
    const auto rows = [&](std::string_view name) {
      const std::string start = "\n| `" + std::string(name) + "` |";
      std::size_t n = 0;
      for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) ++n;
      return n;
    };
    for (const auto& f : binnacle::metrics::families()) {
      CAPTURE(f.name);
      CHECK(rows(f.name) == 1);
    }
    for (const auto& a : binnacle::metrics::aliases()) {
      CAPTURE(a.name);
      CHECK(rows(a.name) == 1);
    }
  }
}
