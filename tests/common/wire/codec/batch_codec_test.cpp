#include "common/wire/codec/batch_codec.hpp"

#include "common/wire/codec/payload.hpp"
#include "common/wire/codec/zigzag.hpp"
#include "common/wire/telemetry.capnp.h"
#include "tests/common/wire/allocation_watch.hpp"
#include "tests/common/wire/noisy_node.hpp"
#include "tests/common/wire/support.hpp"

#include <algorithm>
#include <limits>
#include <map>

using namespace binnacle;
using namespace binnacle::wire;

namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t second = 1'000'000'000;

/// Batch 8 of catalog 1, sent at 101 s, with the columns that `fill` writes.
template <class Fill>
bytes by_hand(Fill fill) {
  bytes out;
  const auto done =
      detail::append_root<schema::Batch>(out, frame_kind::batch, [&](schema::Batch::Builder to) {
        to.setSequence(8);
        to.setCatalogVersion(1);
        to.setSentAtUs(101'000'000);
        fill(to);
      });
  REQUIRE(done.has_value());
  return out;
}

/// An encoder and a decoder for the same catalog.
struct pair_of_ends {
  explicit pair_of_ends(const catalog& c) {
    encoder.reset(c);
    decoder.reset(c);
  }
  outcome<void> decode(const bytes& data) {
    frame_reader reader;
    reader.feed(data);
    return decoder.decode(test::first(reader), space, got, left_out);
  }
  /// Encodes and decodes `b`; both ends must accept it.
  const batch& send(batch b) {
    bytes out;
    const auto sent = encoder.append(out, b);
    CAPTURE((sent.has_error() ? sent.error().text() : ""));
    REQUIRE(sent.has_value());
    const auto received = decode(out);
    CAPTURE((received.has_error() ? received.error().text() : ""));
    REQUIRE(received.has_value());
    return got;
  }

  batch_encoder encoder;
  batch_decoder decoder;
  scratch space;
  omissions left_out;
  batch got;
};

batch full_batch(std::size_t series, std::int64_t mantissa = 0, std::int64_t at = 100 * second) {
  batch b;
  b.full = true;
  b.sent_at_ns = at;
  for (std::uint32_t i = 0; i < series; ++i) b.values.push_back({i, mantissa});
  return b;
}

batch delta_batch(std::vector<series_value> values, std::int64_t at = 101 * second) {
  batch b;
  b.sent_at_ns = at;
  b.values = std::move(values);
  return b;
}

}  // namespace

