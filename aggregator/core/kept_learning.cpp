#include "aggregator/core/kept_learning.hpp"

#include "common/fnv1a.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace binnacle::aggregator {
namespace {

using predict::statistics;

// A load and its watts are the two halves of a word, so that they come back as they were.
constexpr unsigned half = 32;

std::int64_t together(double load, double watts) noexcept {
  const std::uint64_t high = std::bit_cast<std::uint32_t>(static_cast<float>(load));
  return static_cast<std::int64_t>(high << half | std::bit_cast<std::uint32_t>(static_cast<float>(watts)));
}
double high_of(std::int64_t word) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) >> half));
}
double low_of(std::int64_t word) noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(word)); }

constexpr double most_watts = 1e9, most_noise = 1e3;
constexpr std::int64_t most_count = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::uint64_t learning_key(std::string_view machine, std::string_view meter) noexcept {
  fnv1a hash;
  hash.add_field(machine);
  hash.add_field(meter);
  return hash.value();
}

void save(const kept_learning& kept, store::words& into) {
  const statistics& learned = kept.what.learned();
  into.insert(into.end(), {static_cast<std::int64_t>(kept.of), kept.what.samples(), kept.what.outliers(),
                           together(kept.what.noise(), 0), 0});
  const std::size_t at = into.size() - 1;
  std::int64_t count = 0;
  for (std::size_t b = 0; b < statistics::bins; ++b) {
    if (learned.samples(b) == 0) continue;
    into.insert(into.end(), {together(learned.load(b), learned.watts(b)), learned.samples(b)});
    ++count;
  }
  into[at] = count;
}

std::optional<kept_learning> load_learning(store::word_reader from) noexcept {
  kept_learning out;
  out.of = static_cast<std::uint64_t>(from.next());
  const auto samples = static_cast<std::uint32_t>(from.next(0, most_count));
  const auto outliers = static_cast<std::uint32_t>(from.next(0, most_count));
  const double noise = high_of(from.next());
  if (!(noise >= 0 && noise <= most_noise)) return std::nullopt;
  statistics learned;
  for (std::int64_t left = from.next(0, statistics::bins); left > 0; --left) {
    const std::int64_t point = from.next();
    const auto weight = static_cast<std::uint16_t>(from.next(1, statistics::remembered));
    const double load = high_of(point), watts = low_of(point);
    // Written so that NaN is refused, too.
    if (!(load >= 0 && load <= 1) || !(watts > 0 && watts <= most_watts)) return std::nullopt;
    learned.add(load, watts, weight);
  }
  if (!from.ok()) return std::nullopt;
  out.what = predict::learner(learned, noise, samples, outliers);
  return out;
}

}  // namespace binnacle::aggregator
