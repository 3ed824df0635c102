#include "common/wire/codec/codec.hpp"

#include "common/wire/codec/catalog_codec.hpp"
#include "common/wire/codec/payload.hpp"
#include "common/wire/names.hpp"
#include "common/wire/telemetry.capnp.h"
#include "tests/common/wire/support.hpp"

#include <zstd.h>

using namespace binnacle;
using namespace binnacle::wire;

namespace {

/// Encodes a message with append() and decodes it again.
template <class Message>
Message over_the_wire(const Message& m) {
  bytes out;
  const auto sent = append(out, m);
  CAPTURE((sent.has_error() ? sent.error().text() : ""));
  REQUIRE(sent.has_value());
  auto got = test::decode_bytes(out);
  CAPTURE((got.has_error() ? got.error().text() : ""));
  REQUIRE(got.has_value());
  REQUIRE(std::holds_alternative<Message>(*got));
  return std::get<Message>(std::move(*got));
}

/// The fault that decode() finds in a frame around `payload`.
reason refusal(frame_kind kind, std::uint8_t flags, const bytes& payload) {
  bytes out(frame_header_size + payload.size());
  std::copy(payload.begin(), payload.end(), out.begin() + frame_header_size);
  finish_frame(out, 0, kind, flags);
  const auto got = test::decode_bytes(out);
  REQUIRE(got.has_error());
  return got.error().why;
}

template <class Root, class Fill>
outcome<message> decode_built(frame_kind kind, Fill fill) {
  bytes out;
  REQUIRE(detail::append_root<Root>(out, kind, fill).has_value());
  return test::decode_bytes(out);
}

}  // namespace

