#include "common/deadline_heap.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <vector>

namespace deadline_heap_test {

using namespace binnacle;
using namespace std::chrono_literals;

constexpr instant start{1h};

struct deadline {
  instant at{};
  int owner = 0;
  friend auto operator<=>(const deadline&, const deadline&) = default;
};

/// The owners of all deadlines, in the order in which they are due.
std::vector<int> owners(deadline_heap<deadline>& heap) {
  std::vector<int> out;
  while (const auto d = heap.pop(instant::max())) out.push_back(d->owner);
  return out;
}

TEST_SUITE("common/deadline_heap") {
  TEST_CASE("the earliest is due first, and nothing is due before its time") {
    deadline_heap<deadline> heap;
    CHECK_FALSE(heap.next().has_value());
    CHECK_FALSE(heap.pop(instant::max()).has_value());
    heap.push({start + 2s, 2});
    heap.push({start + 1s, 1});
    heap.push({start + 3s, 3});
    CHECK(heap.next() == start + 1s);
    CHECK_FALSE(heap.pop(start + 1s - 1ns).has_value());
    CHECK(heap.pop(start + 1s)->owner == 1);
    CHECK_FALSE(heap.pop(start + 1s).has_value());
    CHECK(heap.size() == 2);
    CHECK(owners(heap) == std::vector{2, 3});
  }

  TEST_CASE("deadlines of one time come in one order, whatever the order in which they were pushed") {
    deadline_heap<deadline> forth, back;
    for (int i = 0; i < 9; ++i) {
      forth.push({start, i});
      back.push({start, 8 - i});
    }
    CHECK(owners(forth) == owners(back));
  }

  TEST_CASE("pruning leaves what is awaited, still the earliest first") {
    deadline_heap<deadline> heap;
    for (int i = 9; i >= 0; --i) heap.push({start + i * 1s, i});
    heap.prune([](const deadline& d) { return d.owner % 3 == 0; });
    CHECK(heap.size() == 4);
    CHECK(owners(heap) == std::vector{0, 3, 6, 9});
  }

  TEST_CASE("deadlines that earlier ones replace do not pile up") {
    deadline_heap<deadline> heap;
    std::size_t most = 0;
    for (int i = 0; i < 5'000; ++i) {
      const instant newest = start - i * 1s;
      heap.push({newest, 1});
      heap.prune_if_large([newest](const deadline& d) { return d.at == newest; });
      most = std::max(most, heap.size());
    }
    CHECK(most > 1'000);
    CHECK(most < 1'100);
    CHECK(heap.next() == start - 4'999s);
  }

  TEST_CASE("a small heap is left alone, and so is a large one that is awaited") {
    deadline_heap<deadline> heap;
    int asked = 0;
    const auto all = [&asked](const deadline&) { return ++asked > 0; };
    for (int i = 0; i < 1'000; ++i) {
      heap.push({start, i});
      heap.prune_if_large(all);
    }
    CHECK(asked == 0);
    for (int i = 1'000; i < 10'000; ++i) {
      heap.push({start, i});
      heap.prune_if_large(all);
    }
    CHECK(heap.size() == 10'000);
    CHECK_MESSAGE(asked < 20'000, "each time the heap may become twice as large before the next pruning");
  }

  TEST_CASE("a deadline that is pushed again and again does not pile up, though it is awaited") {
    deadline_heap<deadline> heap;
    for (int i = 0; i < 5'000; ++i) {
      heap.push({start, i % 2});
      heap.prune_if_large([](const deadline&) { return true; });
    }
    CHECK(heap.size() < 1'100);
    CHECK(heap.next() == start);
  }
}

}  // namespace deadline_heap_test
