#include "aggregator/store/row.hpp"
#include "aggregator/store/shared_column.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

// One writer and one reader use what the ingest loop shares with the faces. scripts/check runs this under
// ThreadSanitizer.
namespace binnacle::store {

TEST_SUITE("aggregator/store/concurrency") {
  TEST_CASE("a reader never sees half of a sample") {
    shared_column column({"x"});
    constexpr std::int64_t rounds = 200'000;
    std::atomic<bool> go{false};
    std::thread writer([&] {
      while (!go.load()) std::this_thread::yield();
      for (std::int64_t i = 1; i <= rounds; ++i) {
        column.store(node_id{7}, {{i, static_cast<std::int8_t>(i % 10)},
                                  from_ns(i),
                                  from_ns(i + 10),
                                  static_cast<absence>(i % 5),
                                  i % 2 == 0,
                                  i % 3 == 0});
      }
    });
    go = true;
    std::int64_t last = 0;
    std::size_t torn = 0, backwards = 0;
    while (last < rounds) {
      const sample s = column.load(node_id{7});
      const std::int64_t i = s.value.mantissa;
      if (i == 0) continue;
      torn += s.value.exponent != i % 10 || s.read_at != from_ns(i) || s.expires_at != from_ns(i + 10) ||
              s.reason != static_cast<absence>(i % 5) || s.partial != (i % 2 == 0) ||
              s.link_down != (i % 3 == 0);
      backwards += i < last;
      last = i;
    }
    writer.join();
    CHECK(torn == 0);
    CHECK(backwards == 0);
  }

  TEST_CASE("a column grows under its reader") {
    shared_column column({"x"});
    constexpr std::uint32_t nodes = 50'000;
    std::thread writer([&] {
      for (std::uint32_t n = 0; n < nodes; ++n)
        column.store(node_id{n}, {{n, 0}, from_ns(1), from_ns(2), absence::none});
    });
    std::size_t wrong = 0;
    for (std::uint32_t n = 0; n < nodes;) {
      const sample s = column.load(node_id{n});
      if (s.reason == absence::not_read_yet) {
        std::this_thread::yield();
        continue;
      }
      wrong += s.value.mantissa != n;
      ++n;
    }
    writer.join();
    CHECK(wrong == 0);
  }

  TEST_CASE("a value is never older than the age shown for it") {
    auto made = make_shape(catalog_builder().group("x").series("a"), {});
    row cells(std::make_shared<const shape>(std::move(made->what)));
    constexpr std::int64_t rounds = 200'000;
    std::thread writer([&] {
      for (std::int64_t i = 1; i <= rounds; ++i) {
        cells.set_value(0, i);
        cells.set_read(0, from_ns(i));
      }
    });
    std::size_t wrong = 0;
    for (std::int64_t read = 0; read < rounds;) {
      const sample s = cells.load(0);
      read = to_ns(s.read_at);
      wrong += s.value.mantissa < read;
    }
    writer.join();
    CHECK(wrong == 0);
  }
}

}  // namespace binnacle::store
