#include "common/text/quantity.hpp"

#include "tests/support/data.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

using binnacle::decimal;
using binnacle::parse_quantity;
using binnacle::quantity;

namespace {

std::string decimal_text(__int128 v) {
  if (v == 0) return "0";
  const bool negative = v < 0;
  std::string out;
  for (; v != 0; v /= 10)
    out.insert(out.begin(), static_cast<char>('0' + std::abs(static_cast<int>(v % 10))));
  return negative ? "-" + out : out;
}

std::vector<std::string> columns(const std::string& line) {
  std::vector<std::string> out(1);
  for (char c : line) {
    if (c == '\t') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

quantity q(std::string_view text) {
  const auto parsed = parse_quantity(text);
  REQUIRE_MESSAGE(parsed.has_value(), std::string(text));
  return *parsed;
}

}  // namespace

TEST_SUITE("common/text/quantity") {
  TEST_CASE("texts mean what they mean to Kubernetes and are printed canonically") {
    std::ifstream file(binnacle::support::data_folder() + "/quantity/parse.tsv");
    REQUIRE(file);
    std::string line;
    int rows = 0;
    while (std::getline(file, line)) {
      if (line.starts_with('#')) continue;
      const auto cells = columns(line);
      REQUIRE(cells.size() == 4);
      const std::string& text = cells[0];
      CAPTURE(text);
      const auto got = parse_quantity(text);
      CHECK(got.has_value() == (cells[1] != "-"));
      if (got) {
        CHECK(decimal_text(got->nano) == cells[1]);
        CHECK(canonical(*got) == cells[2]);
      }
      ++rows;
    }
    CHECK(rows > 1000);
  }

  TEST_CASE("different spellings of a number are equal") {
    CHECK(q("1.5") == q("1500m"));
    CHECK(q("0.1n") == q("1n"));
    CHECK(q("1000") == q("1k"));
    CHECK(q("1000") == q("1e3"));
    CHECK(q("1E") == q("1e18"));
    CHECK(q("1Ki") == q("1024"));
    CHECK(q("8Ei") == q("16Ei"));
    CHECK(q("1Ki") > q("1k"));
    CHECK(q("1000E") > q("1E"));
    CHECK(q("-0.5") < q("0"));
  }

  TEST_CASE("refusals quote the text and say the form") {
    struct row {
      std::string text;
      std::string part;
    };
    const row rows[] = {
        {"", "write a number"},         {".", "write a number"},     {"Ki", "write a number"},
        {" 1", "write a number"},       {"-", "write a number"},     {"Inf", "write a number"},
        {"1K", "no known suffix"},      {"1 ", "no known suffix"},   {"1e", "no known suffix"},
        {"1e3.5", "no known suffix"},   {"0x10", "no known suffix"}, {"1_000", "no known suffix"},
        {"1e401", "too large"},         {"1e-401", "too large"},     {"1e30", "too large"},
        {"200000000000E", "too large"}, {"1\n2", "\"1?2\""},         {std::string(100, '9') + "x", "99…\""},
    };
    for (const row& r : rows) {
      CAPTURE(r.text);
      const auto got = parse_quantity(r.text);
      REQUIRE(got.has_error());
      CHECK(got.error().code == binnacle::errc::invalid_input);
      CHECK_MESSAGE(got.error().message.find(r.part) != std::string::npos, got.error().message);
    }
  }

  TEST_CASE("a value compares with a target exactly, without overflow") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    struct row {
      decimal value;
      std::string target;
      int order;
    };
    const row rows[] = {
        {{205, -1}, "20500m", 0},
        {{205, -1}, "20", 1},
        {{205, -1}, "21", -1},
        {{205, -1}, "20500000001n", -1},
        {{30, 0}, "30", 0},
        {{300001, -4}, "30", 1},
        {{0, 5}, "0", 0},
        {{0, 18}, "1n", -1},
        {{1, -18}, "0", 1},
        {{1, -18}, "1n", -1},
        {{-1, -18}, "-1n", 1},
        {{most, 18}, "1e29", 1},
        {{least, 18}, "-1e29", -1},
        {{1, 18}, "1E", 0},
        {{most, -18}, "9223372037n", -1},
        {{most, -18}, "9223372036n", 1},
        {{most, -18}, "10", -1},
        {{most, 0}, "8Ei", 0},
        {{least, 0}, "-8Ei", -1},
        {{1, 0}, "170141183460469231731687303715.884105727", -1},
        {{least, -18}, "-1e29", 1},
        {{1, -18}, "1e29", -1},
    };
    for (const row& r : rows) {
      CAPTURE(r.value);
      CAPTURE(r.target);
      const auto got = compare(r.value, q(r.target));
      CHECK((got < 0 ? -1 : got > 0 ? 1 : 0) == r.order);
    }
  }

  TEST_CASE("our numbers are printed as the API server would") {
    CHECK(canonical(decimal{205, -1}) == "20500m");
    CHECK(canonical(decimal{600, -1}) == "60");
    CHECK(canonical(decimal{1234, -4}) == "123400u");
    CHECK(canonical(decimal{5, 3}) == "5k");
    CHECK(canonical(decimal{0, -4}) == "0");
    CHECK(canonical(decimal{-5, -1}) == "-500m");
    CHECK(canonical(decimal{1, -12}) == "1n");
    CHECK(canonical(decimal{-1001, -12}) == "-2n");
    CHECK(canonical(decimal{std::numeric_limits<std::int64_t>::max(), 18}) == "9223372036854775807");
    CHECK(canonical(decimal{std::numeric_limits<std::int64_t>::min(), 18}) == "-9223372036854775807");
    CHECK(canonical(binnacle::from_integer(16'500'000'000)) == "16500M");
    CHECK(canonical(q("1000E")) == "9223372036854775807");
  }
}
