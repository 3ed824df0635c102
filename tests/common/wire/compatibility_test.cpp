#include "common/wire/codec/payload.hpp"
#include "common/wire/telemetry.capnp.h"
#include "tests/common/wire/support.hpp"
#include "tests/common/wire/telemetry_next.capnp.h"

#include <capnp/schema.h>

#include <fstream>
#include <set>

using namespace binnacle;
using namespace binnacle::wire;
using namespace std::chrono_literals;
using aggregator_event = aggregator_session::event;
using agent_event = agent_session::event;

namespace {

template <class Root, class Fill>
bytes built(frame_kind kind, Fill fill) {
  bytes out;
  REQUIRE(detail::append_root<Root>(out, kind, fill).has_value());
  return out;
}

bytes next_hello() {
  return built<next::Hello>(frame_kind::hello, [](next::Hello::Builder to) {
    to.setProtocolMajor(protocol_major);
    to.setProtocolMinor(protocol_minor + 1);
    to.setNode("node-1");
    to.setBootId("boot");
    to.setRegion("north");
    to.setFeatures(~std::uint64_t{0});
    to.initAliases(3).set(0, "n1");
  });
}

bytes next_catalog() {
  return built<next::Catalog>(frame_kind::catalog, [](next::Catalog::Builder to) {
    to.setVersion(4);
    auto group = to.initGroups(1)[0];
    group.setSource("rapl");
    group.setPriority(9);
    auto family = to.initFamilies(1)[0];
    family.setName("rapl_power_watts");
    family.setUnit("watts");
    to.initTexts(2).set(0, "package");
    auto series = to.initSeries(2);
    for (auto s : series) {
      s.setExponent(-1);
      s.initExemplars(2);
      s.setFlags(7);
      s.initLabels(2).set(1, 1);
    }
    series[1].setKind(next::Kind::HISTOGRAM);
    to.initHistograms(1);
  });
}

bytes next_batch() {
  return built<next::Batch>(frame_kind::batch, [](next::Batch::Builder to) {
    to.setSequence(1);
    to.setSentAtUs(1'000'000);
    to.setCatalogVersion(4);
    to.setFull(true);
    to.initDeltas(1).set(0, 84);
    to.initChanged(1)[0] = 1;
    to.initAbsentSeries(1).set(0, 1);
    to.initAbsentReasons(1).set(0, next::Absence::QUARANTINED);
    to.setUrgent(true);
    to.setTraceId("4bf92f35");
  });
}

/// Reads the first frame in `data` by the next version's schema, and returns what `use` makes of its root
/// struct.
template <class Root, class Use>
void read_as_next(const bytes& data, Use use) {
  frame_reader reader;
  reader.feed(data);
  scratch space;
  const auto done =
      detail::with_root<Root>(test::first(reader), space, [&](typename Root::Reader in) -> outcome<void> {
        use(in);
        return {};
      });
  REQUIRE(done.has_value());
}

std::string type_name(capnp::schema::Type::Reader type) {
  switch (type.which()) {
    case capnp::schema::Type::BOOL: return "Bool";
    case capnp::schema::Type::INT8: return "Int8";
    case capnp::schema::Type::INT64: return "Int64";
    case capnp::schema::Type::UINT8: return "UInt8";
    case capnp::schema::Type::UINT16: return "UInt16";
    case capnp::schema::Type::UINT32: return "UInt32";
    case capnp::schema::Type::UINT64: return "UInt64";
    case capnp::schema::Type::TEXT: return "Text";
    case capnp::schema::Type::DATA: return "Data";
    case capnp::schema::Type::ENUM: return "enum";
    case capnp::schema::Type::STRUCT: return "struct";
    case capnp::schema::Type::LIST: return "List(" + type_name(type.getList().getElementType()) + ")";
    default: return "type " + std::to_string(static_cast<int>(type.which()));
  }
}

std::string default_value(capnp::schema::Value::Reader value) {
  std::uint64_t n = 0;
  if (value.isBool()) n = value.getBool() ? 1 : 0;
  if (value.isUint16()) n = value.getUint16();
  if (value.isUint32()) n = value.getUint32();
  if (value.isUint64()) n = value.getUint64();
  return n == 0 ? std::string() : " = " + std::to_string(n);
}

/// "Hello.node @4 :Text" for every field and enumerant that can be reached from `from`.
void describe(capnp::Schema from, std::set<std::string>& lines) {
  const auto node = from.getProto();
  const std::string full = node.getDisplayName();
  const std::string name = full.substr(full.rfind(':') + 1);
  if (node.isEnum()) {
    for (const auto e : from.asEnum().getEnumerants())
      lines.insert(name + "." + e.getProto().getName().cStr() + " @" + std::to_string(e.getOrdinal()));
    return;
  }
  for (const auto field : from.asStruct().getFields()) {
    const auto proto = field.getProto();
    const auto slot = proto.getSlot();
    lines.insert(name + "." + proto.getName().cStr() + " @" +
                 std::to_string(proto.getOrdinal().getExplicit()) + " :" + type_name(slot.getType()) +
                 default_value(slot.getDefaultValue()));
    auto type = field.getType();
    while (type.isList()) type = type.asList().getElementType();
    if (type.isStruct()) describe(type.asStruct(), lines);
    if (type.isEnum()) describe(type.asEnum(), lines);
  }
}

}  // namespace

