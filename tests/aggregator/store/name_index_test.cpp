#include "aggregator/store/name_index.hpp"

#include <doctest/doctest.h>

namespace binnacle::store {

TEST_SUITE("aggregator/store/name_index") {
  TEST_CASE("finds every name it was given, one by one and all at once, and no other") {
    name_index index;
    CHECK(index.find("node-0") == name_index::none);
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < 5000; ++i) {
      names.push_back("node-" + std::to_string(i));
      index.add(names.back(), node_id{i * 3});
    }
    names.insert(names.begin() + 7, "stranger");
    names.emplace_back();
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{17}, names.size()}) {
      std::vector<node_id> found(count);
      index.find_all(
          count, [&](std::size_t i) { return std::string_view(names[i]); }, found.data());
      for (std::size_t i = 0; i < count; ++i) {
        CAPTURE(names[i]);
        REQUIRE(found[i] == index.find(names[i]));
        const bool known = names[i].starts_with("node-");
        const auto number = static_cast<std::uint32_t>(i < 7 ? i : i - 1);
        REQUIRE(found[i] == (known ? node_id{number * 3} : name_index::none));
      }
    }
  }

  TEST_CASE("a name is not mistaken for a longer one that begins with it") {
    name_index index;
    index.add("node", node_id{1});
    index.add("node-1", node_id{2});
    index.add("", node_id{3});
    CHECK(index.find("node") == node_id{1});
    CHECK(index.find("node-1") == node_id{2});
    CHECK(index.find("node-") == name_index::none);
    CHECK(index.find("") == node_id{3});
  }
}

}  // namespace binnacle::store
