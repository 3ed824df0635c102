#include "tests/common/wire/allocation_watch.hpp"
#include "tests/common/wire/noisy_node.hpp"
#include "tests/common/wire/support.hpp"

#include <algorithm>
#include <cstring>

/// Frames of every kind, cut at every byte and with every bit flipped. The result must be an error or a valid
/// value, never a crash and never much memory. The sanitizer builds run these tests, too.
using namespace binnacle;
using namespace binnacle::wire;

namespace {

struct specimen {
  const char* name;
  bytes data;
};

template <class Message>
bytes framed(const Message& m) {
  bytes out;
  REQUIRE(append(out, m).has_value());
  return out;
}

std::vector<specimen> messages() {
  hello h = test::plain_hello();
  h.credential = "token";
  return {
      {"hello", framed(h)},
      {"welcome", framed(welcome{1, 0, "replica-0", 2, 3'600})},
      {"refused", framed(refused{"overloaded: later", 100})},
      {"goodbye", framed(goodbye{"shutting_down"})},
      {"status", framed(std::vector<source_status>{{"rapl", false, "no powercap"}})},
      {"interest", framed(interest{{{"rapl_power_watts", 200}}})},
      {"catalog, packed", framed(test::plain_catalog(3))},
      {"catalog, zstd", framed(test::plain_catalog(60, 3))},
  };
}

/// Two batches of a noisy node: a full one, and one with differences.
std::vector<bytes> batches(const test::noisy_node& seed) {
  test::noisy_node node = seed;
  batch_encoder encoder;
  encoder.reset(node.announces());
  std::vector<bytes> out(2);
  for (std::size_t i = 0; i < 2; ++i) {
    batch b = node.tick(static_cast<std::int64_t>(100 + i) * 1'000'000'000, i == 0);
    if (i == 1) {
      b.values.erase(b.values.begin() + 3, b.values.begin() + 9);
      b.absences = {{4, absence::gap}, {8, absence::permission}};
    }
    REQUIRE(encoder.append(out[i], b).has_value());
  }
  return out;
}

/// Reads the frames in `data` as a session would, and returns how many were good.
int read_all(const bytes& data, const catalog& known, const bytes* before = nullptr) {
  frame_reader reader;
  scratch space;
  omissions left_out;
  batch_decoder decoder;
  decoder.reset(known);
  batch b;
  if (before != nullptr) {
    reader.feed(*before);
    REQUIRE(decoder.decode(test::first(reader), space, b, left_out).has_value());
  }
  reader.feed(data);
  int good = 0;
  for (;;) {
    const auto f = reader.next();
    if (f.has_error()) {
      CHECK(f.error().why != reason::none);
      return good;
    }
    if (!f->has_value()) return good;
    const auto done =
        (*f)->kind == frame_kind::batch ? decoder.decode(**f, space, b, left_out) : [&]() -> outcome<void> {
      auto m = decode(**f, space, left_out);
      if (m.has_error()) return m.error();
      return {};
    }();
    if (done.has_error()) {
      CHECK(done.error().why != reason::none);
      return good;
    }
    ++good;
  }
}

}  // namespace

TEST_SUITE("common/wire/damage") {
  TEST_CASE("a message cut anywhere gives nothing") {
    const catalog known = test::plain_catalog(3);
    for (const specimen& s : messages()) {
      CAPTURE(s.name);
      CHECK(read_all(s.data, known) == 1);
      for (std::size_t cut = 0; cut < s.data.size(); ++cut) {
        CAPTURE(cut);
        CHECK(read_all(bytes(s.data.begin(), s.data.begin() + static_cast<std::ptrdiff_t>(cut)), known) == 0);
      }
    }
  }

  TEST_CASE("a payload cut anywhere under a header that fits is an error or a clean value") {
    const test::noisy_node node(5);
    const auto both = batches(node);
    auto all = messages();
    all.push_back({"full batch", both[0]});
    for (const specimen& s : all) {
      CAPTURE(s.name);
      for (std::size_t cut = frame_header_size; cut < s.data.size(); ++cut) {
        CAPTURE(cut);
        bytes shorter(s.data.begin(), s.data.begin() + static_cast<std::ptrdiff_t>(cut));
        finish_frame(shorter, 0, static_cast<frame_kind>(s.data[4]), static_cast<std::uint8_t>(s.data[6]));
        CHECK(read_all(shorter, node.announces()) <= 1);
      }
    }
  }

  TEST_CASE("a message with any bit flipped is an error or a clean value, and takes little memory") {
    const test::noisy_node node(5);
    const auto both = batches(node);
    auto all = messages();
    all.push_back({"full batch", both[0]});
    all.push_back({"delta batch", both[1]});
    for (const specimen& s : all) {
      CAPTURE(s.name);
      const bytes* before = s.data == both[1] ? &both[0] : nullptr;
      for (std::size_t bit = 0; bit < s.data.size() * 8; ++bit) {
        CAPTURE(bit);
        bytes flipped = s.data;
        flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
        const test::allocation_watch watch;
        const int good = read_all(flipped, node.announces(), before);
        const std::size_t largest = watch.largest();
        CHECK(good <= 1);
        // A frame of a few hundred bytes may claim a size. It can make the reader reserve no more than it
        // could unpack to, or the 4 MiB of a zstd frame that states its size.
        CHECK(largest <= max_message_bytes);
      }
    }
  }

  TEST_CASE("pointers that lead in circles, nowhere, or to one list again and again end soon") {
    const test::noisy_node node(5);
    // Cap'n Proto's encoding: a struct has data and pointers; an element of a list of structs is one, too.
    const auto to_list = [](std::int64_t offset, std::uint64_t size, std::uint64_t count) {
      return (static_cast<std::uint64_t>(offset) & 0x3fff'ffff) << 2 | 1u | size << 32 | count << 35;
    };
    constexpr std::uint64_t structs = 7, pointers = 6, single_bytes = 2;
    std::vector<std::pair<const char*, std::vector<std::uint64_t>>> all = {
        {"a far pointer to itself", {2}},
        {"a far pointer by way of itself", {6, 6, 6}},
        {"a far pointer to a segment that is not there", {2 | std::uint64_t{7} << 32}},
    };
    // Each pointer of the root leads to a list of one struct, each of whose pointers leads to that list.
    std::vector<std::uint64_t> circle(26, 0);
    circle[0] = std::uint64_t{4} << 32 | std::uint64_t{8} << 48;
    circle[13] = std::uint64_t{1} << 2 | circle[0];
    for (const std::int64_t first : {5, 18}) {
      for (std::int64_t at = first; at < first + 8; ++at)
        circle[static_cast<std::size_t>(at)] = to_list(13 - at - 1, structs, 12);
    }
    all.emplace_back("a circle", circle);
    // Of a catalog: its texts are one text of 400,000 bytes, 60,000 times.
    constexpr std::int64_t many = 60'000, words = 50'000;
    std::vector<std::uint64_t> again(6 + many + words, 0x6161'6161'6161'6161);
    std::fill_n(again.begin(), 6, 0);
    again[0] = std::uint64_t{1} << 32 | std::uint64_t{4} << 48;
    again[3] = to_list(2, pointers, many);
    for (std::int64_t at = 6; at < 6 + many; ++at)
      again[static_cast<std::size_t>(at)] = to_list(5 + many - at, single_bytes, 8 * words);
    again.back() &= 0x00ff'ffff'ffff'ffff;  // the text's end
    all.emplace_back("one text again and again", again);

    for (const auto& one : all) {
      CAPTURE(one.first);
      const auto& segment = one.second;
      for (unsigned kind = 1; kind <= 9; ++kind) {
        CAPTURE(kind);
        std::vector<std::uint64_t> message = {std::uint64_t{segment.size()} << 32};
        message.insert(message.end(), segment.begin(), segment.end());
        bytes data(frame_header_size + 8 * message.size());
        std::memcpy(data.data() + frame_header_size, message.data(), 8 * message.size());
        finish_frame(data, 0, static_cast<frame_kind>(kind), 0);
        const test::allocation_watch watch;
        CHECK(read_all(data, node.announces()) <= 1);
        CHECK(watch.largest() <= max_message_bytes);
        CHECK(watch.count() < 1'000);
      }
    }
  }

  TEST_CASE("random bytes behind a good header are an error or a clean value") {
    std::mt19937 random(11);
    const catalog known = test::plain_catalog(20, 2);
    for (int i = 0; i < 20'000; ++i) {
      CAPTURE(i);
      bytes data(frame_header_size + random() % 200);
      for (std::size_t k = frame_header_size; k < data.size(); ++k)
        data[k] = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 8);
      finish_frame(data, 0, static_cast<frame_kind>(1 + random() % 8),
                   static_cast<std::uint8_t>(random() % 2));
      CHECK(read_all(data, known) <= 1);
    }
  }
}
