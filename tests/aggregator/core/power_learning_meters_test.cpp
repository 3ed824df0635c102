#include "tests/aggregator/core/power_learning_world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace power_learning_meters_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace binnacle::aggregator::test;

TEST_SUITE("aggregator/core/power_learning") {
  TEST_CASE("a meter that lags is not learned from until the load has stood still for a minute") {
    for (const char* meter : {"dcmi", "bmc", "rapl"}) {
      world w;
      w.add("a", "EPYC", meter);
      w.seconds(120, {{"a", 0.1}});
      const auto before = w.learned();
      for (int i = 0; i < 20; ++i) w.seconds(1, {{"a", 0.1 + 0.04 * i}});
      const bool late = std::string_view(meter) != "rapl";
      // A late meter, which reports the mean of a minute, may still report the old watts during this time.
      w.seconds(50, {{"a", 0.9}}, late ? std::optional(watts_at(0.1)) : std::nullopt);
      w.seconds(100, {{"a", 0.9}});
      CAPTURE(meter);
      const auto learned = w.learned() - before;
      if (late) {  // it learns from one sample in five seconds
        CHECK(learned < 20);
        CHECK(learned > 10);
      } else {
        CHECK(learned > 100);
      }
      CHECK(w.model("a")->power.watts(0.9 * cores) == doctest::Approx(watts_at(0.9)).epsilon(0.02));
    }
  }

  TEST_CASE("a meter that changes once a minute is not taken for one that is stuck while the load rises") {
    world w;
    w.add("a", "EPYC", "dcmi");
    double said = watts_at(0.3), sum = 0;
    int seconds = 0;
    const auto second = [&](double load) {
      w.second({{"a", load}}, said);
      sum += watts_at(load);
      if (++seconds % 60 == 0) said = std::exchange(sum, 0) / 60;
    };
    for (int i = 0; i < 240; ++i) second(0.3);
    const auto before = w.model("a")->samples;
    CHECK(before > 20);
    for (int up = 0; up < 4; ++up) {
      for (int i = 0; i < 40; ++i) second(0.3 + 0.15 * i / 40);
      for (int i = 0; i < 200; ++i) second(0.45);
      for (int i = 0; i < 240; ++i) second(0.3);
      CHECK_FALSE(w.model("a")->meter_stuck);
      CHECK(w.model("a")->samples >= before);
    }
    CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(watts_at(0.3)).epsilon(0.02));
    CHECK(w.model("a")->power.watts(0.45 * cores) == doctest::Approx(watts_at(0.45)).epsilon(0.02));
  }

  TEST_CASE(
      "a node whose load never rests is learned from by a meter that is half a minute late, and means") {
    for (const char* meter : {"dcmi", "hwmon"}) {
      CAPTURE(meter);
      world w;
      w.add("a", "EPYC", meter);
      constexpr std::size_t late = 20, mean = 20;
      std::vector<double> drawn;
      for (int i = 0; i < 5400; ++i) {
        const double load = 0.5 + 0.25 * std::sin(0.02 * i) + 0.1 * std::sin(0.005 * i);
        drawn.push_back(watts_at(load));
        double said = drawn.front();
        if (drawn.size() > late + mean) {
          said = 0;
          for (std::size_t k = 0; k < mean; ++k) said += drawn[drawn.size() - 1 - late - k] / mean;
        }
        w.second({{"a", load}}, said);
      }
      const auto* m = w.model("a");
      REQUIRE(m != nullptr);
      CHECK(m->samples > 300);
      CHECK(w.restarts.empty());
      for (const double load : {0.25, 0.4, 0.5, 0.6, 0.75}) {
        CAPTURE(load);
        CHECK(m->power.watts(load * cores) == doctest::Approx(watts_at(load)).epsilon(0.02));
      }
    }
  }

  TEST_CASE("defect: jobs of ten minutes bent the curve of a node whose meter means over five minutes") {
    world w;
    w.add("a", "EPYC", "dcmi");
    constexpr std::size_t mean = 300;
    std::vector<double> drawn;
    double sum = 0;
    for (int i = 0; i < 7200; ++i) {
      const double load = std::array{0.1, 0.6, 0.1, 0.8}[static_cast<std::size_t>(i / 600 % 4)];
      drawn.push_back(watts_at(load));
      sum += drawn.back();
      if (drawn.size() > mean) sum -= drawn[drawn.size() - 1 - mean];
      w.second({{"a", load}}, sum / static_cast<double>(std::min(drawn.size(), mean)));
    }
    const auto* m = w.model("a");
    REQUIRE(m != nullptr);
    CHECK(w.restarts.empty());
    for (const double load : {0.1, 0.6, 0.8}) {
      CAPTURE(load);
      CHECK(m->power.watts(load * cores) == doctest::Approx(watts_at(load)).epsilon(0.02));
    }
  }

  TEST_CASE("defect: jobs of five minutes taught too few watts by a meter that means over five, for good") {
    world w;
    w.add("a", "EPYC", "dcmi");
    constexpr std::size_t mean = 300;
    std::vector<double> drawn;
    double sum = 0;
    for (int i = 0; i < 7200; ++i) {
      const double load = i / 300 % 2 == 0 ? 0.15 : 0.8;
      drawn.push_back(watts_at(load));
      sum += drawn.back();
      if (drawn.size() > mean) sum -= drawn[drawn.size() - 1 - mean];
      w.second({{"a", load}}, sum / static_cast<double>(std::min(drawn.size(), mean)));
      if (i == 600) CHECK(w.learned() > 20);
    }
    CHECK_MESSAGE(w.model("a") == nullptr, "it never rested for long enough");
    CHECK(w.restarts.empty());
    CHECK_FALSE(w.note("a").empty());
  }

  TEST_CASE("jobs of five minutes do not cost what a faster meter taught") {
    world w;
    w.add("a", "EPYC", "dcmi");
    std::vector<double> drawn;
    std::uint32_t most = 0;
    for (int i = 0; i < 3600; ++i) {
      const double load = i / 300 % 2 == 0 ? 0.15 : 0.8;
      drawn.push_back(watts_at(load));
      const std::size_t before = drawn.size() - 1;
      w.second({{"a", load}}, drawn[before - std::min<std::size_t>(before, 30)]);
      if (w.model("a") == nullptr) continue;
      CHECK(w.model("a")->samples >= most);
      most = w.model("a")->samples;
    }
    CHECK(most > 300);
  }

  TEST_CASE("watts that follow the load in no way are learned from after ten minutes of rest, not one") {
    world w;
    w.add("a", "EPYC", "dcmi");
    int now = 0;
    const auto seconds = [&](int n, double load) {
      for (int i = 0; i < n; ++i) w.second({{"a", load}}, 200 + 5 * std::sin(12.9898 * ++now));
    };
    for (int jobs = 0; jobs < 4; ++jobs) seconds(300, jobs % 2 == 0 ? 0.3 : 0.6);
    const auto before = w.learned();
    for (int jobs = 0; jobs < 4; ++jobs) seconds(300, jobs % 2 == 0 ? 0.3 : 0.6);
    CHECK(w.learned() == before);
    seconds(900, 0.6);
    CHECK(w.learned() > before + 40);
  }

  TEST_CASE("defect: a meter that is too late to teach was passed over in silence, its samples not counted") {
    world w;
    w.add("a", "EPYC", "dcmi");
    int now = 0;
    const auto seconds = [&](int n, double load) {
      for (int i = 0; i < n; ++i) w.second({{"a", load}}, 200 + 5 * std::sin(12.9898 * ++now));
    };
    for (int jobs = 0; jobs < 12; ++jobs) seconds(300, jobs % 2 == 0 ? 0.3 : 0.6);
    CHECK(w.note("a") ==
          "the watts of its meter (dcmi) are too late, means over too long, or do not follow its load: they "
          "teach nothing until its load rests for ten minutes");
    using outcome = predict::learner::outcome;
    const auto& counted = w.learning.counted();
    CHECK(counted[static_cast<std::size_t>(outcome::waits)] > 360);
    // All but those of the first windows.
    CHECK(std::accumulate(counted.begin(), counted.end(), std::uint64_t{0}) > 700);
    CHECK(std::accumulate(counted.begin(), counted.end(), std::uint64_t{0}) <= 720);
    seconds(900, 0.6);
    CHECK(w.note("a").empty());
  }

  TEST_CASE("a node whose BMC is away for a while goes on from what it had learned by it") {
    world w;
    auto& a = w.add("a", "EPYC", "rapl");
    w.seconds(60, {{"a", 0.3}});
    const auto before = w.model("a")->samples;
    for (int times = 0; times < 3; ++times) {
      w.announce(a, "EPYC", "psys");
      w.seconds(40, {{"a", 0.3}}, 250);
      CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(250).epsilon(0.05));
      w.announce(a, "EPYC", "rapl");
      w.seconds(40, {{"a", 0.3}});
      CHECK(w.model("a")->samples > before);
      CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(watts_at(0.3)).epsilon(0.02));
    }
    CHECK_MESSAGE(w.restarts.size() == 1, "psys was new once");
    w.announce(a, "Xeon", "rapl");  // another machine: nothing of the first one counts
    w.seconds(40, {{"a", 0.3}}, 50);
    CHECK(w.restarts.size() == 2);
    w.announce(a, "Xeon", "psys");
    w.seconds(40, {{"a", 0.3}}, 60);
    CHECK(w.model("a")->samples < 40);
  }

  TEST_CASE(
      "a meter that is stuck and adds noise makes no curve, neither of its node nor of others like it") {
    world w;
    w.add("stuck");
    w.add("honest");
    w.add("young");
    for (int i = 0; i < 600; ++i) {
      const double load = 0.5 + 0.5 * std::sin(0.02 * i);
      w.second({{"stuck", load}}, 200 + 5 * std::sin(12.9898 * i));
      w.second({{"honest", load}});
      w.second({{"young", 0.3}});
    }
    const auto of = [&w](const char* node, double load) { return w.model(node)->power.watts(cores * load); };
    REQUIRE(w.model("stuck") != nullptr);
    CHECK(w.model("stuck")->from == predict::model_source::hardware_class);
    CHECK(w.model("stuck")->meter_stuck);
    CHECK_FALSE(w.model("honest")->meter_stuck);
    for (const char* node : {"stuck", "honest", "young"})
      CHECK(of(node, 0.9) / of(node, 0.3) == doctest::Approx(watts_at(0.9) / watts_at(0.3)).epsilon(0.05));
  }

  TEST_CASE(
      "defect: a meter that stands still on a node without any other model was passed over in silence") {
    world w;
    w.add("alone");
    w.add("honest", "Xeon");
    int i = 0;
    const auto for_a_while = [&](bool stuck) {
      for (int end = i + 600; i < end; ++i) {
        const double load = 0.5 + 0.5 * std::sin(0.02 * i);
        w.second({{"alone", load}}, stuck ? std::optional(200 + 2 * std::sin(12.9898 * i)) : std::nullopt);
        w.second({{"honest", load}});
      }
    };
    for_a_while(true);
    CHECK(w.model("alone") == nullptr);
    CHECK(w.note("alone") == "the watts of its meter (rapl) do not rise with its load");
    CHECK(w.note("honest").empty());
    CHECK_MESSAGE(w.restarts.empty(), "it never followed its node, so nothing is forgotten");
    for_a_while(false);
    CHECK(w.model("alone") != nullptr);
    CHECK(w.note("alone").empty());
  }

  TEST_CASE("defect: a lower power limit made an honest meter count as one that does not follow its node") {
    world w;
    w.add("a");
    const auto for_a_while = [&w](int seconds, double least_load, double factor) {
      for (int i = 0; i < seconds; ++i) {
        const double load = least_load + (1 - least_load) * (0.5 + 0.5 * std::sin(0.02 * i));
        w.second({{"a", load}}, factor * (220 + 80 * load));
      }
    };
    for_a_while(600, 0, 1);
    CHECK(w.restarts.empty());
    for_a_while(3600, 0.5, 0.78);
    CHECK(w.note("a").empty());
    const auto* m = w.model("a");
    REQUIRE(m != nullptr);
    CHECK(m->from == predict::model_source::node);
    CHECK(m->power.watts(0.8 * cores) == doctest::Approx(0.78 * (220 + 80 * 0.8)).epsilon(0.02));
    CHECK(w.restarts.size() == 1);
    for_a_while(1800, 0, 0.78);  // the loads that it had before, with the new limit
    CHECK(w.note("a").empty());
    CHECK(w.restarts.size() == 1);
  }

  TEST_CASE("defect: a note about a meter outlived the last policy that needs watts") {
    world w;
    w.add("alone");
    const auto for_a_while = [&] {
      for (int i = 0; i < 600; ++i)
        w.second({{"alone", 0.5 + 0.5 * std::sin(0.02 * i)}}, 200 + 2 * std::sin(12.9898 * i));
    };
    const std::string stands_still = "the watts of its meter (rapl) do not rise with its load";
    for_a_while();
    CHECK(w.note("alone") == stands_still);
    w.hear(w.learning.learn(false, w.now));
    CHECK(w.note("alone").empty());
    w.hear(w.learning.learn(true, w.now));
    for_a_while();
    CHECK(w.note("alone") == stands_still);
  }

  TEST_CASE("a meter that stood still is believed again from 4 % on, also where there is no other model") {
    world w;
    w.add("a");
    int i = 0;
    const auto rises = [&](int seconds, double watts) {
      for (int end = i + seconds; i < end; ++i) {
        const double load = 0.5 + 0.5 * std::sin(0.02 * i);
        w.second({{"a", load}}, 200 + watts * load + std::sin(12.9898 * i));
      }
    };
    rises(600, 0);
    REQUIRE_FALSE(w.note("a").empty());
    rises(3600, 7.6);  // with the flat minutes before, 3.3 % in the mean
    CHECK_FALSE(w.note("a").empty());
    CHECK(w.model("a") == nullptr);
    rises(3600, 20);
    CHECK(w.note("a").empty());
    CHECK(w.model("a") != nullptr);
  }

  TEST_CASE("defect: what a meter that lags had said counted for 50 minutes, not for ten") {
    world w;
    w.add("a", "EPYC", "dcmi");
    w.seconds(3600, {{"a", 0.3}});
    w.seconds(1800, {{"a", 0.3}}, 1.2 * watts_at(0.3));  // a disk shelf was added
    CHECK(w.restarts.empty());
    CHECK(w.model("a")->power.watts(0.3 * cores) == doctest::Approx(1.2 * watts_at(0.3)).epsilon(0.03));
  }

  TEST_CASE("a BMC that is read each ten seconds is learned from on a busy node") {
    world w;
    w.stale_after_ms = 30'000;
    w.add("a", "EPYC", "bmc");
    for (int i = 0; i < 60; ++i) {
      const double load = 0.5 + (i % 2 == 0 ? 0.02 : -0.02);
      w.second({{"a", load}});
      for (int quiet = 0; quiet < 9; ++quiet) w.second({});
    }
    REQUIRE(w.model("a") != nullptr);
    CHECK(w.model("a")->samples > 40);
  }
}

}  // namespace power_learning_meters_test
