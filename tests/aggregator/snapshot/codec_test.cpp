#include "aggregator/snapshot/snapshot.hpp"
#include "tests/support/data.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace snapshot_codec_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

policy::policy policy_of(int target) {
  return policy::policy_of_manifest(
             fmt::format(
                 "{{apiVersion: telemetry.intel.com/v1alpha1, kind: TASPolicy, metadata: {{namespace: "
                 "lab, name: hot, uid: 7c9}}, spec: {{strategies: {{dontschedule: {{rules: "
                 "[{{metricname: m, operator: GreaterThan, target: {}}}]}}}}}}}}",
                 target))
      .value();
}

network address(std::uint8_t last_byte) {
  network out;
  out.bytes.back() = last_byte;
  return out;
}

snapshot sample() {
  snapshot s;
  s.boot_id = "6c1f";
  s.taken = instant(90s);
  s.taken_wall = std::chrono::system_clock::time_point(1'700'000'000s);
  s.columns.push_back(
      {{.metric = "host_power_watts", .window = 10s, .stat = store::statistic::p95}, "host_power_watts"});
  s.strategies.push_back({.key = {"lab", "hot"},
                          .uid = "7c9",
                          .kind = policy::strategy_kind::deschedule,
                          .content = 0xfedcba9876543210,
                          .last_given = instant(80s),
                          .disowned = true});
  s.strategies.push_back({.key = {"lab", "cold"}, .kind = policy::strategy_kind::minimizepower});
  s.policies.push_back({policy_of(80), "TASPolicy lab/hot", false, true});
  s.policies.push_back({policy_of(90), "TASPolicy lab/hot", true, false});
  s.nodes.push_back({"node-a",
                     {1, -2, 3},
                     {{"hot", "violating"}},
                     {{address(7), "boot-1", instant(70s)}, {address(8), "boot-2", instant(80s)}},
                     snapshot::contact{instant(40s), instant(90s)},
                     "uid-of-a"});
  s.nodes.push_back({"node-b", {}, {}});
  return s;
}

TEST_SUITE("aggregator/snapshot/codec") {
  TEST_CASE("what is decoded is what was encoded") {
    const auto back = decode(encode(sample()));
    REQUIRE(back.has_value());
    CHECK(back->boot_id == "6c1f");
    CHECK(back->taken == instant(90s));
    CHECK(back->taken_wall == std::chrono::system_clock::time_point(1'700'000'000s));
    REQUIRE(back->columns.size() == 1);
    CHECK(back->columns[0].spec == sample().columns[0].spec);
    CHECK(back->columns[0].meaning == "host_power_watts");
    REQUIRE(back->strategies.size() == 2);
    CHECK(back->strategies[0].key == policy::policy_key{"lab", "hot"});
    CHECK(back->strategies[0].uid == "7c9");
    CHECK(back->strategies[0].kind == policy::strategy_kind::deschedule);
    CHECK(back->strategies[0].content == 0xfedcba9876543210);
    CHECK(back->strategies[0].last_given == instant(80s));
    CHECK(back->strategies[0].disowned);
    CHECK_FALSE(back->strategies[1].disowned);
    CHECK(back->says_heard);
    CHECK(back->strategies[1].uid.empty());
    CHECK(back->strategies[1].kind == policy::strategy_kind::minimizepower);
    CHECK_FALSE(back->strategies[1].last_given.has_value());
    REQUIRE(back->policies.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(back->policies[i].value == sample().policies[i].value);
      CHECK(back->policies[i].source == "TASPolicy lab/hot");
      CHECK(back->policies[i].read == (i == 1));
      CHECK(back->policies[i].in_force == (i == 0));
    }
    REQUIRE(back->nodes.size() == 2);
    CHECK(back->nodes[0].name == "node-a");
    CHECK(back->nodes[0].words == store::words{1, -2, 3});
    CHECK(back->nodes[0].labels == std::map<std::string, std::string>{{"hot", "violating"}});
    CHECK(back->nodes[0].tenants == sample().nodes[0].tenants);
    CHECK(back->nodes[0].heard == sample().nodes[0].heard);
    CHECK(back->nodes[0].uid == "uid-of-a");
    CHECK(back->nodes[1].words.empty());
    CHECK_FALSE(back->nodes[1].heard.has_value());
    CHECK(back->nodes[1].tenants.empty());
  }

  TEST_CASE("nodes that fill several messages of 256 KiB come back in order") {
    snapshot s = sample();
    s.nodes.clear();
    for (int i = 0; i < 40; ++i)
      s.nodes.push_back({"node-" + std::to_string(i), store::words(4'000, i), {}});  // 32 KB each
    const auto back = decode(encode(std::move(s)));
    REQUIRE(back.has_value());
    REQUIRE(back->nodes.size() == 40);
    for (int i = 0; i < 40; ++i) {
      const auto& n = back->nodes[static_cast<std::size_t>(i)];
      CHECK(n.name == "node-" + std::to_string(i));
      CHECK(n.words == store::words(4'000, i));
    }
  }

  // A release that is rolled back, or upgraded pod by pod, reads snapshots of the newer one.
  TEST_CASE("a kind of strategy and a statistic of a newer release cost only themselves, not the snapshot") {
    // The newer release's names are put in the place of known ones of the same length.
    const auto renamed = [](std::vector<std::byte> bytes, std::string_view from, std::string_view to) {
      std::string all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      const std::size_t at = all.find(from);
      REQUIRE(at != std::string::npos);
      std::ranges::copy(std::as_bytes(std::span(to)), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      return bytes;
    };
    snapshot s = sample();
    snapshot::column newer = s.columns[0];
    newer.spec.stat = static_cast<store::statistic>(200);
    s.columns.insert(s.columns.begin(), newer);
    const auto back = decode(renamed(encode(std::move(s)), "desched", "deepfre"));
    REQUIRE(back.has_value());
    REQUIRE(back->columns.size() == 2);
    CHECK(back->columns[0].spec.metric.empty());
    CHECK(back->columns[1].spec == sample().columns[0].spec);
    REQUIRE(back->strategies.size() == 2);
    CHECK(back->strategies[0].key == policy::policy_key{});
    CHECK(back->strategies[1].key == policy::policy_key{"lab", "cold"});
    CHECK(back->nodes.size() == 2);
  }

  TEST_CASE("a policy that no object could say is left out, and costs only itself") {
    snapshot s = sample();
    s.policies[0].value.strategies[0].rules[0].metric = "no metric";
    const auto back = decode(encode(std::move(s)));
    REQUIRE(back.has_value());
    REQUIRE(back->policies.size() == 1);
    CHECK(back->policies[0].read);
    CHECK(back->nodes.size() == 2);
  }

  TEST_CASE("a state file of a release that kept no versions of policies is read") {
    std::ifstream file(support::data_folder() + "/../fuzz/seeds/snapshot/of_a_trial", std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    REQUIRE(bytes.size() > 1);
    const auto read = decode(std::as_bytes(std::span(bytes).subspan(1)));  // byte 0 is for the fuzz target
    REQUIRE(read.has_value());
    CHECK(read->nodes.size() == 1);
    CHECK(read->policies.empty());
    CHECK(read->nodes[0].tenants.empty());
    REQUIRE_MESSAGE(read->nodes[0].heard.has_value(), "it has values, so its agent was there");
    CHECK(read->nodes[0].heard->until == read->taken);
  }

  TEST_CASE("more versions of policies than a snapshot may have are not read") {
    snapshot s = sample();
    s.policies.assign(most_kept_policies + 1, s.policies[0]);
    const auto back = decode(encode(std::move(s)));
    REQUIRE(back.has_value());
    CHECK(back->policies.size() == most_kept_policies);
  }

  TEST_CASE("a tenant that cannot have been there is left out, and so are those beyond four") {
    snapshot s = sample();
    auto& tenants = s.nodes[0].tenants;
    tenants[0].last = instant::max();
    tenants[1].boot = std::string(256, 'b');
    for (std::uint8_t i = 10; i < 20; ++i) tenants.push_back({address(i), "boot", instant(60s)});
    const auto back = decode(encode(std::move(s)));
    REQUIRE(back.has_value());
    const auto& read = back->nodes[0].tenants;
    REQUIRE(read.size() == snapshot::most_tenants);
    CHECK(read.front().address == address(10));
    CHECK(read.back().address == address(13));
    CHECK(back->nodes[1].name == "node-b");
  }

  TEST_CASE("a contact that cannot have been is left out") {
    snapshot s = sample();
    s.nodes[0].heard = snapshot::contact{instant(90s), instant(40s)};
    s.nodes[1].heard = snapshot::contact{instant(0s), instant::max()};
    const auto back = decode(encode(std::move(s)));
    REQUIRE(back.has_value());
    CHECK_FALSE(back->nodes[0].heard.has_value());
    CHECK_FALSE(back->nodes[1].heard.has_value());
  }

  TEST_CASE("a file that was cut off anywhere is refused, not taken in part") {
    const auto whole = encode(sample());
    for (std::size_t n = 0; n < whole.size(); ++n) {
      CAPTURE(n);
      CHECK(decode(std::span(whole).first(n)).has_error());
    }
  }

  TEST_CASE("an instant that no machine has is refused") {
    snapshot s = sample();
    s.strategies[0].last_given = instant::max();
    const auto back = decode(encode(std::move(s)));
    REQUIRE(back.has_error());
    CHECK(back.error().message.find("in no machine's time") != std::string::npos);
  }

  TEST_CASE("within one boot ages go by the boot time, after a restart of the machine by the wall clock") {
    const snapshot s = sample();
    const clocks later{"6c1f", instant(100s), s.taken_wall + 1h};
    CHECK(age_of(s, later) == 10s);
    CHECK(shift_of(s, later) == 0s);
    const clocks rebooted{"other", instant(30s), s.taken_wall + 5min};
    CHECK(age_of(s, rebooted) == 5min);
    // The snapshot was taken 5 min ago, which is 30 s - 5 min in the time of this boot. The snapshot itself
    // says 90 s.
    CHECK(shift_of(s, rebooted) == 30s - 5min - 90s);
    const clocks set_back{"other", instant(30s), s.taken_wall - 1h};
    CHECK_FALSE_MESSAGE(age_of(s, set_back).has_value(), "nobody knows how old it is");
    CHECK(shift_of(s, set_back) == 30s - 90s);
    const clocks corrected{"other", instant(30s), s.taken_wall - 500ms};
    CHECK(age_of(s, corrected) == 0s);
  }

  TEST_CASE("a boot without an id is like no other") {
    snapshot s = sample();
    s.boot_id.clear();
    CHECK(age_of(s, {"", instant(100s), s.taken_wall + 1min}) == 1min);
  }
}

}  // namespace

}  // namespace snapshot_codec_test
