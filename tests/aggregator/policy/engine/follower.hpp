#pragma once

#include "tests/aggregator/policy/world.hpp"

#include <map>
#include <string>

namespace binnacle::policy::test {

/// The labels of the nodes if each wish is carried out at once. Counts how often a label is set or removed.
struct follower {
  explicit follower(world& w) : w(w) {}
  void follow(char node) {
    for (const auto& [key, wish] : w.e.labels(world::id(node))) {
      auto& mine = labels[node];
      const auto before = mine;
      if (wish.what == label_wish::action::set) mine[key] = wish.value;
      if (wish.what == label_wish::action::remove) mine.erase(key);
      if (mine != before) ++changes;
    }
  }
  world& w;
  std::map<char, std::map<std::string, std::string>> labels;
  int changes = 0;
};

}  // namespace binnacle::policy::test
