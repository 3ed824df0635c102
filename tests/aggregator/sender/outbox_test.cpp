#include "aggregator/sender/outbox.hpp"

#include <doctest/doctest.h>

#include <string>

namespace binnacle::sender {
namespace outbox_test {

instant at_s(int s) { return instant(std::chrono::seconds(s)); }
parcel parcel_of(std::size_t bytes, std::size_t samples, int made_s) {
  return {std::string(bytes, 'x'), samples, at_s(made_s)};
}

}  // namespace outbox_test

TEST_SUITE("aggregator/sender/outbox") {
  using namespace outbox_test;

  TEST_CASE("requests leave in the order in which they came") {
    outbox box(100, std::chrono::hours(1));
    box.put(parcel_of(10, 1, 1), at_s(1));
    box.put(parcel_of(10, 2, 2), at_s(2));
    CHECK(box.oldest() == at_s(1));
    CHECK(box.take(at_s(3))->samples == 1);
    CHECK(box.take(at_s(3))->samples == 2);
    CHECK_FALSE(box.take(at_s(3)));
    CHECK_FALSE(box.oldest());
    CHECK(box.bytes() == 0);
  }

  TEST_CASE("the oldest give way when the box is full, and are counted") {
    outbox box(25, std::chrono::hours(1));
    for (int i = 1; i <= 3; ++i) box.put(parcel_of(10, static_cast<std::size_t>(i), i), at_s(i));
    CHECK(box.dropped_samples() == 1);
    CHECK(box.bytes() == 20);
    CHECK(box.take(at_s(4))->samples == 2);
  }

  TEST_CASE("what waited too long is left out, and counted") {
    outbox box(100, std::chrono::seconds(10));
    box.put(parcel_of(10, 5, 1), at_s(1));
    box.put(parcel_of(10, 7, 8), at_s(8));
    CHECK(box.take(at_s(12))->samples == 7);
    CHECK(box.dropped_samples() == 5);
  }

  TEST_CASE("a request that could not be delivered is the first again, unless newer ones fill the box") {
    outbox box(25, std::chrono::hours(1));
    box.put(parcel_of(10, 1, 1), at_s(1));
    box.put(parcel_of(10, 2, 2), at_s(2));
    auto first = box.take(at_s(3));
    box.put_back(std::move(*first), at_s(3));
    first = box.take(at_s(3));
    CHECK(first->samples == 1);
    box.put(parcel_of(10, 3, 3), at_s(3));
    box.put_back(std::move(*first), at_s(3));
    CHECK(box.dropped_samples() == 1);
    CHECK(box.take(at_s(3))->samples == 2);
  }

  TEST_CASE("defect: a request that passed an older one, and was not delivered, stayed in front of it") {
    outbox box(100, std::chrono::hours(1));
    for (int i = 1; i <= 3; ++i) box.put(parcel_of(10, static_cast<std::size_t>(i), i), at_s(i));
    box.put_after_next(*box.take(at_s(3)), at_s(3));
    box.put_back(*box.take(at_s(3)), at_s(3));
    CHECK(box.bytes() == 30);
    CHECK(box.oldest() == at_s(1));
    for (const std::size_t samples : {1u, 2u, 3u}) CHECK(box.take(at_s(3))->samples == samples);
  }

  TEST_CASE("parts of a request go in front of one another, as they are put back, and of what is newer") {
    outbox box(100, std::chrono::hours(1));
    box.put(parcel_of(10, 3, 2), at_s(2));
    for (const std::size_t samples : {2u, 1u}) box.put_back(parcel_of(10, samples, 1), at_s(2));
    for (const std::size_t samples : {1u, 2u, 3u}) CHECK(box.take(at_s(3))->samples == samples);
  }

  TEST_CASE("a request that is put off lets the next one pass, and no other") {
    outbox box(100, std::chrono::hours(1));
    for (int i = 1; i <= 3; ++i) box.put(parcel_of(10, static_cast<std::size_t>(i), i), at_s(i));
    box.put_after_next(*box.take(at_s(3)), at_s(3));
    CHECK(box.bytes() == 30);
    CHECK(box.oldest() == at_s(1));
    for (const std::size_t samples : {2u, 1u, 3u}) CHECK(box.take(at_s(3))->samples == samples);
    box.put_after_next(parcel_of(10, 4, 4), at_s(4));  // there is no next one
    CHECK(box.take(at_s(4))->samples == 4);
  }
}

}  // namespace binnacle::sender
