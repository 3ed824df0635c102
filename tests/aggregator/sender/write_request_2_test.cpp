#include "aggregator/sender/write_request_2.hpp"

#include "aggregator/sender/write_request.hpp"

#include <doctest/doctest.h>

#include <protozero/pbf_reader.hpp>
#include <set>
#include <snappy.h>
#include <string>
#include <vector>

namespace binnacle::sender {
namespace write_request_2_test {

constexpr std::int64_t then = 1'700'000'000'123'456'789;

// The test reads requests back by the field numbers of prometheus' prompb/io/prometheus/write/v2/types.proto.
struct metadata {
  std::int32_t type = 0;
  std::string help, unit;
};
struct request {
  std::vector<std::string> symbols;
  std::vector<metadata> of_series;
};

request read(const std::string& body) {
  std::string plain;
  REQUIRE(snappy::Uncompress(body.data(), body.size(), &plain));
  request out;
  protozero::pbf_reader message(plain);
  while (message.next()) {
    if (message.tag() == 4) {
      out.symbols.push_back(message.get_string());
      continue;
    }
    REQUIRE(message.tag() == 5);
    protozero::pbf_reader series = message.get_message();
    REQUIRE(series.next(5));
    protozero::pbf_reader about = series.get_message();
    metadata& m = out.of_series.emplace_back();
    while (about.next()) {
      switch (about.tag()) {
        case 1: m.type = about.get_enum(); break;
        case 3: m.help = out.symbols.at(about.get_uint32()); break;
        case 4: m.unit = out.symbols.at(about.get_uint32()); break;
        default: FAIL("a field that the protocol has not");
      }
    }
  }
  return out;
}

store::shape::series named(std::string family, metrics::label_set labels, std::string help = {},
                           metrics::kind type = metrics::kind::gauge) {
  store::shape::series out;
  out.family = std::move(family);
  out.labels = std::move(labels);
  out.help = std::move(help);
  out.type = type;
  return out;
}

const auto watts = named("rapl_power_watts", {{"package", "0"}});
const auto more_watts = named("rapl_power_watts", {{"package", "1"}});
const auto joules =
    named("rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}, {}, metrics::kind::counter);
const auto theirs = named("queue_length", {{"node", "theirs"}, {"queue", "m\u00e4il"}}, "Letters that wait.");

}  // namespace write_request_2_test

TEST_SUITE("aggregator/sender/write_request_2") {
  using namespace write_request_2_test;

  TEST_CASE("a request says in 1.0 what it says in 2.0: the same labels, digits, times and ends") {
    const origin from{.cluster = "west", .replica = "two"};
    write_request_2 now(from);
    write_request before(from);
    const std::string a = "node-a", b = "node-b";
    for (encoder* one : {static_cast<encoder*>(&now), static_cast<encoder*>(&before)}) {
      one->add({a, watts, 71.5, {}}, then);
      one->add({a, joules, 123'456'789, {}}, then + 1'000'000);
      one->add({b, theirs, -3.25, {}}, then);
      one->add({b, more_watts, stale_marker(), {}}, then);
    }
    CHECK(now.samples() == 4);
    CHECK(as_version_1(now.take()) == before.take());
    CHECK(now.samples() == 0);
    now.add({b, watts, 1, {}}, then);
    before.add({b, watts, 1, {}}, then);
    CHECK(as_version_1(now.take()) == before.take());  // take() also starts a new request
  }

  TEST_CASE("a request is cut in half between two nodes, and each half can be read alone") {
    const origin from{.cluster = "west", .replica = ""};
    write_request_2 all(from);
    write_request first(from), second(from);
    const std::string a = "node-a", b = "node-b", c = "node-c";
    const auto add = [](encoder& to, const std::string& node) {
      to.add({node, watts, 71.5, {}}, then);
      to.add({node, theirs, -3.25, {}}, then);
    };
    for (const std::string* node : {&a, &b, &c}) add(all, *node);
    for (const std::string* node : {&a, &b}) add(first, *node);
    add(second, c);
    const halves cut = halves_of_version_2(all.take());
    CHECK(as_version_1(cut.first.body) == first.take());
    CHECK(as_version_1(cut.second.body) == second.take());
    CHECK(cut.first.nodes == 2);
    CHECK(cut.first.samples == 4);
    CHECK(cut.second.nodes == 1);
    CHECK(cut.second.samples == 2);
    CHECK(read(cut.second.body).of_series.at(1).help == "Letters that wait.");
  }

  TEST_CASE("each text stands once in a request, the empty one first") {
    write_request_2 r({.cluster = "", .replica = ""});
    for (const std::string node : {"node-a", "node-b", "node-c"}) {
      r.add({node, watts, 1, {}}, then);
      r.add({node, more_watts, 1, {}}, then);
    }
    const auto all = read(r.take());
    CHECK(all.symbols.front().empty());
    CHECK(std::set<std::string>(all.symbols.begin(), all.symbols.end()).size() == all.symbols.size());
    CHECK(all.of_series.size() == 6);
  }

  TEST_CASE("a series has its type, unit and meaning with it") {
    write_request_2 r({.cluster = "", .replica = ""});
    const std::string node = "node-a";
    r.add({node, joules, 1, {}}, then);
    r.add({node, theirs, 1, {}}, then);
    const auto all = read(r.take());
    REQUIRE(all.of_series.size() == 2);
    CHECK(all.of_series[0].type == 1);
    CHECK(all.of_series[0].unit == "joules");
    CHECK(all.of_series[0].help.starts_with("Energy used"));
    CHECK(all.of_series[1].type == 2);
    CHECK(all.of_series[1].unit.empty());
    CHECK(all.of_series[1].help == "Letters that wait.");
  }
}

}  // namespace binnacle::sender
