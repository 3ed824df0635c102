#include "common/error.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using binnacle::errc;
using binnacle::error;

TEST_SUITE("common/error") {
  TEST_CASE("every code has a name of its own") {
    std::set<std::string_view> names;
    for (errc code : {errc::invalid_input, errc::not_found, errc::permission, errc::unsupported, errc::io,
                      errc::timeout, errc::disconnected, errc::overloaded, errc::protocol, errc::internal}) {
      names.insert(to_string(code));
    }
    CHECK(names.size() == 10);
    CHECK(names.contains("invalid_input"));
  }

  TEST_CASE("asking a failed result for its value throws the failure with its sentence") {
    const binnacle::result<int> failed = error{errc::timeout, "no answer in 5s from a1: is it up?"};
    try {
      (void)failed.value();
      FAIL("value() returned");
    } catch (const binnacle::failure& f) {
      CHECK(std::string_view(f.what()) == "no answer in 5s from a1: is it up?");
    }
    CHECK(binnacle::result<int>(3).value() == 3);
  }
}
