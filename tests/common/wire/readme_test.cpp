#include "tests/common/wire/support.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

using namespace binnacle;
using namespace binnacle::wire;

namespace {

/// "07 00 00 00 …", sixteen bytes per line, in the form of README.md.
std::string hex(std::span<const std::byte> data) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i != 0) out += i % 16 == 0 ? '\n' : ' ';
    out += digits[static_cast<unsigned>(data[i]) >> 4];
    out += digits[static_cast<unsigned>(data[i]) & 15];
  }
  return out;
}

}  // namespace

TEST_SUITE("common/wire/readme") {
  TEST_CASE("the worked example in README.md is what the encoder writes") {
    // Four series in one group, last sent as 1650, 23, 4200, 168999997654. In the new batch two have changed
    // and one is absent.
    catalog c = test::plain_catalog(4);
    batch_encoder encoder;
    encoder.reset(c);
    bytes out;
    batch b;
    b.full = true;
    b.sent_at_ns = 86'400'000'000'000;
    b.values = {{0, 1650}, {1, 23}, {2, 4200}, {3, 168'999'997'654}};
    REQUIRE(encoder.append(out, b).has_value());
    out.clear();
    b.full = false;
    b.sent_at_ns += 1'000'250'000;
    b.reads = {{0, b.sent_at_ns - 1'500'000}};
    b.values = {{0, 1647}, {3, 174'999'997'654}};
    b.absences = {{2, absence::gap}};
    REQUIRE(encoder.append(out, b).has_value());

    std::ifstream file(BINNACLE_WIRE_DIR "/README.md");
    const std::string readme{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string expected = hex(out);
    CAPTURE(expected);
    CHECK(readme.find("\n" + expected + "\n") != std::string::npos);
  }
}
