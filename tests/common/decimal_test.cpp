#include "common/decimal.hpp"

#include "common/shortest.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <vector>

using binnacle::decimal;

namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();
constexpr auto least = std::numeric_limits<std::int64_t>::min();

/// The exact value, in arithmetic of unlimited size.
boost::multiprecision::cpp_rational exact(decimal d) {
  boost::multiprecision::cpp_rational v = d.mantissa;
  const boost::multiprecision::cpp_rational ten = 10;
  for (int i = 0; i < d.exponent; ++i) v *= ten;
  for (int i = 0; i > d.exponent; --i) v /= ten;
  return v;
}

std::vector<decimal> awkward() {
  std::vector<decimal> out;
  for (std::int64_t m :
       {least, least + 1, std::int64_t(-1000), std::int64_t(-1), std::int64_t(0), std::int64_t(1),
        std::int64_t(9), std::int64_t(10), std::int64_t(123456789), most - 1, most}) {
    for (int e : {-18, -17, -9, -1, 0, 1, 2, 9, 17, 18}) out.push_back({m, static_cast<std::int8_t>(e)});
  }
  return out;
}

}  // namespace

TEST_SUITE("common/decimal") {
  TEST_CASE("comparison is numeric and exact for every pair of awkward values") {
    for (decimal a : awkward()) {
      for (decimal b : awkward()) {
        CAPTURE(a);
        CAPTURE(b);
        CHECK((a < b) == (exact(a) < exact(b)));
        CHECK((a == b) == (exact(a) == exact(b)));
        CHECK((a > b) == (exact(a) > exact(b)));
      }
    }
    CHECK(decimal{10, 0} == decimal{1, 1});
    CHECK(decimal{1, 0} != decimal{1, 1});
  }

  TEST_CASE("sums are exact or absent") {
    for (decimal a : awkward()) {
      for (decimal b : awkward()) {
        CAPTURE(a);
        CAPTURE(b);
        const auto sum = add(a, b);
        const auto finer = std::min(a.exponent, b.exponent);
        if (sum) {
          CHECK(sum->exponent == finer);
          CHECK(exact(*sum) == exact(a) + exact(b));
        } else {
          const auto units = (exact(a) + exact(b)) / exact({1, finer});
          CHECK((units > most || units < least));
        }
      }
    }
  }

  TEST_CASE("text has exactly the digits of the resolution") {
    struct row {
      decimal value;
      std::string text;
    };
    const row rows[] = {
        {{1234, -1}, "123.4"},
        {{5, 3}, "5000"},
        {{0, 3}, "0"},
        {{0, -1}, "0.0"},
        {{-5, -1}, "-0.5"},
        {{-1234, -4}, "-0.1234"},
        {{7, -4}, "0.0007"},
        {{42, 0}, "42"},
        {{-42, 1}, "-420"},
        {{10, -1}, "1.0"},
        {{most, 0}, "9223372036854775807"},
        {{least, -18}, "-9.223372036854775808"},
        {{least, 0}, "-9223372036854775808"},
    };
    for (const row& r : rows) {
      CHECK(to_string(r.value) == r.text);
      std::ostringstream out;
      out << r.value;
      CHECK(out.str() == r.text);
    }
  }

  TEST_CASE("a double becomes the nearest multiple, halves to even") {
    struct row {
      double value;
      int exponent;
      std::int64_t mantissa;
    };
    const row rows[] = {
        {123.44, -1, 1234},
        {123.46, -1, 1235},
        {0.25, -1, 2},
        {0.75, -1, 8},
        {-0.25, -1, -2},
        {-0.75, -1, -8},
        {0.5, 0, 0},
        {1.5, 0, 2},
        {2.5, 0, 2},
        {-2.5, 0, -2},
        {0.0, -4, 0},
        {-0.0, -4, 0},
        {1e-320, -18, 0},
        {4e-19, -18, 0},
        {6e-19, -18, 1},
        {1500, 3, 2},
        {2500, 3, 2},
        {2501, 3, 3},
        {1e18, 18, 1},
        {9.2e36, 18, 9'199'999'999'999'999'859},
        {1e-30, 18, 0},
        {9007199254740993.0, 0, 9007199254740992},
        {0.1, -9, 100'000'000},
        {-9223372036854775808.0, 0, least},
        {0.15, -1, 1},  // as a double, 0.15 is a little below fifteen hundredths
        {0.35, -1, 3},
        {0.45, -1, 5},
    };
    for (const row& r : rows) {
      CAPTURE(r.value);
      CAPTURE(r.exponent);
      const auto got = binnacle::from_double(r.value, static_cast<std::int8_t>(r.exponent));
      REQUIRE(got.has_value());
      CHECK(got->mantissa == r.mantissa);
      CHECK(got->exponent == r.exponent);
    }
  }

  TEST_CASE("what no mantissa can hold is absent") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (double v : {std::nan(""), infinity, -infinity, 9223372036854775808.0, 1e19, -1e19, 1e300}) {
      CAPTURE(v);
      CHECK_FALSE(binnacle::from_double(v, 0).has_value());
    }
    CHECK_FALSE(binnacle::from_double(1e18, -1).has_value());
    CHECK_FALSE(binnacle::from_double(1e300, 18).has_value());
    CHECK_FALSE(binnacle::from_double(std::numeric_limits<double>::max(), -18).has_value());
  }

  TEST_CASE("rounding agrees with exact arithmetic on random doubles") {
    std::mt19937_64 random(7);
    for (int i = 0; i < 20'000; ++i) {
      const double value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                      static_cast<int>(random() % 160) - 120);
      const auto e = static_cast<std::int8_t>(static_cast<int>(random() % 37) - 18);
      CAPTURE(value);
      CAPTURE(static_cast<int>(e));
      const boost::multiprecision::cpp_rational units =
          boost::multiprecision::cpp_rational(value) / exact({1, e});
      const auto got = binnacle::from_double(value, e);
      if (!got) {
        CHECK(abs(units) > most - 1);
        continue;
      }
      const boost::multiprecision::cpp_rational off = abs(units - got->mantissa);
      const boost::multiprecision::cpp_rational half(1, 2);
      CHECK(off <= half);
      if (off == half) CHECK(got->mantissa % 2 == 0);
    }
  }

  TEST_CASE("back to double gives the nearest one") {
    CHECK(binnacle::to_double({1234, -1}) == 123.4);
    CHECK(binnacle::to_double({1, -18}) == 1e-18);
    CHECK(binnacle::to_double({most, 18}) == 9223372036854775807e18);
    CHECK(binnacle::to_double({most, -18}) == 9.223372036854775807);
    CHECK(binnacle::to_double({least, -1}) == -922337203685477580.8);
    CHECK(binnacle::to_double({0, 5}) == 0);
  }

  TEST_CASE("another exponent keeps the number, halves to even, or is absent") {
    CHECK(binnacle::rescale({1234, -1}, -3) == decimal{123400, -3});
    CHECK(binnacle::rescale({1235, -1}, 0)->mantissa == 124);
    CHECK(binnacle::rescale({1245, -1}, 0)->mantissa == 124);
    CHECK(binnacle::rescale({-1245, -1}, 0)->mantissa == -124);
    CHECK(binnacle::rescale({-1246, -1}, 0)->mantissa == -125);
    CHECK(binnacle::rescale({most, -18}, 18)->mantissa == 0);
    CHECK(binnacle::rescale({0, 18}, -18)->mantissa == 0);
    CHECK_FALSE(binnacle::rescale({1, 18}, -18).has_value());
    CHECK_FALSE(binnacle::rescale({most, 0}, -1).has_value());
    CHECK(binnacle::rescale({5, 18}, 0)->mantissa == 5'000'000'000'000'000'000);
  }

  TEST_CASE("the shortest form of a number has no zeros at its end, and is the same number") {
    const std::pair<binnacle::decimal, const char*> rows[] = {
        {{600'000'000, -7}, "60"}, {{1200, -3}, "1.2"}, {{-1250, -2}, "-12.5"},  {{0, -9}, "0"},
        {{5, 3}, "5000"},          {{100, 0}, "100"},   {{1, -9}, "0.000000001"}};
    for (const auto& row : rows) {
      CAPTURE(row.second);
      CHECK(binnacle::to_string(binnacle::shortest(row.first)) == row.second);
      CHECK(binnacle::shortest(row.first) == row.first);
    }
  }

  TEST_CASE("the natural exponent keeps nine digits, whole numbers whole, and the value within reach") {
    struct row {
      double value;
      int exponent;
    };
    const row rows[] = {{0, -9},  {1, -8},   {123.4, -6}, {0.001, -9}, {1e-12, -9}, {99'999'999, -1},
                        {1e8, 0}, {1e12, 0}, {4e17, 0},   {-5e18, 1},  {1e30, 13}};
    for (const row& r : rows) {
      CAPTURE(r.value);
      const auto e = binnacle::natural_exponent(r.value);
      REQUIRE(e.has_value());
      CHECK(static_cast<int>(*e) == r.exponent);
      CHECK(binnacle::from_double(r.value, *e).has_value());
    }
    CHECK_FALSE(binnacle::natural_exponent(std::nan("")).has_value());
    CHECK_FALSE(binnacle::natural_exponent(std::numeric_limits<double>::infinity()).has_value());
  }
}
