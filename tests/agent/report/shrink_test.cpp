#include "agent/report/shrink.hpp"

#include <doctest/doctest.h>

#include <string>

namespace shrink_test {

using namespace binnacle::agent;

namespace {

std::string text_of(const YAML::Node& n) {
  YAML::Emitter out;
  out << YAML::Flow << n;
  return out.c_str();
}

}  // namespace

TEST_SUITE_BEGIN("agent/report/shrink");

TEST_CASE("a box that is like an elder one is said by what differs, in folders below it too") {
  auto tree = YAML::Load(R"(
imc_0: {type: 21, cpumask: 0, format: {event: "config:0-7", umask: "config:8-15"}, events: {read: a, write: b}}
imc_1: {type: 22, cpumask: 0, format: {event: "config:0-7", umask: "config:8-15"}, events: {read: a, write: c}}
cha_0: {type: 30, cpumask: 0, format: {event: "config:0-7"}})");
  share_alike(tree);
  CHECK(text_of(tree["imc_1"]) == "{as: imc_0, type: 22, events: {write: c}}");
  CHECK(tree["imc_0"].size() == 4);
  CHECK(!tree["cha_0"]["as"]);
}

TEST_CASE("folders that have little in common, or a tag that differs, are said whole") {
  auto tree =
      YAML::Load("{a: {x: 1, y: 2}, b: {x: 3, y: 4}, c: {x: !refused 1, y: 2, z: 3}, d: {x: 1, y: 2, z: 3}}");
  share_alike(tree);
  CHECK(!tree["b"]["as"]);
  CHECK(text_of(tree["d"]) == "{as: c, x: 1}");
}

TEST_CASE("what does not fit is cut from the end, and counted") {
  const auto folder = YAML::Load(
      "{zone: {name: package-0, energy: 1}, other: {name: package-1, energy: 2}, last: {name: a}}");
  CHECK(text_of(cut_to(folder, 1000)) == text_of(folder));
  const auto less = cut_to(folder, 80);
  CHECK(text_of(less) ==
        "{zone: {name: package-0, energy: 1}, other: {name: package-1, left-out: 1}, left-out: 1}");
  CHECK(text_of(cut_to(folder, 0)) == "{left-out: 3}");
}

TEST_SUITE_END();

}  // namespace shrink_test
