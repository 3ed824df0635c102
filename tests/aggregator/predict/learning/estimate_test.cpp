#include "aggregator/predict/learning/estimate.hpp"

#include "aggregator/predict/learning/least_squares.hpp"
#include "aggregator/predict/learning/pooled.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace estimate_test {

using namespace binnacle::predict;

namespace {

double truth(double load) { return 120 + 70 * std::min(1.0, load / 0.05) + 100 * load + 80 * load * load; }

statistics measured(double from, double to, double factor = 1) {
  statistics s;
  for (int i = 0; i <= 400; ++i) {
    const double load = from + (to - from) * i / 400;
    s.add(load, factor * truth(load));
  }
  return s;
}

double worst(const curve& c, double from, double to, double factor = 1) {
  double out = 0;
  for (int i = 0; i <= 20; ++i) {
    const double load = from + (to - from) * i / 20;
    out = std::max(out, std::abs(c.watts(load * c.cores()) / (factor * truth(load)) - 1));
  }
  return out;
}

statistics together(const std::vector<statistics>& nodes) {
  std::vector<const statistics*> all;
  for (const statistics& s : nodes) all.push_back(&s);
  return pooled(all);
}

struct dice {
  std::mt19937 random;

  double between(double from, double to) {
    return from + (to - from) * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
  }
  int number(int from, int to) { return std::min(to, static_cast<int>(between(from, to + 1))); }
};

double load_at(std::size_t bin) { return static_cast<double>(bin) / (statistics::bins - 1); }

/// By load: the logarithm of the factor by which a node says more than the truth.
using lie = std::function<double(double)>;

lie any_lie(dice& d) {
  const double size = d.between(-3, 3), step = d.between(0, 1);
  switch (d.number(0, 3)) {
    case 0: return [size, step](double load) { return load > step ? size : 0.0; };
    case 1: return [size](double load) { return size * load; };
    case 2: return [size, &d](double) { return d.number(0, 1) == 0 ? size : 0.0; };
    default: return [&d](double) { return d.between(-3, 3); };
  }
}

void stay(statistics& s, std::size_t bin, double off, dice& d) {
  s.add(load_at(bin), truth(load_at(bin)) * std::exp(off), static_cast<std::uint16_t>(d.number(10, 300)));
}

/// A class of honest nodes at heights of their own, which measure to 2 %. Each has been at a span of the
/// loads that holds those from 0.3 to 0.5.
struct honest_class {
  std::vector<statistics> nodes;
  std::array<int, statistics::bins> at{};  // by bin: how many of them have been there

  honest_class(dice& d, int count) {
    for (int i = 0; i < count; ++i) {
      const double from = d.between(-0.3, 0.3), to = d.between(0.5, 1.5), height = d.between(-0.2, 0.2);
      statistics& s = nodes.emplace_back();
      for (std::size_t b = 0; b < statistics::bins; ++b) {
        if (load_at(b) < from || load_at(b) > to) continue;
        stay(s, b, height + d.between(-0.02, 0.02), d);
        ++at[b];
      }
    }
  }
};

}  // namespace

