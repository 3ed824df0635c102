#include "aggregator/model_servers/complaints.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace complaints_test {

using namespace binnacle;
using namespace binnacle::model_servers;
using namespace std::chrono_literals;

namespace {

constexpr instant start{1h};

kube::object_reference config(const std::string& name) {
  return {"NodeConfig", "node.waok8s.github.io/v1beta1", "wao-system", name, "uid-" + name};
}

/// The events that are due at `now`. A replica that does not write (`writes`) gives none.
std::vector<kube::note> said(complaints& all, instant now, bool writes = true) {
  std::vector<kube::note> out;
  all.say(now, [&](kube::note n) {
    if (writes) out.push_back(std::move(n));
    return writes;
  });
  return out;
}

}  // namespace

TEST_SUITE("aggregator/model_servers/complaints") {
  TEST_CASE("what lasts is said once, on the object and in the status") {
    complaints all;
    all.add(config("a"), "nobody brings delta_p", start);
    CHECK_MESSAGE(said(all, start + 29s).empty(), "values come some seconds after the nodes");
    CHECK(all.sentences(start + 29s).empty());
    const auto events = said(all, start + 30s);
    REQUIRE(events.size() == 1);
    CHECK(events[0].about == config("a"));
    CHECK(events[0].warning);
    CHECK(events[0].text == "NodeConfig wao-system/a: nobody brings delta_p");
    CHECK(said(all, start + 40s).empty());
    REQUIRE(all.sentences(start + 40s).size() == 1);
    CHECK(all.sentences(start + 40s)[0] == "NodeConfig wao-system/a: nobody brings delta_p");
  }

  TEST_CASE("a replica that begins to write events says what lasts") {
    complaints all;
    all.add(config("a"), "x", start);
    CHECK(said(all, start + 40s, false).empty());
    CHECK(said(all, start + 50s, true).size() == 1);
  }

  TEST_CASE("what was not found again for a minute is over, and said again when it comes back") {
    complaints all;
    all.add(config("a"), "x", start);
    CHECK(said(all, start + 30s).size() == 1);
    all.add(config("a"), "x", start + 50s);
    all.end_old(start + 100s);
    CHECK(all.sentences(start + 100s).size() == 1);
    all.end_old(start + 110s);
    CHECK(all.sentences(start + 110s).empty());
    all.add(config("a"), "x", start + 120s);
    CHECK(said(all, start + 150s).size() == 1);
  }

  TEST_CASE("objects with one fault share a sentence, and there are ten at most") {
    complaints all;
    for (int i = 0; i < 5; ++i) all.add(config(fmt::format("n{}", i)), "same", start);
    auto said = all.sentences(start + 30s);
    REQUIRE(said.size() == 1);
    CHECK(said[0] ==
          "NodeConfig wao-system/n0, NodeConfig wao-system/n1, NodeConfig wao-system/n2 and 2 more: same");
    for (int i = 0; i < 20; ++i) all.add(config("n"), fmt::format("fault {:02}", i), start);
    said = all.sentences(start + 30s);
    REQUIRE(said.size() == 11);
    CHECK(said.back().starts_with("15 more objects"));
  }

  TEST_CASE("more than are kept are left out, which is said until there is room again") {
    complaints all;
    for (std::size_t i = 0; i < complaints::most + 5; ++i)
      all.add(config(fmt::format("n{}", i)), "same", start);
    auto said = all.sentences(start + 30s);
    CHECK(said.front().find(fmt::format("and {} more", complaints::most - 3)) != std::string::npos);
    CHECK(said.back().starts_with("more than 0 more objects"));
    all.end_old(start + 60s);
    all.add(config("a"), "x", start + 60s);
    CHECK(all.sentences(start + 90s).size() == 1);
  }
}

}  // namespace complaints_test
