// What a replica takes of the states that it finds: its own file and its peer's, how old, how large, how
// whole.
#include "tests/aggregator/core/restart_world.hpp"

#include <doctest/doctest.h>

namespace restart_test {

TEST_SUITE("aggregator/core/restart_states") {
  /// What `whole` reads of a state that `of` took.
  kept_state kept_by(const replica& of, const replica& whole, instant now) {
    auto read = decode(encode(of.taken(now)));
    REQUIRE(read.has_value());
    const duration shift = shift_of(*read, whole.now_is(now));
    return {std::move(*read), shift};
  }

  // The other replica has lost nothing of nodes 0 to 2, of which this one's file lacks the last minutes. It
  // hears nodes 3 to 5 only since a moment, while the file knows them well.
  TEST_CASE("of a replica's state and its own file each node goes on as if nothing had been lost") {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      const auto day = a_random_day(seed, 260);
      constexpr std::size_t lost_at = 60, found_at = 195, killed_at = 200;
      replica whole(false, 0s), killed(false, 0s), other(false, 7000s), again(false, 0s);
      instant now = store::at_s(1000);
      for (replica* r : {&whole, &killed, &other, &again}) r->text = each_for_itself;
      for (replica* r : {&whole, &killed, &other}) r->begin(now);
      for (std::size_t n = 0; n < fleet; ++n) {
        whole.connect(n, now);
        killed.connect(n, now);
        if (n < 3) other.connect(n, now);
      }
      bool restarted = false;
      std::vector<std::int64_t> temps(fleet, 72);
      for (std::size_t t = 0; t < day.size(); ++t) {
        now += 1s;
        CAPTURE(t);
        if (t == lost_at) {
          for (std::size_t n = 0; n < 3; ++n) killed.disconnect(n, now);
        }
        if (t == found_at) {
          for (std::size_t n = 3; n < fleet; ++n) other.connect(n, now);
        }
        if (t == killed_at) {
          for (replica* r : {&whole, &killed, &other}) r->tick(now);
          std::vector<kept_state> states;
          states.push_back(kept_by(other, again, now));
          states.push_back(kept_by(killed, again, now));
          CHECK((again.whole->recall(std::move(states), now) == std::vector<std::size_t>{3, 3}));
          again.begin(now);
          restarted = true;
          again.tick(now);
          for (std::size_t n = 0; n < fleet; ++n) again.connect(n, now);
          REQUIRE(again.says(now) == whole.says(now));
        }
        for (const auto& [n, temp] : day[t].values) temps[n] = temp;
        for (std::size_t n = 0; n < fleet; ++n) {
          whole.value(n, temps[n], now);
          if (restarted) again.value(n, temps[n], now);
          if (n >= 3 || t < lost_at) killed.value(n, temps[n], now);
          if (n < 3 || t >= found_at) other.value(n, temps[n], now);
        }
        for (replica* r : {&whole, &killed, &other}) r->tick(now);
        if (restarted) again.tick(now);
        if (restarted) REQUIRE(again.says(now) == whole.says(now));
      }
    }
  }

  TEST_CASE("of two states a cool-down goes on from the later label, and of a file without an age from now") {
    replica first(false, 0s), second(false, 0s);
    instant now = store::at_s(1000);
    const auto label_one = [&now](replica& r) {
      r.begin(now);
      r.connect(0, now);
      for (int t = 0; t < 4; ++t) {
        now += 1s;
        r.value(0, 90, now);
        r.tick(now);
      }
      CHECK(r.objects["node-0"].contains("hot"));
    };
    label_one(first);
    const kept_state earlier = kept_by(first, first, now);
    label_one(second);
    const kept_state later = kept_by(second, second, now);
    const auto last_given = [&now](std::vector<kept_state> states) {
      replica again(false, 0s);
      again.whole->recall(std::move(states), now);
      again.begin(now);
      const snapshot kept = again.taken(now);
      for (const policy::strategy_mark& m : kept.strategies) {
        if (m.kind == policy::strategy_kind::deschedule) return m.last_given.value_or(instant{});
      }
      return instant{};
    };
    const instant then = last_given({later});
    CHECK(then > store::at_s(1004));
    CHECK(last_given({earlier, later}) == then);
    CHECK(last_given({later, earlier}) == then);
    kept_state undated = earlier;
    undated.all.nodes.at(0).labels.clear();  // a label that is found also begins a cool-down
    undated.shift = now - undated.all.taken;
    undated.is_dated = false;
    CHECK(last_given({undated}) == now);
  }