TEST_SUITE("aggregator/predict/learning/estimate") {
  TEST_CASE("four terms are found from points that have them") {
    least_squares fit;
    for (int i = 0; i <= 20; ++i) {
      const row x = terms_of(i / 20.0);
      fit.add(i / 20.0, 100 * x[0] + 50 * x[1] + 80 * x[2] - 20 * x[3], 1);
    }
    const auto c = fit.solve();
    REQUIRE(c);
    CHECK((*c)[0] == doctest::Approx(100));
    CHECK((*c)[1] == doctest::Approx(50));
    CHECK((*c)[2] == doctest::Approx(80));
    CHECK((*c)[3] == doctest::Approx(-20));
  }

  TEST_CASE("points at one load do not tell four terms apart") {
    least_squares fit;
    CHECK_FALSE(fit.solve());
    for (int i = 0; i < 100; ++i) fit.add(0.3, 200, 1);
    CHECK_FALSE(fit.solve());
  }

  TEST_CASE("without samples there is no curve; a node without a meter has the curve of its class") {
    CHECK_FALSE(estimate({}, nullptr, 16));
    const auto others = measured(0, 1);
    const auto by_class = estimate({}, &others, 16);
    REQUIRE(by_class);
    CHECK(by_class->cores() == 16);
    CHECK(worst(*by_class, 0.1, 1) < 0.03);
    const statistics nobody;
    CHECK_FALSE(estimate({}, &nobody, 16));
  }

  TEST_CASE("which loads are known is what the node and its class have measured often enough, together") {
    const auto own = measured(0.3, 0.5);
    const auto alone = known_of(own, nullptr);
    CHECK(alone.from == doctest::Approx(0.3).epsilon(0.05));
    CHECK(alone.to == doctest::Approx(0.5).epsilon(0.05));
    const auto others = measured(0.1, 0.8);
    CHECK(known_of(own, &others).from == doctest::Approx(0.1).epsilon(0.1));
    CHECK(known_of(own, &others).to == doctest::Approx(0.8).epsilon(0.05));
    statistics idle;
    for (int i = 0; i < least_samples - 1; ++i) idle.add(0, 100);
    CHECK(known_of(own, &idle).from > 0);  // too few samples
    idle.add(0, 100);
    CHECK(known_of(own, &idle).from == 0);
    CHECK(known_of({}, nullptr).from > known_of({}, nullptr).to);  // nothing is known
  }

  TEST_CASE(
      "below the lowest load that was measured the curve has the usual shape, and known loads stay known") {
    // The curve is straight where it was measured, far above the median server's idle watts. A fit alone
    // would guess idle watts of 2 % of the peak for one server and above the peak for another, and would
    // raise what was measured.
    for (const double slope : {0.5, 1.0, 4.0}) {
      CAPTURE(slope);
      statistics s;
      for (int i = 0; i <= 400; ++i) {
        const double load = 0.2 + 0.5 * i / 400;
        s.add(load, 100 * (1 + slope * load));
      }
      const auto c = estimate(s, nullptr, 10).value();
      CHECK(c.watts(2) == doctest::Approx(100 * (1 + slope * 0.2)).epsilon(0.03));
      CHECK(c.watts(0) == doctest::Approx(c.watts(2) * 0.232 / 0.427).epsilon(0.03));
      CHECK(c.watts(1) > c.watts(0));
    }
  }

  TEST_CASE("too few samples tell nothing") {
    statistics few;
    for (int i = 0; i < least_samples - 1; ++i) few.add(0.5, 200);
    CHECK_FALSE(estimate(few, nullptr, 16));
    few.add(0.5, 200);
    CHECK(estimate(few, nullptr, 16));
  }

  TEST_CASE("a node that was measured at low loads only follows its class above them, at its own height") {
    const auto own = measured(0, 0.4, 1.1);  // ten per cent above the others
    const auto others = measured(0, 1);
    const auto with_class = estimate(own, &others, 16).value();
    CHECK(worst(with_class, 0.1, 0.35, 1.1) < 0.03);
    CHECK(worst(with_class, 0.5, 1, 1.1) < 0.03);
    CHECK(worst(estimate(own, nullptr, 16).value(), 0.1, 0.35, 1.1) < 0.03);
  }

  TEST_CASE("one load alone gives a curve of the usual shape at that height") {
    statistics s;
    for (int i = 0; i < 100; ++i) s.add(0.5, 300);
    const auto c = estimate(s, nullptr, 10).value();
    CHECK(c.watts(5) == doctest::Approx(300).epsilon(0.02));
    CHECK(c.watts(0) > 80);
    CHECK(c.watts(0) < 200);
    CHECK(c.watts(10) > 400);
    CHECK(c.watts(10) < 700);
  }

  TEST_CASE("the curve never falls and is never nothing, whatever was measured") {
    statistics odd;
    for (int i = 0; i < 50; ++i) odd.add(0.0, 500), odd.add(0.05, 5), odd.add(1, 1);
    const auto c = estimate(odd, nullptr, 4).value();
    double last = 0;
    for (const double w : c.points()) {
      CHECK(w >= last);
      CHECK(w > 0);
      last = w;
    }
  }

  TEST_CASE("nodes that measured at different loads add up to what their class has measured") {
    const auto of_class = together({measured(0, 0.5), measured(0.5, 1)});
    CHECK(worst(estimate(of_class, nullptr, 8).value(), 0.1, 1) < 0.03);
    CHECK(of_class.samples(statistics::bin_of(0.25)) == measured(0, 0.5).samples(statistics::bin_of(0.25)));
    CHECK(together({}).empty());
    CHECK(together({{}, {}}).empty());
  }

  TEST_CASE("a meter that reads half too high at loads that no other node had raises no other node's curve") {
    const auto honest = measured(0, 0.5), liar = measured(0.45, 1, 1.5), far_liar = measured(0.6, 1, 1.5);
    for (const auto& high : {liar, far_liar}) {  // far_liar had no load that another node had
      const auto of_class = together({honest, honest, honest, high});
      CHECK(worst(estimate(honest, &of_class, 8).value(), 0.1, 1) < 0.04);
      CHECK(worst(estimate(high, &of_class, 8).value(), 0.1, 1, 1.5) < 0.04);
    }
  }

  TEST_CASE(
      "one node alone at some loads makes them less than twice as dear for its class, whatever it says") {
    const auto honest = measured(0, 0.4);
    statistics liar = honest;
    for (int i = 0; i <= 400; ++i) liar.add(0.5 + i / 800.0, 4 * truth(0.5 + i / 800.0));
    const auto of_class = together({honest, honest, honest, honest, liar});
    const auto c = estimate(honest, &of_class, 8).value();
    CHECK(worst(c, 0.1, 0.4) < 0.04);
    CHECK(c.watts(8) < 2 * truth(1));
    // A moment of an honest node there makes no difference.
    statistics glimpse = honest;
    for (int i = 0; i <= 10; ++i) glimpse.add(0.5 + i / 20.0, truth(0.5 + i / 20.0));
    const auto glimpsed = together({honest, honest, honest, glimpse, liar});
    CHECK(estimate(honest, &glimpsed, 8).value().watts(8) < 2 * truth(1));
    CHECK(c.watts(8) > 1.2 * truth(1));
  }

  TEST_CASE("one liar beside two honest ones makes no load dearer or cheaper") {
    const auto idle = measured(0, 0.4), honest = measured(0, 1);
    for (const double factor : {4.0, 10.0, 0.1}) {
      CAPTURE(factor);
      statistics liar = idle;
      for (int i = 0; i <= 400; ++i) liar.add(0.5 + i / 800.0, factor * truth(0.5 + i / 800.0));
      const auto of_class = together({honest, honest, liar});
      CHECK(worst(estimate(idle, &of_class, 8).value(), 0.1, 1) < 0.05);
    }
  }

  TEST_CASE(
      "while most nodes at a load are honest, liars move their class's curve there by less than a tenth") {
    for (unsigned seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      dice d{std::mt19937(seed)};
      const int honest = d.number(2, 6), liars = d.number(1, honest - 1);
      honest_class all(d, honest);
      std::array<int, statistics::bins> lied_at{};
      for (int i = 0; i < liars; ++i) {
        statistics& s = all.nodes.emplace_back();
        const lie how = any_lie(d);
        for (std::size_t b = 0; b < statistics::bins; ++b) {
          if (lied_at[b] + 1 >= all.at[b]) continue;
          stay(s, b, how(load_at(b)), d);
          ++lied_at[b];
        }
      }
      const auto of_class = together(all.nodes);
      double least = 1e9, most = 0;
      for (std::size_t b = 0; b < statistics::bins; ++b) {
        if (all.at[b] + lied_at[b] < 3) continue;
        const double factor = of_class.watts(b) / truth(load_at(b));
        least = std::min(least, factor);
        most = std::max(most, factor);
      }
      CHECK(most < 1.1 * least);
    }
  }

  TEST_CASE("a single liar makes no load twice as dear or half as dear, however few others have been there") {
    for (unsigned seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      dice d{std::mt19937(seed)};
      honest_class all(d, d.number(2, 6));
      statistics& liar = all.nodes.emplace_back();
      const lie how = any_lie(d);
      for (std::size_t b = 0; b < statistics::bins; ++b) stay(liar, b, how(load_at(b)), d);
      const auto of_class = together(all.nodes);
      std::vector<double> sure;
      for (std::size_t b = 0; b < statistics::bins; ++b) {
        if (all.at[b] >= 2) sure.push_back(of_class.watts(b) / truth(load_at(b)));
      }
      std::ranges::sort(sure);
      const double right = sure.at(sure.size() / 2);
      for (std::size_t b = 0; b < statistics::bins; ++b) {
        CAPTURE(b);
        const double factor = of_class.watts(b) / truth(load_at(b)) / right;
        CHECK(factor < 2);
        CHECK(factor > 0.5);
      }
    }
  }

  TEST_CASE("nodes of a class are at the height of the one in the middle, for a node without a meter") {
    const auto of_class = together(
        {measured(0, 1, 0.95), measured(0, 1, 1.05), measured(0, 1), measured(0, 1), measured(0, 1, 1.5)});
    CHECK(worst(estimate(of_class, nullptr, 8).value(), 0.1, 1) < 0.03);
  }

  TEST_CASE("heights are found along a chain of nodes that overlap two by two") {
    const auto first = measured(0, 0.4);
    const auto of_class = together({first, measured(0.3, 0.7, 1.2), measured(0.6, 1, 0.7)});
    CHECK(worst(estimate(first, &of_class, 8).value(), 0.1, 1) < 0.04);
  }

  TEST_CASE("one node of another shape does not bend the curve of its class") {
    statistics flat;
    for (int i = 0; i <= 400; ++i) flat.add(i / 400.0, 150 + 40 * i / 400.0);
    const auto half = measured(0, 0.5);
    const auto of_class = together({half, measured(0, 1), measured(0, 1), measured(0, 1), flat});
    CHECK(worst(estimate(half, &of_class, 8).value(), 0.1, 1) < 0.03);
  }

  TEST_CASE("of many nodes some are enough, and no load that one of them alone had is lost") {
    std::vector<statistics> nodes(300, measured(0, 0.5));
    nodes.push_back(measured(0.4, 1, 1.1));
    const auto of_class = together(nodes);
    CHECK(worst(estimate(nodes[0], &of_class, 8).value(), 0.1, 1) < 0.03);
  }

  TEST_CASE("many samples alike count as so many, also where a bin is full") {
    statistics s;
    s.add(0.5, 200, 600);
    s.add(0.5, 300, 600);
    CHECK(s.watts(10) == doctest::Approx(250));
  }

  TEST_CASE("a bin remembers a bounded number of samples, and the newest count") {
    statistics s;
    for (int i = 0; i < 10'000; ++i) s.add(0.5, 200);
    CHECK(s.samples(10) == statistics::remembered);
    for (int i = 0; i < 3000; ++i) s.add(0.5, 260);
    CHECK(s.watts(10) == doctest::Approx(260).epsilon(0.01));
  }
}

}  // namespace estimate_test
