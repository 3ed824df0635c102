// One core goes on from a snapshot, beside one that was never stopped. Both must say the same.
#include "tests/aggregator/core/restart_world.hpp"

#include <doctest/doctest.h>

namespace restart_test {

TEST_SUITE("aggregator/core/restart") {
  TEST_CASE(
      "a replica that is killed at any moment and goes on from its snapshot says what one says that was "
      "never killed") {
    for (const bool in_cluster : {false, true}) {
      for (unsigned seed = 1; seed <= 20; ++seed) {
        CAPTURE(in_cluster);
        CAPTURE(seed);
        const auto day = a_random_day(seed, 60);
        const std::size_t killed_at = 5 + seed * 7 % 45;
        replica whole(in_cluster, 0s);
        instant now = store::at_s(1000);
        whole.begin(now);
        for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
        std::unique_ptr<replica> again;
        for (std::size_t t = 0; t < day.size(); ++t) {
          now += 1s;
          CAPTURE(t);
          if (t == killed_at) {
            // After another boot the times in the snapshot are shifted and ages stay the same; half of the
            // seeds keep the same boot.
            again = std::make_unique<replica>(in_cluster, seed % 2 == 0 ? duration(0s) : duration(5000s));
            whole.tick(now);  // a value that has expired by now is lost, one that expires later is not
            again->objects = whole.objects;
            again->go_on_from(encode(whole.taken(now)), now);
            again->begin(now);
            again->tick(now);
            REQUIRE(again->says(now) == whole.says(now));
            for (std::size_t n = 0; n < fleet; ++n) again->connect(n, now);
            REQUIRE(again->says(now) == whole.says(now));
          }
          for (replica* r : {&whole, again.get()}) {
            if (r == nullptr) continue;
            for (const auto& [n, temp] : day[t].values) r->value(n, temp, now);
            r->tick(now);
          }
          if (again) REQUIRE(again->says(now) == whole.says(now));
        }
      }
    }
  }

  // The second replica ends before it has read all that the first one knew.
  void second_restart(bool with_policies) {
    for (const bool in_cluster : {false, true}) {
      for (unsigned seed = 1; seed <= 10; ++seed) {
        CAPTURE(in_cluster);
        CAPTURE(seed);
        const auto day = a_random_day(seed, 60);
        const std::size_t killed_at = 20 + seed;
        replica whole(in_cluster, 0s);
        instant now = store::at_s(1000);
        whole.begin(now);
        for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
        std::unique_ptr<replica> again;
        for (std::size_t t = 0; t < day.size(); ++t) {
          now += 1s;
          CAPTURE(t);
          if (t == killed_at) {
            whole.tick(now);
            std::vector<std::byte> file = encode(whole.taken(now));
            replica between(in_cluster, 7000s);
            between.objects = whole.objects;
            between.go_on_from(file, now);
            if (with_policies) between.begin(now);
            between.tick(now);
            between.keep_state(file, now);
            again = std::make_unique<replica>(in_cluster, 3000s);
            again->objects = whole.objects;
            again->go_on_from(file, now);
            again->begin(now);
            again->tick(now);
            for (std::size_t n = 0; n < fleet; ++n) again->connect(n, now);
            REQUIRE(again->says(now) == whole.says(now));
          }
          for (replica* r : {&whole, again.get()}) {
            if (r == nullptr) continue;
            for (const auto& [n, temp] : day[t].values) r->value(n, temp, now);
            r->tick(now);
          }
          if (again) REQUIRE(again->says(now) == whole.says(now));
        }
      }
    }
  }

  TEST_CASE("a replica that ends before it has read the policies leaves the state file as it was") {
    second_restart(false);
  }

  TEST_CASE("a replica that ends before the agents are back keeps their windows in the state file") {
    second_restart(true);
  }

  TEST_CASE("agents that find a new replica late find bands and `for` of dontschedule as they were") {
    for (const bool in_cluster : {false, true}) {
      CAPTURE(in_cluster);
      replica whole(in_cluster, 0s), again(in_cluster, 5000s);
      whole.text = again.text = unlabelled_text;
      instant now = store::at_s(1000);
      whole.begin(now);
      for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
      for (int t = 0; t < 80; ++t) {
        now += 1s;
        CAPTURE(t);
        if (t == 20) {
          again.go_on_from(encode(whole.taken(now)), now);
          again.begin(now);
        }
        const bool are_back = t >= 65;  // the names' server had the address of the old replica for so long
        if (t == 65) {
          for (std::size_t n = 0; n < fleet; ++n) again.connect(n, now);
        }
        for (std::size_t n = 0; n < fleet; ++n) {
          whole.value(n, unlabelled_temp(n, t), now);
          if (are_back) again.value(n, unlabelled_temp(n, t), now);
        }
        whole.tick(now);
        if (t >= 20) again.tick(now);
        if (are_back) REQUIRE(again.says(now) == whole.says(now));
      }
    }
  }

  /// One replica sees a change of the policies, and one that is down does not. Both say the same afterwards.
  void while_down(const std::function<void(replica & whole, replica & again, instant now)>& change) {
    for (const bool in_cluster : {false, true}) {
      CAPTURE(in_cluster);
      replica whole(in_cluster, 0s), again(in_cluster, 5000s);
      whole.text = again.text = unlabelled_text;
      whole.uid = again.uid = "u1";
      instant now = store::at_s(1000);
      whole.begin(now);
      for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
      for (int t = 0; t < 90; ++t) {
        now += 1s;
        CAPTURE(t);
        if (t == 30) {
          const auto file = encode(whole.taken(now));
          change(whole, again, now);
          again.go_on_from(file, now);
          again.begin(now);
          for (std::size_t n = 0; n < fleet; ++n) again.connect(n, now);
          REQUIRE(again.says(now) == whole.says(now));
        }
        for (std::size_t n = 0; n < fleet; ++n) {
          whole.value(n, unlabelled_temp(n, t), now);
          if (t >= 30) again.value(n, unlabelled_temp(n, t), now);
        }
        whole.tick(now);
        if (t < 30) continue;
        again.tick(now);
        REQUIRE(again.says(now) == whole.says(now));
      }
    }
  }

  TEST_CASE("policies that were deleted and created again while a replica was down begin anew there, too") {
    while_down([](replica& whole, replica& again, instant now) {
      whole.whole->policies({{}, {}, true}, now + whole.boot);
      whole.uid = again.uid = "u2";
      whole.read_policies(now);
    });
  }

  TEST_CASE("policies that were edited while a replica was down are carried over there, too") {
    while_down([](replica& whole, replica& again, instant now) {
      whole.text = again.text = edited_text;
      whole.read_policies(now);
    });
  }

  TEST_CASE("in a cluster the state file waits for all policies, and no longer than the old state counts") {
    replica whole(true, 0s);
    const instant now = store::at_s(1000);
    whole.begin(now);
    for (std::size_t n = 0; n < fleet; ++n) whole.connect(n, now);
    replica again(true, 0s);
    CHECK_FALSE_MESSAGE(again.whole->remembers_more(), "there was no state");
    again.go_on_from(encode(whole.taken(now)), now);
    CHECK(again.whole->remembers_more());
    again.whole->policies({{}, {}, false}, now);
    CHECK_MESSAGE(again.whole->remembers_more(), "the API server has not told of all");
    again.read_policies(now);
    CHECK_FALSE(again.whole->remembers_more());
    replica late(true, 0s);
    late.go_on_from(encode(whole.taken(now)), now);
    late.whole->tick(now + 6min);
    CHECK_MESSAGE(late.whole->remembers_more(), "the API server is away for longer than usual");
    late.whole->tick(now + core::file_counts_for - 1s);
    CHECK(late.whole->remembers_more());
    late.whole->tick(now + core::file_counts_for);
    CHECK_FALSE_MESSAGE(late.whole->remembers_more(), "the file would soon be too old to go on from");
    CHECK(late.whole->tick(now + core::snapshot_counts_for - 1s) == now + core::snapshot_counts_for);
  }

  TEST_CASE("a node that was deleted while the replica was dead gives its slot back") {
    replica whole(true, 0s);
    instant now = store::at_s(1000);
    constexpr auto one_node = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: hot}
spec: {strategies: {deschedule: {maxNodes: 1, rules: [{metricname: temp, operator: GreaterThan, target: 80}]}}}
)";
    whole.text = one_node;
    whole.begin(now);
    for (const std::size_t n : {0, 1}) {
      now += 1s;
      whole.connect(n, now);
      whole.value(n, 90, now);
      whole.tick(now);
    }
    REQUIRE(whole.objects["node-0"].contains("hot"));
    REQUIRE_FALSE(whole.objects["node-1"].contains("hot"));
    replica again(true, 0s);
    again.text = one_node;
    again.deleted = {"node-0"};
    again.go_on_from(encode(whole.taken(now)), now, 2);
    again.begin(now);
    again.tick(now);
    CHECK_MESSAGE(again.objects["node-1"].contains("hot"), "it waited for the slot");
  }

  // In both orders: the API server may send its policies or its nodes first.
  TEST_CASE("a node that was made anew while the replica was dead begins anew, as where that was seen") {
    for (const bool policies_first : {true, false}) {
      for (const bool made_anew : {true, false}) {
        CAPTURE(policies_first);
        CAPTURE(made_anew);
        replica whole(true, 0s);
        whole.text = each_for_itself;
        whole.uids["node-0"] = "first";
        instant now = store::at_s(1000);
        whole.begin(now);
        whole.connect(0, now);
        for (const std::int64_t temp : {90, 90, 70}) {
          now += 1s;
          whole.value(0, temp, now);
          whole.tick(now);
        }
        const auto violates = [](const replica& r) {
          const auto id = r.whole->store().find("node-0").value();
          for (const auto& [key, p] : *r.whole->engine().table()) {
            for (const auto& s : p->strategies) {
              if (s.kind == policy::strategy_kind::dontschedule) return s.verdicts->load(id).violating;
            }
          }
          return false;
        };
        REQUIRE_MESSAGE(violates(whole), "it is in the band");
        const auto first_file = encode(whole.taken(now));
        // Another process goes on from the file, and ends before it has read the nodes.
        replica between(true, 0s);
        between.text = each_for_itself;
        between.go_on_from(first_file, now, 1);
        between.read_policies(now);
        const auto file = encode(between.taken(now));

        replica again(true, 0s);
        again.text = each_for_itself;
        again.go_on_from(file, now, 1);
        again.whole->set_writes_labels(false, now);
        again.uids["node-0"] = whole.uids["node-0"] = made_anew ? "second" : "first";
        if (made_anew) whole.whole->node_labels({{"node-0", std::nullopt}}, now);
        whole.read_nodes(now);
        if (policies_first) again.read_policies(now);
        again.read_nodes(now);
        if (!policies_first) again.read_policies(now);
        again.whole->set_writes_labels(true, now);
        for (replica* r : {&whole, &again}) r->tick(now);
        CHECK(violates(again) != made_anew);
        CHECK(again.says(now) == whole.says(now));
      }
    }
  }

  TEST_CASE("what the state says of policies counts until five minutes after they were read, not earlier") {
    replica whole(true, 0s);
    instant now = store::at_s(1000);
    whole.begin(now);
    whole.connect(0, now);
    for (int t = 0; t < 4; ++t) {
      now += 1s;
      whole.value(0, 90, now);
      whole.tick(now);
    }
    REQUIRE(whole.objects["node-0"].contains("hot"));
    const auto last_given = [](const replica& r, instant at) {
      const snapshot kept = r.taken(at);
      for (const policy::strategy_mark& m : kept.strategies) {
        if (m.kind == policy::strategy_kind::deschedule) return m.last_given;
      }
      return std::optional<instant>();
    };
    const auto given = last_given(whole, now);
    REQUIRE(given.has_value());
    const auto file = encode(whole.taken(now));
    for (const bool late : {false, true}) {
      CAPTURE(late);
      replica again(true, 0s);
      again.objects = whole.objects;
      again.go_on_from(file, now, 1);
      instant then = now + 20min;  // the API server was away
      again.whole->tick(then);
      if (late) {
        // A policy that was no policy when all had been read, and is applied after that.
        again.whole->policies({{}, {}, true}, then);
        then += core::strategies_count_for;
        again.whole->tick(then);
      }
      again.begin(then);
      CHECK((last_given(again, then) == given) != late);
    }
  }

  TEST_CASE("a node whose agent comes back after six minutes has its window, with the gap in it") {
    replica whole(false, 0s);
    instant now = store::at_s(1000);
    constexpr auto hour = R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: hour}
spec: {strategies: {dontschedule: {rules: [{metricname: temp, operator: GreaterThan, target: 80, window: 1h}]}}}
)";
    whole.text = hour;
    whole.begin(now);
    whole.connect(0, now);
    for (int t = 0; t < 1'200; ++t) {
      now += 1s;
      whole.value(0, 90, now);
      whole.tick(now);
    }
    replica again(false, 0s);
    again.text = hour;
    again.go_on_from(encode(whole.taken(now)), now, 1);
    again.begin(now);
    now += 6min;
    for (replica* r : {&whole, &again}) r->tick(now);
    again.connect(0, now);
    for (replica* r : {&whole, &again}) {
      r->value(0, 90, now);
      r->tick(now);
    }
    CHECK(again.says(now) == whole.says(now));
  }
}

}  // namespace restart_test