  TEST_CASE("of a file whose age nobody knows no value, window or rule counts") {
    replica whole(false, 0s);
    whole.text = each_for_itself;
    instant now = store::at_s(1000);
    whole.begin(now);
    whole.connect(0, now);
    for (const std::int64_t temp : {90, 90, 90, 90, 90, 90, 90, 70}) {
      now += 1s;
      whole.value(0, temp, now);
      whole.tick(now);
    }
    for (const bool is_dated : {true, false}) {
      CAPTURE(is_dated);
      replica again(false, 0s);
      again.text = each_for_itself;
      std::vector<kept_state> states;
      states.push_back(kept_by(whole, again, now));
      states[0].is_dated = is_dated;
      again.whole->recall(std::move(states), now);
      CHECK(again.whole->recalled_policies().size() == 1);
      again.begin(now);
      const auto id = again.whole->store().find("node-0").value();
      for (const auto& [key, p] : *again.whole->engine().table()) {
        for (const auto& s : p->strategies) {
          for (const auto& r : s.rules) CHECK(r.values->load(id).present(now) == is_dated);
          if (s.kind == policy::strategy_kind::dontschedule)
            CHECK(s.verdicts->load(id).violating == is_dated);
        }
      }
    }
  }

  std::size_t size_of_all(const snapshot& s) {
    std::size_t out = 0;
    for (const auto& n : s.nodes) out += size_of(n);
    for (const auto& c : s.columns) out += size_of(c);
    for (const auto& m : s.strategies) out += size_of(m);
    for (const auto& k : s.policies) out += size_of(k);
    return out;
  }

  TEST_CASE("a snapshot keeps within its bound: windows go first, and the rest goes on as it was") {
    const auto live = [](replica& r, instant& now) {
      r.begin(now);
      for (std::size_t n = 0; n < fleet; ++n) r.connect(n, now);
      for (int t = 0; t < 20; ++t) {
        now += 1s;
        for (std::size_t n = 0; n < fleet; ++n) r.value(n, n % 2 == 0 ? 90 : 50 + t % 3, now);
        r.tick(now);
      }
    };
    instant end = store::at_s(1000);
    replica all(false, 0s);
    live(all, end);
    const snapshot whole = all.taken(end);
    CHECK(whole.left_out == 0);
    const std::size_t full = size_of_all(whole);
    snapshot without_nodes = whole;
    without_nodes.nodes.clear();
    const std::size_t outline = size_of_all(without_nodes);
    std::uint64_t most_left_out = 0;
    bool only_windows = false;
    for (std::size_t bound = full; bound > full / 50; bound -= full / 50) {
      CAPTURE(bound);
      replica small(false, 0s, bound);
      instant now = store::at_s(1000);
      live(small, now);
      const snapshot kept = small.taken(now);
      REQUIRE(size_of_all(kept) <= std::max(bound, outline));
      most_left_out = std::max(most_left_out, kept.left_out);
      replica again(false, 0s);
      again.objects = small.objects;
      auto read = decode(encode(kept));
      REQUIRE(read.has_value());
      const std::size_t known = again.whole->recall(std::move(*read), 0s, now);
      CHECK(known <= fleet);
      again.begin(now);
      again.tick(now);
      // Continue only where nothing but the two windows of each node was left out. Left-out policies are not
      // counted here: they have their own share of the bound.
      const std::uint64_t of_nodes = kept.left_out - (whole.policies.size() - kept.policies.size());
      if (of_nodes > 2 * fleet) continue;
      only_windows = only_windows || of_nodes == 2 * fleet;
      REQUIRE(again.says(now) == small.says(now));
    }
    CHECK(only_windows);
    CHECK(most_left_out > 2 * fleet);
  }