TEST_SUITE("common/wire/codec") {
  TEST_CASE("every message comes over as it was sent") {
    hello h = test::plain_hello();
    h.cluster = "north";
    h.credential = "eyJhbGciOi";
    h.process = 0xfeed'0000'0000'0001;
    const hello h2 = over_the_wire(h);
    CHECK(std::tie(h2.protocol_major, h2.protocol_minor, h2.agent_version, h2.cluster, h2.node, h2.boot_id,
                   h2.credential, h2.process) == std::tie(h.protocol_major, h.protocol_minor, h.agent_version,
                                                          h.cluster, h.node, h.boot_id, h.credential,
                                                          h.process));

    const welcome w = over_the_wire(welcome{1, 3, "replica-1", 2, 3'000});
    CHECK(w.protocol_minor == 3);
    CHECK(w.replica_id == "replica-1");
    CHECK(w.replicas == 2);
    CHECK(w.reauthenticate_after_s == 3'000);

    const refused r = over_the_wire(refused{"overloaded: later", 500});
    CHECK(r.reason == "overloaded: later");
    CHECK(r.retry_after_ms == 500);
    CHECK(over_the_wire(goodbye{"shutting_down"}).reason == "shutting_down");
    const clock_reading c = over_the_wire(clock_reading{86'400'000'000, 3'600'000'001});
    CHECK(c.aggregator_us == 86'400'000'000);
    CHECK(c.agent_us == 3'600'000'001);

    const std::vector<source_status> s = {{"rapl", false, "energy_uj is root-only: give CAP_DAC_READ_SEARCH"},
                                          {"os", true, ""}};
    CHECK(over_the_wire(s) == s);

    const interest i = over_the_wire(interest{{{"rapl_power_watts", 200}, {"os_load1", 1'000}}});
    REQUIRE(i.wishes.size() == 2);
    CHECK(i.wishes[0].family == "rapl_power_watts");
    CHECK(i.wishes[0].period_ms == 200);
  }

  TEST_CASE("a catalog comes over with its labels, kinds, exponents and helps") {
    catalog c;
    c.version = 9;
    c.groups = {{"rapl", "", 200, 10'000}, {"textfile", "demo.prom", 15'000, 45'000}};
    c.series = {
        {"rapl_power_watts", {{"package", "0"}}, -1, metrics::kind::gauge, 0, ""},
        {"rapl_power_watts", {{"package", "1"}}, -1, metrics::kind::gauge, 0, ""},
        {"rapl_energy_joules_total", {{"zone", "dram"}, {"package", "0"}}, 0, metrics::kind::counter, 0, ""},
        {"node_health_metric", {}, 18, metrics::kind::gauge, 1, "What the demo writes"},
        {"node_health_metric",
         {{"package", ""}, {"grüße", "x"}},
         -18,
         metrics::kind::gauge,
         1,
         "Another help"},
    };
    c.series.back().labels[1] = {"text", "grüße \"quoted\"\n"};
    const catalog got = over_the_wire(c);
    CHECK(got.version == 9);
    CHECK(got.groups == c.groups);
    CHECK(got.series == c.series);
  }

  TEST_CASE("the largest catalog comes over") {
    const catalog c = test::plain_catalog(max_series, max_groups);
    const catalog got = over_the_wire(c);
    CHECK(got.series == c.series);
    CHECK(got.groups == c.groups);
  }

  TEST_CASE("a wrong catalog is refused at home by name; on arrival a wrong series costs only itself") {
    catalog c = test::plain_catalog(3);
    reason expected = reason::bad_catalogue;
    SUBCASE("a million series") {
      c.series.resize(1'000'000, c.series[0]), expected = reason::catalogue_too_large;
    }
    SUBCASE("one series too many") {
      c.series.resize(max_series + 1, c.series[0]), expected = reason::catalogue_too_large;
    }
    SUBCASE("one group too many") {
      c.groups.resize(max_groups + 1, c.groups[0]), expected = reason::catalogue_too_large;
    }
    SUBCASE("one label too many") {
      c.series[1].labels.resize(max_labels + 1, {"a", "b"}), expected = reason::catalogue_too_large;
    }
    SUBCASE("a group out of range") { c.series[1].group = 1; }
    SUBCASE("an exponent out of range") { c.series[1].exponent = 19; }
    SUBCASE("an exponent out of range below") { c.series[1].exponent = -19; }
    SUBCASE("an empty family") { c.series[1].family.clear(); }
    SUBCASE("a family that is not a name") { c.series[1].family = "watts per rack"; }
    SUBCASE("a family too long") { c.series[1].family.assign(max_name + 1, 'a'); }
    SUBCASE("a label name that is none") { c.series[1].labels[0].first = "a:b"; }
    SUBCASE("a label value too long") { c.series[1].labels[0].second.assign(max_text + 1, 'a'); }
    SUBCASE("a label value that is not UTF-8") { c.series[1].labels[0].second = "\xff"; }
    SUBCASE("a group without source") { c.groups[0].source.clear(); }
    SUBCASE("a period of zero") { c.groups[0].period_ms = 0; }
    bytes out;
    const auto sent = append(out, c);
    REQUIRE(sent.has_error());
    CHECK(sent.error().why == expected);
    CHECK(out.empty());

    // The same catalog from a writer that does not check. What does not fit into a frame cannot arrive, so
    // it is not tried.
    if (c.series.size() > max_series + 1) return;
    bytes unchecked;
    REQUIRE(detail::append_root<schema::Catalog>(unchecked, frame_kind::catalog,
                                                 [&](schema::Catalog::Builder to) { detail::fill(to, c); })
                .has_value());
    omissions left_out;
    const auto got = test::decode_bytes(unchecked, left_out);
    if (c.series.size() > max_series || c.groups.size() > max_groups) {
      REQUIRE(got.has_error());
      CHECK(got.error().why == expected);
      return;
    }
    REQUIRE(got.has_value());
    const auto& arrived = std::get<catalog>(*got);
    CHECK(left_out.last.why == expected);
    REQUIRE(arrived.series.size() == 3);
    CHECK(arrived.series[1] == series_info{});
    // If a group is left out, its series are left out, too.
    const bool group = left_out.items > 1;
    CHECK(left_out.items == (group ? 4 : 1));
    CHECK(arrived.series[0] == (group ? series_info{} : c.series[0]));
    CHECK(arrived.series[2] == (group ? series_info{} : c.series[2]));
  }

  TEST_CASE("a help too long is cut between characters, not refused") {
    catalog c = test::plain_catalog(1);
    c.series[0].help = std::string(max_text - 1, 'a') + "é";
    CHECK(over_the_wire(c).series[0].help == std::string(max_text - 1, 'a'));
  }

  TEST_CASE("a series whose indices point nowhere costs only itself") {
    const auto with = [](auto fill) {
      bytes out;
      REQUIRE(
          detail::append_root<schema::Catalog>(out, frame_kind::catalog, [&](schema::Catalog::Builder to) {
            to.initGroups(1)[0].setSource("s");
            to.initFamilies(1)[0].setName("f");
            to.initTexts(1).set(0, "t");
            auto series = to.initSeries(2);
            fill(series[0]);
          }).has_value());
      omissions left_out;
      const auto got = test::decode_bytes(out, left_out);
      REQUIRE(got.has_value());
      const auto& c = std::get<catalog>(*got);
      REQUIRE(c.series.size() == 2);
      CHECK(c.series[0].family.empty() == (left_out.items == 1));
      CHECK(c.series[1].family == "f");
      return left_out.last.why;
    };
    CHECK(with([](schema::Series::Builder) {}) == reason::none);
    CHECK(with([](schema::Series::Builder s) { s.setFamily(1); }) == reason::bad_catalogue);
    CHECK(with([](schema::Series::Builder s) { s.setGroup(1); }) == reason::bad_catalogue);
    CHECK(with([](schema::Series::Builder s) { s.initLabels(2).set(1, 1); }) == reason::bad_catalogue);
    CHECK(with([](schema::Series::Builder s) { s.initLabels(1); }) == reason::catalogue_too_large);
    CHECK(with([](schema::Series::Builder s) { s.setKind(static_cast<schema::Kind>(77)); }) == reason::none);
  }

  TEST_CASE("a small message that points to one long text from everywhere is refused") {
    const auto got = decode_built<schema::Catalog>(frame_kind::catalog, [&](schema::Catalog::Builder to) {
      to.initGroups(1)[0].setSource("s");
      to.initFamilies(1)[0].setName("f");
      to.initTexts(1).set(0, std::string(1'000, 'x'));
      auto series = to.initSeries(20'000);
      for (auto s : series) s.initLabels(20);
    });
    REQUIRE(got.has_error());
    CHECK(got.error().why == reason::catalogue_too_large);
  }

  TEST_CASE("a hello that names nobody is refused") {
    hello h = test::plain_hello();
    SUBCASE("no node") { h.node.clear(); }
    SUBCASE("a node with a blank") { h.node = "node 1"; }
    SUBCASE("a node with a line end") { h.node = "node\n"; }
    SUBCASE("a node too long") { h.node.assign(254, 'n'); }
    SUBCASE("no boot id") { h.boot_id.clear(); }
    SUBCASE("a boot id that is not UTF-8") { h.boot_id = "\xc0\x80"; }
    SUBCASE("a credential too large") { h.credential.assign(max_credential + 1, 'c'); }
    SUBCASE("a cluster too long") { h.cluster.assign(max_name + 1, 'c'); }
    bytes out;
    CHECK(append(out, h).error().why == reason::bad_hello);
    const auto got = decode_built<schema::Hello>(frame_kind::hello, [&](schema::Hello::Builder to) {
      to.setNode(h.node);
      to.setBootId(h.boot_id);
      to.setCluster(h.cluster);
      to.setCredential(h.credential);
    });
    REQUIRE(got.has_error());
    CHECK(got.error().why == reason::bad_hello);
    CHECK(got.error().message.find("cccc") == std::string::npos);
  }

  TEST_CASE("texts for people are cut and cleaned") {
    CHECK(over_the_wire(refused{std::string(5'000, 'r'), 0}).reason.size() == max_text);
    CHECK(over_the_wire(goodbye{"\xff"}).reason == "(not UTF-8)");
    CHECK(over_the_wire(goodbye{"a\x1b[2Jb\nü\xc2\x9b"}).reason == "a?[2Jb?ü?");
    const std::vector<source_status> many(max_statuses + 10, source_status{"s", true, ""});
    CHECK(over_the_wire(many).size() == max_statuses);
  }

  TEST_CASE("of a list longer than allowed a reader takes the beginning, and a writer sends none") {
    bytes statuses;
    REQUIRE(
        detail::append_root<schema::StatusReport>(
            statuses, frame_kind::status,
            [](schema::StatusReport::Builder to) { to.initSources(static_cast<unsigned>(max_statuses) + 1); })
            .has_value());
    omissions left_out;
    const auto got = test::decode_bytes(statuses, left_out);
    REQUIRE(got.has_value());
    CHECK(std::get<std::vector<source_status>>(*got).size() == max_statuses);
    CHECK(left_out.items == 1);
    bytes out;
    CHECK(
        append(out, interest{std::vector<interest::wish>(max_wishes + 1, {"os_load1", 1000})}).error().why ==
        reason::oversized);
  }

  TEST_CASE("a wish for what is not a metric name costs that wish") {
    const interest mixed{{{"os_load1", 200}, {"cpu-x", 1000}, {"9lives", 1000}, {"up", 1000}}};
    // A writer leaves such wishes out.
    const interest sent = over_the_wire(mixed);
    REQUIRE(sent.wishes.size() == 2);
    CHECK(sent.wishes[1].family == "up");
    // A reader does so, too, if the writer did not.
    bytes out;
    const auto fill = [&](schema::Interest::Builder to) {
      auto wishes = to.initWishes(static_cast<unsigned>(mixed.wishes.size()));
      for (unsigned i = 0; i < wishes.size(); ++i) wishes[i].setFamily(mixed.wishes[i].family);
    };
    REQUIRE(detail::append_root<schema::Interest>(out, frame_kind::interest, fill).has_value());
    omissions left_out;
    const auto got = test::decode_bytes(out, left_out);
    REQUIRE(got.has_value());
    REQUIRE(std::get<interest>(*got).wishes.size() == 2);
    CHECK(std::get<interest>(*got).wishes[0].family == "os_load1");
    CHECK(std::get<interest>(*got).wishes[1].family == "up");
    CHECK(left_out.items == 2);
    CHECK(left_out.last.message == "a wish for \"9lives\", which is not a metric name");
  }

  TEST_CASE("of an interest with too many wishes the first 1,024 count") {
    bytes out;
    const auto fill = [&](schema::Interest::Builder to) {
      auto wishes = to.initWishes(static_cast<unsigned>(max_wishes) + 7);
      for (auto w : wishes) w.setFamily("up");
    };
    REQUIRE(detail::append_root<schema::Interest>(out, frame_kind::interest, fill).has_value());
    omissions left_out;
    const auto got = test::decode_bytes(out, left_out);
    REQUIRE(got.has_value());
    CHECK(std::get<interest>(*got).wishes.size() == max_wishes);
    CHECK(left_out.items == 7);
  }

  TEST_CASE("what unpacks to more than 4 MiB is refused before memory is taken for it") {
    SUBCASE("a zstd frame of zeros") {
      const bytes zeros(max_message_bytes + 8);
      bytes bomb(ZSTD_compressBound(zeros.size()));
      bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
      CHECK(refusal(frame_kind::catalog, flag_zstd, bomb) == reason::oversized);
    }
    SUBCASE("a zstd frame that does not say how large it is") {
      const bytes zeros(1'000);
      bytes bomb(2'000);
      ZSTD_CCtx* context = ZSTD_createCCtx();
      ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
      bomb.resize(ZSTD_compress2(context, bomb.data(), bomb.size(), zeros.data(), zeros.size()));
      ZSTD_freeCCtx(context);
      CHECK(refusal(frame_kind::catalog, flag_zstd, bomb) == reason::oversized);
    }
    SUBCASE("packed runs of zeros") {
      bytes bomb;
      for (int i = 0; i < 100'000; ++i)
        bomb.insert(bomb.end(), {std::byte{0}, std::byte{255}});  // 2 bytes that unpack to 256 words
      CHECK(refusal(frame_kind::catalog, flag_packed, bomb) == reason::oversized);
    }
    SUBCASE("packed runs of zeros inside zstd") {
      bytes runs;
      for (int i = 0; i < 100'000; ++i) runs.insert(runs.end(), {std::byte{0}, std::byte{255}});
      bytes bomb(ZSTD_compressBound(runs.size()));
      bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), runs.data(), runs.size(), 1));
      CHECK(refusal(frame_kind::catalog, flag_zstd | flag_packed, bomb) == reason::oversized);
    }
  }

  TEST_CASE("payloads that are no messages are refused") {
    for (const auto kind :
         {frame_kind::hello, frame_kind::welcome, frame_kind::catalog, frame_kind::goodbye}) {
      CHECK(refusal(kind, flag_packed, {}) == reason::bad_message);
      CHECK(refusal(kind, 0, {}) == reason::bad_message);
      CHECK(refusal(kind, flag_zstd, {}) == reason::bad_message);
      CHECK(refusal(kind, 0, bytes(7)) == reason::bad_message);
      CHECK(refusal(kind, 0, bytes(64, std::byte{0xff})) == reason::bad_message);
      CHECK(refusal(kind, flag_packed, bytes(64, std::byte{0xff})) == reason::bad_message);
    }
    CHECK(refusal(frame_kind::batch, 0, {}) == reason::unexpected_message);
    CHECK(refusal(static_cast<frame_kind>(200), 0, {}) == reason::unexpected_message);
  }

  TEST_CASE("a text is UTF-8 without NUL") {
    CHECK(valid_utf8(""));
    CHECK(valid_utf8("é"));
    CHECK_FALSE(valid_utf8("a\xff"));
    CHECK_FALSE(valid_utf8(std::string_view("\0", 1)));
  }

  TEST_CASE("every reason has a name that leads back to it") {
    for (std::size_t i = 1; i < reason_count; ++i) {
      const auto r = static_cast<reason>(i);
      CAPTURE(to_string(r));
      CHECK(reason_of(fault{r, "why: so"}.text()) == r);
    }
    CHECK(reason_of("never heard of it") == reason::closed_by_peer);
    CHECK(to_error({reason::idle, "nothing came for 30s"}).message == "idle: nothing came for 30s");
    CHECK(to_error({reason::idle, ""}).code == errc::timeout);
    CHECK(to_error({reason::sequence_gap, ""}).code == errc::protocol);
  }
}
