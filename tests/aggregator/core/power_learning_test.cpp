#include "tests/aggregator/core/power_learning_world.hpp"

#include <optional>
#include <utility>

namespace power_learning_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace binnacle::aggregator::test;

TEST_SUITE("aggregator/core/power_learning") {
  TEST_CASE("a node's curve follows what its meter said, at the loads that it had") {
    world w;
    w.add("a");
    w.seconds(60, {{"a", 0.0}});
    w.seconds(60, {{"a", 0.3}});
    w.seconds(60, {{"a", 0.6}});
    const auto* m = w.model("a");
    REQUIRE(m != nullptr);
    CHECK(m->from == predict::model_source::node);
    CHECK(m->meter == "rapl");
    CHECK(m->power.cores() == cores);
    for (const double load : {0.0, 0.3, 0.6}) {
      CAPTURE(load);
      CHECK(m->power.watts(load * cores) == doctest::Approx(watts_at(load)).epsilon(0.05));
    }
    CHECK(m->covered > 0.1);
    CHECK(m->covered < 0.9);
  }

  TEST_CASE("while no node of a class was ever idle, its idle watts are said to be a guess") {
    world w;
    w.add("a");
    w.add("b");
    w.add("c", "EPYC", "");
    w.seconds(60, {{"a", 0.2}, {"b", 0.2}, {"c", 0.2}});
    w.seconds(60, {{"a", 0.5}, {"b", 0.4}, {"c", 0.3}});
    for (const char* name : {"a", "b", "c"}) {
      CAPTURE(name);
      const auto* m = w.model(name);
      REQUIRE(m != nullptr);
      CHECK(m->idle_guessed());
      CHECK(m->known_from == doctest::Approx(0.2).epsilon(0.05));
      CHECK(m->known_to == doctest::Approx(0.5).epsilon(0.05));
    }
    w.seconds(180, {{"a", 0.2}, {"b", 0.0}, {"c", 0.3}});
    for (const char* name : {"a", "b", "c"}) {  // one of them was
      CAPTURE(name);
      CHECK_FALSE(w.model(name)->idle_guessed());
      CHECK(w.model(name)->known_from == 0);
    }
  }

  TEST_CASE("a node without a meter has the curve of nodes with the same hardware, at its own size") {
    world w;
    w.add("a");
    w.add("b", "EPYC", "");
    w.add("other", "Xeon", "");
    w.seconds(60, {{"a", 0.2}, {"b", 0.2}, {"other", 0.2}});
    w.seconds(60, {{"a", 0.5}, {"b", 0.5}, {"other", 0.5}});
    const auto* m = w.model("b");
    REQUIRE(m != nullptr);
    CHECK(m->from == predict::model_source::hardware_class);
    CHECK(m->others == 1);
    CHECK(m->power.watts(0.5 * cores) == doctest::Approx(watts_at(0.5)).epsilon(0.05));
    CHECK(w.model("other") == nullptr);
  }

  TEST_CASE("a node that nobody measured is scored by its rated watts, until a node of its kind measures") {
    world w;
    w.rated("old", 90, 410);
    w.rated("mixed up", 410, 90);
    w.rated("kilowatts", 0.2, 0.4);
    w.seconds(30, {{"old", 0.5}, {"mixed up", 0.5}, {"kilowatts", 0.5}});
    const auto* m = w.model("old");
    REQUIRE(m != nullptr);
    CHECK(m->from == predict::model_source::rated);
    CHECK(m->power.watts(0.5 * cores) == doctest::Approx(250));
    CHECK(m->covered == 0);
    CHECK(w.model("mixed up") == nullptr);
    CHECK(w.model("kilowatts") == nullptr);
    w.add("like it", "Xeon");
    w.seconds(60, {{"old", 0.5}, {"mixed up", 0.5}, {"like it", 0.5}});
    REQUIRE(w.model("old") != nullptr);
    CHECK(w.model("old")->from == predict::model_source::hardware_class);
  }

  TEST_CASE("a node whose meter also measures its accelerators goes by its rated watts, if it has any") {
    using from = predict::model_source;
    struct kind {
      const char *meter, *accelerators;
      from source;
    };
    for (const kind& k : {kind{"dcmi", "8", from::rated}, kind{"dcmi", "0", from::node},
                          kind{"rapl", "8", from::node}, kind{"dcmi", "unknown", from::node}}) {
      CAPTURE(k.meter);
      CAPTURE(k.accelerators);
      world w;
      auto& a = w.add("a");
      a.accelerators = k.accelerators;
      a.rated = std::pair(90.0, 410.0);
      w.announce(a, "EPYC", k.meter);
      w.seconds(200, {{"a", 0.5}});
      REQUIRE(w.model("a") != nullptr);
      CHECK(w.model("a")->from == k.source);
      if (k.source != from::rated) continue;
      CHECK(w.model("a")->power.watts(0.5 * cores) == doctest::Approx(250));
      w.seconds(150, {{"a", 0.5}}, 2000);  // the accelerators begin a job
      CHECK(w.model("a")->from == from::rated);
      CHECK(w.model("a")->power.watts(0.5 * cores) == doctest::Approx(250));
    }
  }

  TEST_CASE("a node without a meter whose hardware has changed leaves its class") {
    world w;
    w.add("a");
    auto& b = w.add("b", "EPYC", "");
    w.seconds(120, {{"a", 0.2}, {"b", 0.2}});
    REQUIRE(w.model("b") != nullptr);
    w.announce(b, "Xeon", "");
    w.seconds(30, {{"a", 0.2}, {"b", 0.2}});
    CHECK(w.model("b") == nullptr);
    w.announce(b, "EPYC", "");
    w.seconds(30, {{"a", 0.2}, {"b", 0.2}});
    CHECK(w.model("b") != nullptr);
  }

  TEST_CASE("a model that has not changed is not published again, but every two minutes while it learns on") {
    world w;
    w.add("a");
    w.seconds(120, {{"a", 0.3}});
    const int before = w.told;
    CHECK(before >= 1);
    w.seconds(120, {{"a", 0.3}});
    CHECK(w.told - before <= 3);
    CHECK(w.told - before >= 1);
    CHECK(w.now - w.model("a")->made < 2min);
  }

  TEST_CASE("nodes of one CPU model with 64 and with 128 CPUs do not learn together") {
    world w;
    w.add("small");
    w.add("large").cpus = 2 * cores;
    w.add("unmetered", "EPYC", "").cpus = 2 * cores;
    w.seconds(60, {{"small", 0.3}, {"unmetered", 0.3}});
    CHECK(w.model("unmetered") == nullptr);
    w.seconds(60, {{"small", 0.3}, {"large", 0.3}, {"unmetered", 0.3}});
    REQUIRE(w.model("unmetered") != nullptr);
    CHECK(w.model("unmetered")->others == 1);
    CHECK(w.model("small")->others == 0);
  }

  TEST_CASE("a node that is forgotten leaves nothing behind") {
    world w;
    auto& a = w.add("a");
    w.seconds(120, {{"a", 0.3}});
    const auto before = w.model("a")->samples;
    CHECK(before > 60);
    w.learning.forget({a.id});
    w.seconds(40, {{"a", 0.3}});
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->samples < 50);
    CHECK(w.restarts.empty());
  }

  TEST_CASE("it rests while nobody asks, and goes on from what it knows") {
    world w;
    w.add("a");
    w.seconds(60, {{"a", 0.3}});
    w.learning.learn(false, w.now);
    CHECK(w.learning.next_deadline() == instant::max());
    CHECK(w.store.columns_in_use() == 0);
    const auto samples = w.model("a")->samples;
    w.seconds(30, {{"a", 0.3}});
    CHECK(w.model("a")->samples == samples);
    w.learning.learn(true, w.now);
    CHECK(w.learning.next_deadline() > w.now);
    w.seconds(90, {{"a", 0.3}});
    CHECK(w.model("a")->samples > samples + 30);
  }
}

}  // namespace power_learning_test