TEST_SUITE("common/wire/compatibility") {
  TEST_CASE("an agent of the next minor version streams to this aggregator") {
    aggregator_session aggregator(aggregator_session::settings{}, test::start);
    aggregator.feed(next_hello());
    REQUIRE(aggregator.next(test::start) == aggregator_event::hello);
    CHECK(aggregator.greeting().node == "node-1");
    CHECK(aggregator.greeting().protocol_minor == protocol_minor + 1);
    aggregator.accept({}, test::start);

    // First a frame of a kind that does not exist yet, then one of a known kind.
    bytes unknown;
    REQUIRE(
        detail::append_root<next::Budget>(unknown, static_cast<frame_kind>(78), [](next::Budget::Builder to) {
          to.setJoules(5);
        }).has_value());
    aggregator.feed(unknown);
    CHECK(aggregator.next(test::start) == aggregator_event::nothing);
    CHECK(aggregator.counters().unknown_kinds == 1);

    aggregator.feed(next_catalog());
    REQUIRE(aggregator.next(test::start) == aggregator_event::catalog);
    const catalog c = aggregator.open_catalog(test::start);
    REQUIRE(c.series.size() == 2);
    CHECK(c.series[0].family == "rapl_power_watts");
    CHECK(c.series[0].exponent == -1);
    CHECK(c.series[1].type == metrics::kind::gauge);
    CHECK(c.groups.at(0).period_ms == 1'000);

    aggregator.feed(next_batch());
    REQUIRE(aggregator.next(test::start) == aggregator_event::batch);
    CHECK(aggregator.last_batch().values == std::vector<series_value>{{0, 42}});
    CHECK(aggregator.last_batch().absences == std::vector<series_absence>{{1, absence::other}});
  }

  TEST_CASE("an aggregator of the next minor version is understood by this agent") {
    agent_session agent(agent_session::settings{});
    REQUIRE(agent.start(test::plain_hello(), test::start).has_value());
    agent.feed(built<next::Welcome>(frame_kind::welcome, [](next::Welcome::Builder to) {
      to.setProtocolMajor(protocol_major);
      to.setProtocolMinor(protocol_minor + 1);
      to.setReplicaId("replica-1");
      to.setCreditBytes(1);
    }));
    bytes unknown;
    REQUIRE(
        detail::append_root<next::Budget>(unknown, static_cast<frame_kind>(77), [](next::Budget::Builder) {
        }).has_value());
    agent.feed(unknown);
    CHECK(agent.next(test::start) == agent_event::welcomed);
    CHECK(agent.next(test::start) == agent_event::nothing);
    CHECK(agent.greeting().replica_id == "replica-1");
    CHECK(agent.greeting().replicas == 1);
    CHECK(agent.counters().unknown_kinds == 1);
  }

  TEST_CASE("a reader of the next minor version understands what we write") {
    bytes out;
    REQUIRE(append(out, test::plain_hello()).has_value());
    read_as_next<next::Hello>(out, [](next::Hello::Reader in) {
      CHECK(std::string(in.getNode().cStr()) == "node-1");
      CHECK(std::string(in.getRegion().cStr()) == "nowhere");
      CHECK(in.getFeatures() == 0);
    });
    out.clear();
    REQUIRE(append(out, test::plain_catalog(3)).has_value());
    read_as_next<next::Catalog>(out, [](next::Catalog::Reader in) {
      REQUIRE(in.getSeries().size() == 3);
      CHECK(in.getSeries()[2].getExponent() == -1);
      CHECK(in.getSeries()[2].getFlags() == 0);
      CHECK(in.getGroups()[0].getPriority() == 3);
    });
    out.clear();
    batch_encoder encoder;
    encoder.reset(test::plain_catalog(1));
    batch b;
    b.full = true;
    b.values = {{0, -3}};
    REQUIRE(encoder.append(out, b).has_value());
    read_as_next<next::Batch>(out, [](next::Batch::Reader in) {
      CHECK(in.getDeltas()[0] == 5);
      CHECK_FALSE(in.getUrgent());
    });
  }

  TEST_CASE("no ordinal, type or default of the schema has changed") {
    std::set<std::string> now;
    for (const capnp::Schema root : {capnp::Schema(capnp::Schema::from<schema::Hello>()),
                                     capnp::Schema(capnp::Schema::from<schema::Welcome>()),
                                     capnp::Schema(capnp::Schema::from<schema::Refused>()),
                                     capnp::Schema(capnp::Schema::from<schema::Catalog>()),
                                     capnp::Schema(capnp::Schema::from<schema::Batch>()),
                                     capnp::Schema(capnp::Schema::from<schema::StatusReport>()),
                                     capnp::Schema(capnp::Schema::from<schema::Interest>()),
                                     capnp::Schema(capnp::Schema::from<schema::Goodbye>()),
                                     capnp::Schema(capnp::Schema::from<schema::Clock>())})
      describe(root, now);

    std::set<std::string> kept;
    std::ifstream file(BINNACLE_WIRE_DIR "/telemetry.ordinals");
    REQUIRE(file.good());
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line[0] != '#') kept.insert(line);

    for (const std::string& line : kept) {
      INFO(
          "a field of a released schema was changed or removed; rename it obsoleteX and add a new one "
          "instead: ",
          line);
      CHECK(now.count(line) == 1);
    }
    for (const std::string& line : now) {
      INFO("a new field: add this line to telemetry.ordinals: ", line);
      CHECK(kept.count(line) == 1);
    }
  }
}
