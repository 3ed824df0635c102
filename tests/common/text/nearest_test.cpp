#include "common/text/nearest.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace nearest_test {

using binnacle::nearest;

namespace {

const std::vector<std::string_view> known{"metricname", "operator", "target", "for"};

TEST_SUITE("common/text/nearest") {
  TEST_CASE("a word with a few letters wrong is recognised, whatever its case") {
    CHECK(nearest("metricName", known) == "metricname");
    CHECK(nearest("oprator", known) == "operator");
    CHECK(nearest("TARGETS", known) == "target");
  }

  TEST_CASE("a word that is like none is not guessed") {
    CHECK(nearest("", known).empty());
    CHECK(nearest("window", known).empty());
    CHECK(nearest("xyz", known).empty());  // as far from "for" as "for" is long
    CHECK(nearest("target", {}).empty());
    CHECK(nearest(std::string(101, 'x'), {std::string_view("x")}).empty());
  }

  TEST_CASE("letters that are missing, added or others count one each, up to a third of the word") {
    const std::string word(30, 'a');
    const auto is_near = [&](const std::string& candidate) { return !nearest(word, {candidate}).empty(); };
    CHECK(is_near(word));
    CHECK(is_near(std::string(20, 'a')));
    CHECK_FALSE(is_near(std::string(19, 'a')));
    CHECK(is_near(std::string(40, 'a')));
    CHECK_FALSE(is_near(std::string(41, 'a')));
    CHECK(is_near(std::string(10, 'b') + std::string(20, 'A')));
    CHECK_FALSE(is_near(std::string(11, 'b') + std::string(19, 'a')));
    CHECK(is_near(std::string(20, 'a') + std::string(10, 'b') + std::string(10, 'a')));
    CHECK(nearest(std::string(100, 'a'), {std::string(133, 'a')}) == std::string(133, 'a'));
    CHECK(nearest("kitten", {"sitting", "mitten"}) == "mitten");
    CHECK(nearest("ab", {"ba"}).empty());
    CHECK(nearest("abc", {"bca"}) == "bca");
  }

  TEST_CASE("attack: words from outside are compared for a bounded time, and then none is found") {
    std::vector<std::string> many;
    for (int i = 0; i < 5000; ++i) many.push_back(std::string(90, 'a') + std::to_string(10'000 + i));
    const std::vector<std::string_view> all(many.begin(), many.end());
    std::size_t work = 100'000;
    CHECK(nearest(std::string(60, 'a') + std::string(32, 'b'), all, work).empty());
    CHECK(work == 0);
    work = 100'000'000;
    CHECK(nearest(many[4999], all, work) == many[4999]);
    CHECK(work > 0);
  }
}

}  // namespace

}  // namespace nearest_test
