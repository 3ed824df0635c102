#include "common/http/date.hpp"

#include "common/clock.hpp"

#include <doctest/doctest.h>

namespace binnacle::http {

TEST_SUITE("common/http/date") {
  TEST_CASE("a header's time is read") {
    CHECK(parse_date("Sun, 06 Nov 1994 08:49:37 GMT") == wall_at(784'111'777));
    CHECK(parse_date("Thu, 01 Jan 1970 00:00:00 GMT") == wall_at(0));
    CHECK(parse_date("Thu, 29 Feb 2024 23:59:59 GMT") == wall_at(1'709'251'199));
  }

  TEST_CASE("anything else is no time") {
    for (const char* text :
         {"", "7", "1994-11-06", "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 06 Nov 1994 08:49:37 UTC",
          "Sun, 06 nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
          "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
          "Sun, 06 Nov 1904 08:49:37 GMT", "Sun, 06 Nov 9999 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
          "Sun Nov  6 08:49:37 1994"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_date(text));
    }
  }
}

}  // namespace binnacle::http
