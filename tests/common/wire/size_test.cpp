#include "tests/common/wire/noisy_node.hpp"
#include "tests/common/wire/support.hpp"

using namespace binnacle;
using namespace binnacle::wire;

namespace {

// A TLS 1.3 record around a frame: header, content type, AEAD tag. Source: RFC 8446 5.2.
constexpr std::size_t tls_record = 5 + 1 + 16;

}  // namespace

TEST_SUITE("common/wire/size") {
  TEST_CASE("a sample of a 40-series node at 1 Hz costs less than 5 bytes of TLS payload") {
    test::noisy_node node(7);
    const std::size_t series = node.announces().series.size();
    REQUIRE(series == 40);
    batch_encoder encoder;
    encoder.reset(node.announces());

    constexpr int seconds = 600;
    std::size_t total = 0, largest = 0;
    std::int64_t at = 90'061'000'000'000;  // a day and an hour of uptime
    for (int i = 0; i <= seconds; ++i) {
      at += 1'000'000'000 + (i % 7) * 11'000;
      bytes out;
      batch b = node.tick(at, i == 0);
      REQUIRE(encoder.append(out, b).has_value());
      if (i == 0) {
        MESSAGE("full batch: ", out.size(), " bytes");
        continue;
      }
      total += out.size() + tls_record;
      largest = std::max(largest, out.size() + tls_record);
    }
    const double per_batch = static_cast<double>(total) / seconds;
    MESSAGE("all 40 changed: ", per_batch, " bytes a batch with its TLS record, ", per_batch / 40,
            " a sample; largest batch ", largest);
    CHECK(per_batch / 40 <= 4.2);
    CHECK(largest <= 200);
  }

  TEST_CASE("the catalog of that node fits a few kilobytes") {
    bytes out;
    REQUIRE(append(out, test::noisy_node(7).announces()).has_value());
    MESSAGE("catalog of 40 series: ", out.size(), " bytes");
    CHECK(out.size() < 2'000);
  }
}