  TEST_CASE("what nodes learned of their watts goes through a snapshot's bytes, and fits into its bound") {
    const auto learned_by = [](core& c, instant now) {
      auto d = c.begin_snapshot();
      while (!c.add_nodes(d, 1)) {
      }
      d.all.taken = now;
      return d.all;
    };
    const auto fresh = [](std::size_t bytes) {
      auto c = std::make_unique<core>(core_options{.snapshot_bytes = bytes},
                                      std::make_shared<const metrics::alias_table>(), [](const change&) {});
      policies_in_force all;
      for (const auto& p : policy::parse_policies("p.yaml", R"(
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: watts, namespace: default}
spec: {strategies: {minimizepower: {}}}
)")
                               .policies)
        all.policies.push_back(p.value);
      all.complete = true;
      return std::pair(std::move(c), all);
    };
    instant now = store::at_s(1000);
    auto [whole, policies] = fresh(1 << 20);
    whole->policies(policies, now);
    auto announced = store::catalog_builder().group("os", 4'000).series("os_cpu_utilization_ratio", {}, -4);
    announced.series("os_cpus").series("host_hardware_info", {{"cpu", "EPYC"}, {"sockets", "1"}});
    announced.series("host_power_watts", {{"source", "rapl"}});
    const wire::catalog catalog = announced;
    const auto connect = [&catalog](core& c, instant at) {
      const auto id = c.node("a").value();
      c.connected(id, "1.0", "10.0.0.1", at);
      REQUIRE(c.catalog(id, catalog, at).has_value());
      return id;
    };
    const auto second = [&catalog](core& c, store::node_id id, instant at) {
      REQUIRE(c.batch(id, store::batch_at(catalog, at, {{0, 3000}, {1, 16}, {2, 1}, {3, 200}}), 0s, at)
                  .has_value());
      for (int i = 0; i < 10; ++i) c.tick(at + i * 100ms);
    };
    const auto id = connect(*whole, now);
    for (int t = 0; t < 40; ++t) second(*whole, id, now += 1s);
    REQUIRE(whole->learning().counted()[0] > 20);
    const snapshot kept = learned_by(*whole, now);
    store::words before, after;
    REQUIRE(whole->learning().save(id, before));

    auto read = decode(encode(kept));
    REQUIRE(read.has_value());
    auto [again, same] = fresh(1 << 20);
    CHECK(again->recall(std::move(*read), 0s, now) == 1);
    again->policies(same, now);
    REQUIRE(again->learning().save(again->node("a").value(), after));
    CHECK(after == before);
    // The next snapshot of the new core has the learned data, too, before and after the agent is back.
    CHECK(learned_by(*again, now).nodes.at(0).words.size() >= before.size());
    const auto there = connect(*again, now);
    for (int t = 0; t < 20; ++t) second(*again, there, now += 1s);
    after.clear();
    REQUIRE(again->learning().save(there, after));
    CHECK(after[1] > before[1]);  // the number of samples

    // If the bound is too small for all that a node learned, the rest is kept, and what is left out is
    // counted.
    const std::size_t full = size_of(kept.nodes.at(0));
    for (std::size_t bytes = 2 * full; bytes > 0; bytes -= bytes / 8 + 1) {
      CAPTURE(bytes);
      auto [tight, policies_of_it] = fresh(bytes);
      tight->policies(policies_of_it, now);
      const auto node = connect(*tight, now);
      for (int t = 0; t < 15; ++t) second(*tight, node, now += 1s);
      const snapshot some = learned_by(*tight, now);
      if (!some.nodes.empty()) CHECK(size_of(some.nodes[0]) <= bytes);
      auto back = decode(encode(some));
      REQUIRE(back.has_value());
      auto [other, p] = fresh(bytes);
      other->recall(std::move(*back), 0s, now);
    }
  }

  TEST_CASE("a snapshot of several messages is read as it was written, and one that is cut is refused") {
    snapshot s;
    s.boot_id = "boot";
    s.taken = store::at_s(5);
    s.columns.push_back({{"temp", 10s, store::statistic::p95}, "meaning"});
    for (int i = 0; i < 4; ++i)
      s.nodes.push_back({name_of(static_cast<std::size_t>(i)), store::words(40'000, 0), {{"key", "value"}}});
    s.nodes[3].words.back() = 7;
    const std::vector<std::byte> bytes = encode(s);
    const auto read = decode(bytes);
    REQUIRE(read.has_value());
    REQUIRE(read->nodes.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(read->nodes[i].name == s.nodes[i].name);
      CHECK(read->nodes[i].words == s.nodes[i].words);
      CHECK(read->nodes[i].labels == s.nodes[i].labels);
    }
    CHECK(read->columns.size() == 1);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      CAPTURE(cut);
      REQUIRE(decode(std::span(bytes).first(cut)).has_error());
    }
  }
}

}  // namespace restart_test
