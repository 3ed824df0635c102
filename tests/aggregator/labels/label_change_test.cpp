#include "aggregator/labels/label_change.hpp"

#include <boost/json/parse.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

namespace label_change_test {

namespace {

using namespace binnacle;
using namespace binnacle::labels;
using action = policy::label_wish::action;

/// A node as the API server has it. `labels` are JSON members; `ours` is our annotation, which lists the
/// labels that we wrote.
kube::node_objects::node node(const std::string& labels, const std::string& ours = "") {
  const std::string annotations = ours.empty() ? "" : fmt::format(R"("binnacle/labels":"{}")", ours);
  kube::node_objects seen;
  seen.changed(
      {"", "n1"},
      boost::json::parse(
          fmt::format(
              R"({{"metadata":{{"name":"n1","uid":"u","resourceVersion":"7","labels":{{{}}},"annotations":{{{}}}}}}})",
              labels, annotations))
          .as_object());
  return *seen.find("n1");
}

policy::label_wishes set(const std::string& key, const std::string& value) {
  return {{key, {action::set, value}}};
}
policy::label_wishes off(const std::string& key) { return {{key, {action::remove, ""}}}; }

const policy::label_claims power{{"power", "telemetry.aware.scheduling.power/heat"}, {}};
const std::string heat = "telemetry.aware.scheduling.power/heat";

/// The patch's body, or nothing.
std::string patch(const kube::node_objects::node& n, const policy::label_wishes& wishes,
                  const policy::label_claims& claims = power) {
  const label_change c = change_for(n, &wishes, claims);
  return c.empty() ? "" : patch_of("n1", n, c).body;
}

TEST_SUITE("aggregator/labels/label_change") {
  TEST_CASE(
      "a label goes on together with the annotation that says it is ours, if the node is as we know it") {
    CHECK(
        patch(node(R"("zone":"a")"), set("power", "violating")) ==
        R"({"metadata":{"resourceVersion":"7","labels":{"power":"violating"},"annotations":{"binnacle/labels":"power"}}})");
    CHECK(patch(node(R"("power":"violating")", "power"), set("power", "violating")).empty());
  }

  TEST_CASE(
      "a label goes off together with its entry in the annotation, and the last entry with the annotation") {
    CHECK(
        patch(node(R"("power":"violating","zone":"a")", "power"), off("power")) ==
        R"({"metadata":{"resourceVersion":"7","labels":{"power":null},"annotations":{"binnacle/labels":null}}})");
    CHECK(
        patch(node(R"("power":"violating")", "power," + heat), off("power")) ==
        R"({"metadata":{"resourceVersion":"7","labels":{"power":null},"annotations":{"binnacle/labels":"telemetry.aware.scheduling.power/heat"}}})");
  }

  TEST_CASE("defect_9_a_changed_value_is_one_replace") {
    CHECK(patch(node(R"("telemetry.aware.scheduling.power/heat":"low")", heat), set(heat, "high")) ==
          R"({"metadata":{"labels":{"telemetry.aware.scheduling.power/heat":"high"}}})");
  }

  TEST_CASE("defect_17_a_users_label_of_the_same_key_is_never_touched") {
    for (const char* value : {"violating", "no", ""}) {
      CAPTURE(value);
      const auto n = node(fmt::format(R"("power":"{}")", value));
      const policy::label_wishes wishes = set("power", "violating");
      const auto c = change_for(n, &wishes, power);
      CHECK(c.empty());
      CHECK(c.foreign == std::vector<std::string>{"power"});
      CHECK(patch(n, off("power")).empty());
      CHECK(patch(n, {}, {}).empty());
    }
    // We wrote this label, and then somebody else gave it another value: it is theirs, too.
    const auto taken = node(R"("power":"always")", "power");
    CHECK(patch(taken, set("power", "violating")) ==
          R"({"metadata":{"resourceVersion":"7","annotations":{"binnacle/labels":null}}})");
    CHECK(patch(taken, off("power")) ==
          R"({"metadata":{"resourceVersion":"7","annotations":{"binnacle/labels":null}}})");
  }

  TEST_CASE("what is somebody else's is told whatever is wished, and is no conflict unless we want it") {
    const auto n = node(R"("power":"mine")");
    for (const auto wish : {action::set, action::remove, action::keep, action::blocked}) {
      CAPTURE(static_cast<int>(wish));
      const policy::label_wishes wishes{{"power", {wish, ""}}, {"free", {wish, ""}}};
      const auto c = change_for(n, &wishes, power);
      CHECK(c.taken == policy::taken_keys{"power"});
      CHECK(c.foreign.empty() == (wish == action::remove || wish == action::keep));
    }
    // Blocked means: do nothing now. The engine wishes again when the key is free.
    CHECK(patch(node(""), {{"power", {action::blocked, ""}}}).empty());
    CHECK(patch(node(R"("power":"violating")", "power"), {{"power", {action::blocked, ""}}}).empty());
  }

  TEST_CASE("what is to be kept, and what nothing is known of yet, stays") {
    const auto n = node(R"("power":"violating")", "power");
    CHECK(patch(n, {{"power", {action::keep, ""}}}).empty());
    CHECK(patch(n, {}).empty());
    CHECK(change_for(n, nullptr, power).empty());
  }

  TEST_CASE("labels of policies that are not there any more go, from nodes of which nothing is known, too") {
    const auto n = node(R"("power":"violating","telemetry.aware.scheduling.gone/x":"1")",
                        "power,telemetry.aware.scheduling.gone/x");
    CHECK(
        patch_of("n1", n, change_for(n, nullptr, power)).body ==
        R"({"metadata":{"resourceVersion":"7","labels":{"telemetry.aware.scheduling.gone/x":null},"annotations":{"binnacle/labels":"power"}}})");
    // A wish from before the policy was deleted does not write the label again.
    CHECK(patch(node(""), set("power", "violating"), {}).empty());
  }

  TEST_CASE("a policy that is there but wrong keeps its labels") {
    const auto n = node(R"("power":"violating","telemetry.aware.scheduling.power/x":"1")",
                        "power,telemetry.aware.scheduling.power/x");
    const policy::label_claims unread{{}, {"power"}};
    CHECK(change_for(n, nullptr, unread).empty());
    CHECK_FALSE(change_for(n, nullptr, {{}, {"powe"}}).empty());
  }

  TEST_CASE("whatever somebody writes into our annotation, no label goes that cannot be ours") {
    const auto n = node(R"("kubernetes.io/hostname":"n1")", "kubernetes.io/hostname, ,not a key");
    CHECK(patch(n, {}) == R"({"metadata":{"resourceVersion":"7","annotations":{"binnacle/labels":null}}})");
  }

  TEST_CASE("a label that somebody took off is put on again, and one that is to go need not be there") {
    CHECK(patch(node("", "power"), set("power", "violating")) ==
          R"({"metadata":{"labels":{"power":"violating"}}})");
    CHECK(patch(node("", "power"), off("power")) ==
          R"({"metadata":{"resourceVersion":"7","annotations":{"binnacle/labels":null}}})");
  }

  TEST_CASE("the label that wakes goes after the last policy, and that wakes, too") {
    const auto n = node(R"("binnacle/wake":"41")");
    CHECK(patch(n, {}).empty());
    const policy::label_claims none{{}, {}, true};
    CHECK(patch(n, {}, none) == R"({"metadata":{"labels":{"binnacle/wake":null}}})");
    CHECK(patch(node(""), {}, none).empty());
    label_change c = change_for(n, nullptr, none);
    add_wake(n, c);
    CHECK(c.labels.at("binnacle/wake") == std::nullopt);
  }

  TEST_CASE("a wake is a label of our own that changes each time, or any other label that changes") {
    label_change c;
    add_wake(node(""), c);
    CHECK(c.labels.at("binnacle/wake") == "1");
    c = {};
    add_wake(node(R"("binnacle/wake":"41")"), c);
    CHECK(c.labels.at("binnacle/wake") == "42");
    c = {};
    add_wake(node(R"("binnacle/wake":"x")"), c);
    CHECK(c.labels.at("binnacle/wake") == "1");
    const policy::label_wishes wishes = off("power");
    c = change_for(node(R"("power":"violating")", "power"), &wishes, power);
    add_wake(node(""), c);
    CHECK(c.labels.size() == 1);
  }
}

}  // namespace

}  // namespace label_change_test
