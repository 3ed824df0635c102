#include "tests/bench/power/servers.hpp"

#include "tests/bench/power/dice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace binnacle::bench {
namespace {

/// Turns readings at 0 (0.1), 5, 10, 20 … 100 % into watts at every 5 %.
std::vector<double> every_twentieth(const std::array<double, 12>& read) {
  std::vector<double> out{read[0], read[1], read[2]};
  for (std::size_t i = 3; i < read.size(); ++i) {
    out.push_back((read[i - 1] + read[i]) / 2);
    out.push_back(read[i]);
  }
  return out;
}

/// A made-up server without its curve, and the watts that the curve is to begin and end with.
struct frame {
  server s;
  double idle, peak;
};
frame some_frame(dice& random) {
  constexpr std::array<double, 6> sizes{16, 32, 48, 64, 96, 128};
  server s{"made up", sizes[random.below(sizes.size())], {}};
  const double peak = s.cores * random.between(2.5, 7);
  return {std::move(s), peak * random.between(0.12, 0.55), peak};
}

/// Appends a section of a curve that begins at its last point: `steps` more points.
void add_section(std::vector<double>& rise, std::size_t steps, dice& random) {
  enum class shape { flat, step, concave, convex, straight };
  const auto is = static_cast<shape>(random.below(5));
  const double from = rise.back(), by = static_cast<double>(steps) * random.between(0.2, 1);
  for (std::size_t i = 1; i <= steps; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps);
    double above = 0;
    switch (is) {
      case shape::flat: break;
      case shape::step: above = 3 * by / static_cast<double>(steps); break;
      case shape::concave: above = by * std::sqrt(share); break;
      case shape::convex: above = by * share * share; break;
      case shape::straight: above = by * share;
    }
    rise.push_back(from + above);
  }
}

}  // namespace

std::span<const server> spec_servers() {
  static const std::array<server, 8> all{{
      {"Lenovo SR645, 2 EPYC 7763 (2021-03-10)",
       128,
       {104, 172, 194, 216, 238, 258, 283, 305, 332, 385, 459}},
      {"Lenovo SR655, EPYC 7763 (2021-05-23)", 64, {52.5, 98.5, 109, 120, 130, 140, 150, 161, 172, 196, 228}},
      {"HPE DL380 Gen10+, 2 Xeon 8380 (2021-05-31)",
       80,
       {127, 198, 226, 253, 281, 314, 354, 405, 464, 576, 619}},
      {"Fujitsu RX2540 M6, 2 Xeon 8380 (2021-05-18)",
       80,
       {135, 198, 224, 249, 274, 302, 335, 378, 437, 489, 564}},
      {"Dell R7525, 2 EPYC 7702 (2020-03-21)", 128, {72.3, 181, 207, 229, 250, 270, 294, 321, 347, 370, 393}},
      {"Lenovo SR650, Xeon 8280 (2019-03-12)", 28, {50, 71.1, 81, 91.1, 101, 112, 124, 136, 150, 164, 177}},
      {"Fujitsu RX2540 M5, 2 Xeon 8280L (2019-04-18)",
       56,
       {58.3, 112, 132, 150, 169, 189, 213, 242, 276, 322, 388}},
      {"HPE DL385 Gen10, 2 EPYC 7702 (2019-07-15)",
       128,
       {163, 199, 228, 261, 292, 314, 333, 355, 378, 401, 423}},
  }};
  return all;
}

const server& wao_lenovo() {
  static const server one{
      "Lenovo edge (WAO's model)", 96,
      every_twentieth({228.8, 325.2, 362.1, 454.1, 559.4, 560.7, 563.1, 569.3, 569.3, 569.3, 569.3, 563.5})};
  return one;
}

const server& wao_supermicro() {
  static const server one{
      "Supermicro edge (WAO's model)", 96,
      every_twentieth({201.6, 198.6, 205.2, 225.0, 247.5, 265.0, 285.0, 288.8, 291.5, 292.5, 297.3, 307.9})};
  return one;
}

std::vector<server> made_up_servers(std::size_t many, std::uint64_t seed) {
  dice random(seed);
  std::vector<server> out;
  for (std::size_t i = 0; i < many; ++i) {
    auto [s, idle, peak] = some_frame(random);
    const double step = random.below(3) == 0 ? 0 : random.between(0, 0.4);  // share of the rise from idle
    const double bend = random.between(0.6, 2.2), straight = random.share();
    const double steep_end =
        random.below(3) == 0 ? random.between(0, 0.2) : 0;  // its share in the last fifth
    for (int k = 0; k <= 10; ++k) {
      const double load = 0.1 * k;
      const double middle = straight * load + (1 - straight) * std::pow(load, bend);
      const double end = std::max(0.0, (load - 0.8) / 0.2);
      const double share = k == 0 ? 0 : step + (1 - step) * ((1 - steep_end) * middle + steep_end * end);
      s.watts.push_back(idle + (peak - idle) * share);
    }
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<server> odd_servers(std::size_t many, std::uint64_t seed) {
  constexpr std::size_t points = 21, longest = 8;
  dice random(seed);
  std::vector<server> out;
  for (std::size_t i = 0; i < many; ++i) {
    auto [s, idle, peak] = some_frame(random);
    std::vector<double> rise{0};
    while (rise.size() < points)
      add_section(rise, std::min(1 + random.below(longest), points - rise.size()), random);
    const double whole = rise.back();  // 0: flat from idle to full, which is odd as well
    for (const double r : rise) s.watts.push_back(whole > 0 ? idle + (peak - idle) * r / whole : idle);
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace binnacle::bench