TEST_SUITE("common/wire/codec/batch_codec") {
  TEST_CASE("zigzag gives back every mantissa or says that it does not fit") {
    struct {
      std::int64_t value, base;
      std::uint32_t z;
    } const table[] = {
        {0, 0, 0},
        {-1, 0, 1},
        {1, 0, 2},
        {-2, 0, 3},
        {7, 10, 5},
        {2'147'483'647, 0, 0xffff'fffe},
        {-2'147'483'647, 0, 0xffff'fffd},
        {-2'147'483'648, 0, detail::wide_escape},
        {2'147'483'648, 0, detail::wide_escape},
        {most, least, 1},
        {least, most, 2},
        {most, 0, detail::wide_escape},
        {least, 0, detail::wide_escape},
        {most, most - 1, 2},
    };
    for (const auto& row : table) {
      CAPTURE(row.value);
      CAPTURE(row.base);
      CHECK(detail::zigzag(row.value, row.base) == row.z);
      if (row.z != detail::wide_escape) CHECK(detail::unzigzag(row.z, row.base) == row.value);
    }
  }

  TEST_CASE("a batch comes over as it was sent, whatever the mantissas") {
    pair_of_ends ends(test::plain_catalog(5));
    ends.send(full_batch(5));
    const std::vector<std::vector<series_value>> steps = {
        {{0, most}, {1, least}, {2, 1}, {3, -1}, {4, 0}},
        {{0, least}, {1, most}, {2, 2'147'483'648}, {3, -2'147'483'649}, {4, 0}},
        {{1, 0}, {3, 17}},
        {},
        {{4, 5}},
    };
    std::int64_t at = 101 * second;
    for (const auto& values : steps) {
      const batch& got = ends.send(delta_batch(values, at += second));
      CHECK(got.values == values);
      CHECK(got.sent_at_ns == at);
      CHECK_FALSE(got.full);
    }
  }

  TEST_CASE("reads come over in whole microseconds, all groups or some") {
    pair_of_ends ends(test::plain_catalog(8, 4));
    batch b = full_batch(8, 1, 100 * second + 999);
    SUBCASE("all groups") {
      b.reads = {{0, 99 * second}, {1, 0}, {2, 100 * second + 500}, {3, 98 * second + 1'999}};
    }
    SUBCASE("the first ones") { b.reads = {{0, 99 * second}, {1, 5'000}}; }
    SUBCASE("some") { b.reads = {{1, 99 * second}, {3, 5'000}}; }
    SUBCASE("none") {}
    const batch& got = ends.send(b);
    for (group_read& r : b.reads) r.read_at_ns = r.read_at_ns / 1'000 * 1'000;
    CHECK(got.reads == b.reads);
    CHECK(got.sent_at_ns == 100 * second);
  }

  TEST_CASE("an absent series keeps its last mantissa as the base of the next difference") {
    pair_of_ends ends(test::plain_catalog(3));
    ends.send(full_batch(3, 1'000'000'000'000));
    batch gone = delta_batch({{0, 5}});
    gone.absences = {{1, absence::permission}, {2, absence::gap}};
    CHECK(ends.send(gone).absences == gone.absences);
    CHECK(ends.send(delta_batch({{1, 1'000'000'000'001}, {2, 4}})).values ==
          std::vector<series_value>{{1, 1'000'000'000'001}, {2, 4}});
  }

  TEST_CASE("every reason an agent may send comes over; the aggregator's own become other") {
    for (int i = 1; i <= static_cast<int>(absence::other); ++i) {
      const auto sent = static_cast<absence>(i);
      CAPTURE(sent);
      pair_of_ends ends(test::plain_catalog(1));
      batch b;
      b.full = true;
      b.absences = {{0, sent}};
      const bool own = sent == absence::stale || sent == absence::disconnected;
      CHECK(ends.send(b).absences.at(0).reason == (own ? absence::other : sent));
    }
  }

  TEST_CASE("a thousand random batches over a large catalog leave both ends agreeing") {
    constexpr std::size_t series = 1'000;
    pair_of_ends ends(test::plain_catalog(series, 7));
    std::mt19937_64 random(42);
    ends.send(full_batch(series));
    for (int i = 0; i < 1'000; ++i) {
      CAPTURE(i);
      batch b;
      b.sent_at_ns = (200 + i) * second;
      b.full = random() % 50 == 0;
      const unsigned share = static_cast<unsigned>(random() % 101);
      for (std::uint32_t s = 0; s < series; ++s) {
        const bool changed = random() % 100 < share;
        if (!changed && !b.full) continue;
        // Mostly small numbers; sometimes a number of up to 64 bits.
        const auto bits = static_cast<int>(random() % (random() % 8 == 0 ? 64 : 20));
        if (random() % 10 == 0 || (b.full && !changed)) {
          b.absences.push_back({s, absence::timeout});
        } else {
          b.values.push_back({s, static_cast<std::int64_t>(random() >> (63 - bits))});
        }
      }
      for (std::uint16_t g = 0; g < 7; ++g)
        if (random() % 2 == 0)
          b.reads.push_back({g, b.sent_at_ns - static_cast<std::int64_t>(random() % second) / 1'000 * 1'000});
      const batch& got = ends.send(b);
      CHECK(got.values == b.values);
      CHECK(got.absences == b.absences);
      CHECK(got.reads == b.reads);
    }
  }

  TEST_CASE("a catalog of 65,535 series fits one full batch, also with the widest mantissas") {
    pair_of_ends ends(test::plain_catalog(max_series));
    CHECK(ends.send(full_batch(max_series, most)).values.size() == max_series);
    CHECK(ends.send(full_batch(max_series, least, 101 * second)).values.back() ==
          series_value{max_series - 1, least});
  }

  TEST_CASE("an empty catalog has empty batches") {
    pair_of_ends ends(test::plain_catalog(0, 0));
    CHECK(ends.send(full_batch(0)).values.empty());
    CHECK(ends.send(delta_batch({})).values.empty());
  }

  TEST_CASE("decoding allocates nothing once its vectors have grown") {
    test::noisy_node node(3);
    pair_of_ends ends(node.announces());
    frame_reader reader;
    for (int i = 0; i < 20; ++i) {
      batch b = node.tick((100 + i) * second, i == 0);
      bytes out;
      REQUIRE(ends.encoder.append(out, b).has_value());
      reader.feed(out);
    }
    for (int i = 0; i < 20; ++i) {
      const frame_view f = test::first(reader);
      const test::allocation_watch watch;
      const bool fine = ends.decoder.decode(f, ends.space, ends.got, ends.left_out).has_value();
      const std::size_t requests = watch.count();
      REQUIRE(fine);
      if (i > 0) CHECK(requests == 0);
    }
  }

  TEST_CASE("an encoder refuses what the decoder would refuse, and stays unchanged") {
    pair_of_ends ends(test::plain_catalog(4, 2));
    ends.send(full_batch(4, 10));
    batch bad = delta_batch({{1, 11}});
    reason expected{};
    SUBCASE("a series beyond the catalog") { bad.values = {{4, 1}}, expected = reason::unknown_series; }
    SUBCASE("an absent one beyond the catalog") {
      bad.absences = {{9, absence::gap}}, expected = reason::unknown_series;
    }
    SUBCASE("a group beyond the catalog") { bad.reads = {{2, second}}, expected = reason::unknown_series; }
    SUBCASE("series out of order") { bad.values = {{2, 1}, {1, 1}}, expected = reason::bad_message; }
    SUBCASE("a series twice") { bad.values = {{2, 1}, {2, 1}}, expected = reason::bad_message; }
    SUBCASE("a series both ways") { bad.absences = {{1, absence::gap}}, expected = reason::bad_message; }
    SUBCASE("groups out of order") { bad.reads = {{1, second}, {0, second}}, expected = reason::bad_message; }
    SUBCASE("an incomplete full batch") { bad.full = true, expected = reason::bad_message; }
    SUBCASE("a read after the batch") {
      bad.reads = {{0, bad.sent_at_ns + 1}}, expected = reason::clock_backwards;
    }
    SUBCASE("a read before boot") { bad.reads = {{0, -1}}, expected = reason::clock_backwards; }
    SUBCASE("time going back") { bad.sent_at_ns = 99 * second, expected = reason::clock_backwards; }
    SUBCASE("time before boot") { bad.sent_at_ns = -1, expected = reason::clock_backwards; }
    bytes out(3);
    const auto refused = ends.encoder.append(out, bad);
    REQUIRE(refused.has_error());
    CHECK(refused.error().why == expected);
    CHECK(out.size() == 3);
    CHECK(ends.send(delta_batch({{1, 12}})).sequence == 2);
  }

  TEST_CASE("the first batch after a catalog must be full") {
    pair_of_ends ends(test::plain_catalog(2));
    bytes out;
    batch b = delta_batch({{0, 1}});
    CHECK(ends.encoder.append(out, b).error().why == reason::not_full);
    ends.send(full_batch(2));
    ends.encoder.reset(test::plain_catalog(3, 1, 2));
    ends.decoder.reset(test::plain_catalog(3, 1, 2));
    CHECK(ends.encoder.needs_full());
    CHECK(ends.send(full_batch(3, 7, 102 * second)).catalog_version == 2);
  }

  TEST_CASE("a decoder names what is wrong with a batch built by hand") {
    // A decoder that has received batch 7: full, ten series in two groups, sent at 100 s.
    pair_of_ends ends(test::plain_catalog(10, 2));
    const auto first = by_hand([](schema::Batch::Builder to) {
      to.setSequence(7);
      to.setFull(true);
      to.setSentAtUs(100'000'000);
      to.initDeltas(10);
    });
    REQUIRE(ends.decode(first).has_value());

    struct row {
      const char* what;
      reason expected;
      void (*fill)(schema::Batch::Builder);
      std::uint64_t left_out = 0;
    };
    static const row table[] = {
        {"nothing wrong", reason::none, [](schema::Batch::Builder) {}},
        {"another catalog", reason::unknown_catalogue,
         [](schema::Batch::Builder to) { to.setCatalogVersion(2); }},
        {"a batch left out", reason::sequence_gap, [](schema::Batch::Builder to) { to.setSequence(9); }},
        {"the same batch again", reason::sequence_gap, [](schema::Batch::Builder to) { to.setSequence(7); }},
        {"the same batch again, full", reason::sequence_gap,
         [](schema::Batch::Builder to) { to.setFull(true), to.setSequence(7), to.initDeltas(10); }},
        {"an old full batch", reason::sequence_gap,
         [](schema::Batch::Builder to) { to.setFull(true), to.setSequence(6); }},
        {"a full batch after a gap", reason::none,
         [](schema::Batch::Builder to) { to.setFull(true), to.setSequence(99), to.initDeltas(10); }},
        {"time going back", reason::clock_backwards,
         [](schema::Batch::Builder to) { to.setSentAtUs(99'999'999); }},
        {"time beyond all clocks", reason::bad_message,
         [](schema::Batch::Builder to) { to.setSentAtUs(~std::uint64_t{0}); }},
        {"a read before boot", reason::none,
         [](schema::Batch::Builder to) { to.initReadAgesUs(1).set(0, 101'000'001); }, 1},
        {"more reads than groups", reason::none, [](schema::Batch::Builder to) { to.initReadAgesUs(3); }, 1},
        {"a hundred thousand reads", reason::none,
         [](schema::Batch::Builder to) { to.initReadAgesUs(100'000); }, 99'998},
        {"a group beyond the catalog", reason::none,
         [](schema::Batch::Builder to) { to.initReadAgesUs(1), to.initReadGroups(1).set(0, 2); }, 1},
        {"a group twice", reason::none,
         [](schema::Batch::Builder to) { to.initReadAgesUs(2), to.initReadGroups(2); }, 1},
        {"read columns of two lengths", reason::none,
         [](schema::Batch::Builder to) { to.initReadAgesUs(2), to.initReadGroups(1); }, 2},
        {"more deltas than series", reason::unknown_series,
         [](schema::Batch::Builder to) { to.initDeltas(11); }},
        {"few deltas and no bitmap", reason::bad_message,
         [](schema::Batch::Builder to) { to.initDeltas(9); }},
        {"a bit beyond the catalog", reason::none,
         [](schema::Batch::Builder to) { to.initDeltas(1), to.initChanged(2)[1] = 4; }, 1},
        {"a bitmap far beyond the catalog", reason::bad_message,
         [](schema::Batch::Builder to) { to.initDeltas(1), to.initChanged(99); }},
        {"a bitmap of more bits than any catalog has series", reason::bad_message,
         [](schema::Batch::Builder to) { to.initDeltas(1), to.initChanged(8'193)[0] = 1; }},
        {"a bitmap with other bits", reason::bad_message,
         [](schema::Batch::Builder to) { to.initDeltas(1), to.initChanged(1)[0] = 3; }},
        {"a bitmap and no deltas", reason::bad_message,
         [](schema::Batch::Builder to) { to.initChanged(1)[0] = 3; }},
        {"an escape and no wide value", reason::bad_message,
         [](schema::Batch::Builder to) { to.initDeltas(1).set(0, 0xffff'ffff), to.initChanged(1)[0] = 1; }},
        {"a wide value too many", reason::bad_message,
         [](schema::Batch::Builder to) { to.initDeltas(1), to.initChanged(1)[0] = 1, to.initWide(1); }},
        {"an absence beyond the catalog", reason::none,
         [](schema::Batch::Builder to) { to.initAbsentSeries(1).set(0, 10), to.initAbsentReasons(1); }, 1},
        {"more absences than series", reason::none,
         [](schema::Batch::Builder to) { to.initAbsentSeries(11), to.initAbsentReasons(11); }, 10},
        {"a million absences", reason::none,
         [](schema::Batch::Builder to) { to.initAbsentSeries(1'000'000), to.initAbsentReasons(1'000'000); },
         999'999},
        {"absences without reasons", reason::none, [](schema::Batch::Builder to) { to.initAbsentSeries(1); },
         1},
        {"absences out of order", reason::none,
         [](schema::Batch::Builder to) { to.initAbsentSeries(2).set(0, 1), to.initAbsentReasons(2); }, 1},
        {"a series both ways", reason::none,
         [](schema::Batch::Builder to) {
           to.initDeltas(10), to.initAbsentSeries(1), to.initAbsentReasons(1);
         },
         1},
        {"both ways by the bitmap", reason::none,
         [](schema::Batch::Builder to) {
           to.initDeltas(1), to.initChanged(1)[0] = 1, to.initAbsentSeries(1), to.initAbsentReasons(1);
         },
         1},
        {"an incomplete full batch", reason::bad_message,
         [](schema::Batch::Builder to) { to.setFull(true); }},
        {"an unknown reason", reason::none,
         [](schema::Batch::Builder to) {
           to.initAbsentSeries(1), to.initAbsentReasons(1).set(0, static_cast<schema::Absence>(999));
         }},
    };
    for (const row& r : table) {
      CAPTURE(r.what);
      pair_of_ends fresh(test::plain_catalog(10, 2));
      REQUIRE(fresh.decode(first).has_value());
      const auto done = fresh.decode(by_hand(r.fill));
      const reason why = done.has_error() ? done.error().why : reason::none;
      CHECK(why == r.expected);
      CHECK(fresh.left_out.items == r.left_out);
      CHECK((r.left_out == 0) == fresh.left_out.last.message.empty());
      if (done.has_error()) CHECK_FALSE(done.error().message.empty());
    }
  }

  TEST_CASE(
      "a series of which a full batch tells nothing sound is absent, and the others have their values") {
    pair_of_ends ends(test::plain_catalog(3));
    REQUIRE(ends.decode(by_hand([](schema::Batch::Builder to) {
                  to.setFull(true);
                  auto deltas = to.initDeltas(2);
                  deltas.set(0, 2), deltas.set(1, 4);
                  to.initChanged(1)[0] = 3;
                  to.initAbsentSeries(1).set(0, 77);
                  to.initAbsentReasons(1);
                }))
                .has_value());
    CHECK(ends.got.values == std::vector<series_value>{{0, 1}, {1, 2}});
    CHECK(ends.got.absences == std::vector<series_absence>{{2, absence::other}});
    CHECK(ends.left_out.items == 1);
    // The next batch's differences are added to the values that were kept.
    REQUIRE(ends.decode(by_hand([](schema::Batch::Builder to) {
                  to.setSequence(9);
                  to.initDeltas(1).set(0, 2);
                  to.initChanged(1)[0] = 2;
                }))
                .has_value());
    CHECK(ends.got.values == std::vector<series_value>{{1, 3}});
  }
}
