#include "common/wire/frame.hpp"

#include "tests/common/wire/allocation_watch.hpp"
#include "tests/common/wire/support.hpp"

#include <cstring>
#include <string_view>

using namespace binnacle;
using namespace binnacle::wire;

namespace {

bytes header(std::uint32_t length, unsigned kind = 5, unsigned version = 1, unsigned flags = 1,
             unsigned reserved = 0) {
  bytes b;
  for (const unsigned x :
       {length & 255, length >> 8 & 255, length >> 16 & 255, length >> 24, kind, version, flags, reserved})
    b.push_back(static_cast<std::byte>(x));
  return b;
}

/// A frame whose payload is `size` bytes of `fill`.
bytes frame(std::size_t size, unsigned fill = 0xab, unsigned kind = 5) {
  bytes b = header(static_cast<std::uint32_t>(size), kind);
  b.insert(b.end(), size, static_cast<std::byte>(fill));
  return b;
}

bytes operator+(bytes a, const bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_SUITE("common/wire/frame") {
  TEST_CASE("a frame that drips in byte by byte comes out when its last byte is there") {
    for (const std::size_t size : {0u, 1u, 7u, 300u, 5'000u}) {
      CAPTURE(size);
      frame_reader reader;
      const bytes all = frame(size);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto before = reader.next();
        REQUIRE(before.has_value());
        CHECK_FALSE(before->has_value());
        reader.feed({all.data() + i, 1});
      }
      const frame_view f = test::first(reader);
      CHECK(f.kind == frame_kind::batch);
      CHECK(f.version == 1);
      CHECK(f.flags == flag_packed);
      CHECK(f.payload.size() == size);
      CHECK(reader.buffered() == 0);
    }
  }

  TEST_CASE("many frames in one buffer come out in order, and a rest waits") {
    frame_reader reader;
    bytes all;
    for (unsigned i = 0; i < 100; ++i) all = std::move(all) + frame(i, i);
    const bytes last = frame(10, 0x77);
    all.insert(all.end(), last.begin(), last.begin() + 9);
    reader.feed(all);
    for (unsigned i = 0; i < 100; ++i) {
      const frame_view f = test::first(reader);
      REQUIRE(f.payload.size() == i);
      for (const std::byte b : f.payload) REQUIRE(b == static_cast<std::byte>(i));
    }
    CHECK_FALSE(reader.next()->has_value());
    CHECK(reader.buffered() == 9);
    reader.feed({last.data() + 9, last.size() - 9});
    CHECK(test::first(reader).payload.size() == 10);
  }

  TEST_CASE("a stream cut at any place gives the same frames") {
    const bytes all = frame(3) + frame(0) + frame(40);
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
      CAPTURE(cut);
      frame_reader reader;
      std::vector<std::size_t> sizes;
      const auto drain = [&] {
        for (auto f = reader.next(); f->has_value(); f = reader.next()) sizes.push_back((*f)->payload.size());
      };
      reader.feed({all.data(), cut});
      drain();
      reader.feed({all.data() + cut, all.size() - cut});
      drain();
      CHECK(sizes == std::vector<std::size_t>{3, 0, 40});
    }
  }

  TEST_CASE("a header is refused before anything is reserved for its frame") {
    bytes head;
    reason expected{};
    SUBCASE("a length over the limit") { head = header((1u << 20) + 1), expected = reason::oversized; }
    SUBCASE("the largest length") { head = header(0xffff'ffff), expected = reason::oversized; }
    SUBCASE("an unknown flag") { head = header(10, 5, 1, 4), expected = reason::bad_frame; }
    SUBCASE("a reserved bit") { head = header(10, 5, 1, 1, 0x80), expected = reason::bad_frame; }
    SUBCASE("kind 0") { head = header(10, 0), expected = reason::bad_frame; }
    SUBCASE("a browser") {
      constexpr std::string_view text = "GET / HTTP/1.1\r\n\r\n";
      head.resize(text.size());
      std::memcpy(head.data(), text.data(), text.size());
      expected = reason::oversized;
    }
    frame_reader reader;
    const test::allocation_watch watch;
    reader.feed(head);
    const auto f = reader.next();
    REQUIRE(f.has_error());
    CHECK(f.error().why == expected);
    CHECK(watch.largest() <= 2'048);

    // The stream is out of step, so the reader gives no frame that follows.
    reader.feed(frame(3));
    CHECK(reader.next().error().why == expected);
  }

  TEST_CASE("the largest frame is taken, and its memory given back") {
    frame_reader reader;
    reader.feed(frame(max_frame_payload));
    CHECK(test::first(reader).payload.size() == max_frame_payload);
    reader.prepare();
    CHECK(reader.capacity() <= 16 * 1024);
  }

  TEST_CASE("a header that promises much reserves no more than twice what has come") {
    frame_reader reader;
    reader.feed(header(max_frame_payload));
    REQUIRE_FALSE(reader.next()->has_value());
    const bytes dribble(100);
    for (int i = 0; i < 100; ++i) {
      reader.feed(dribble);
      REQUIRE_FALSE(reader.next()->has_value());
      CHECK(reader.capacity() <= std::max<std::size_t>(2 * reader.buffered(), 4'096));
    }
  }

  TEST_CASE("frames of a session's first kind are held to a smaller limit until it is raised") {
    frame_reader reader(max_first_frame);
    reader.feed(frame(max_first_frame));
    CHECK(test::first(reader).payload.size() == max_first_frame);
    SUBCASE("not raised") {
      reader.feed(header(max_first_frame + 1));
      CHECK(reader.next().error().why == reason::oversized);
    }
    SUBCASE("raised") {
      reader.limit(max_frame_payload);
      reader.feed(header(max_first_frame + 1));
      CHECK_FALSE(reader.next()->has_value());
    }
  }

  TEST_CASE("reading in place through prepare and commit reuses one small buffer") {
    frame_reader reader;
    const bytes one = frame(120);
    std::size_t sent = 0, got = 0;
    for (int i = 0; i < 10'000; ++i) {
      const auto room = reader.prepare(1'000);
      REQUIRE(room.size() >= 1'000);
      for (std::size_t k = 0; k < 1'000; ++k) room[k] = one[sent++ % one.size()];
      reader.commit(1'000);
      for (auto f = reader.next(); f->has_value(); f = reader.next()) {
        REQUIRE((*f)->payload.size() == 120);
        ++got;
      }
    }
    CHECK(got == 10'000'000 / one.size());
    CHECK(reader.capacity() <= 4'096);
  }
}
