#include "aggregator/sender/write_request.hpp"

#include <doctest/doctest.h>

#include <protozero/pbf_reader.hpp>
#include <snappy.h>
#include <string>
#include <vector>

namespace binnacle::sender {
namespace write_request_test {

// The test reads requests back by the field numbers of prometheus' prompb/remote.proto and types.proto.
struct series {
  metrics::label_set labels;
  double value = 0;
  std::int64_t at_ms = 0;
};

std::vector<series> read(const std::string& body) {
  std::string plain;
  REQUIRE(snappy::Uncompress(body.data(), body.size(), &plain));
  std::vector<series> out;
  protozero::pbf_reader request(plain);
  while (request.next(1)) {
    series& one = out.emplace_back();
    protozero::pbf_reader message = request.get_message();
    while (message.next()) {
      const bool is_label = message.tag() == 1;
      protozero::pbf_reader part = message.get_message();
      if (is_label) {
        auto& [name, value] = one.labels.emplace_back();
        part.next(1);
        name = part.get_string();
        part.next(2);
        value = part.get_string();
      } else {
        part.next(1);
        one.value = part.get_double();
        part.next(2);
        one.at_ms = part.get_int64();
      }
    }
  }
  return out;
}

store::shape::series named(std::string family, metrics::label_set labels) {
  store::shape::series out;
  out.family = std::move(family);
  out.labels = std::move(labels);
  return out;
}

}  // namespace write_request_test

TEST_SUITE("aggregator/sender/write_request") {
  using namespace write_request_test;

  TEST_CASE("a series has its own labels, its node's and the outside ones, sorted by name") {
    write_request r({.cluster = "west", .replica = ""});
    const std::string node = "node-a";
    const auto watts = named("rapl_zone_power_watts", {{"zone", "dram"}, {"Upper", "x"}, {"package", "0"}});
    r.add({node, watts, 71.5, {}}, 1'700'000'000'123'999'999);
    CHECK(r.samples() == 1);
    const auto all = read(r.take());
    REQUIRE(all.size() == 1);
    CHECK(all[0].labels == metrics::label_set{{"Upper", "x"},
                                              {"__name__", "rapl_zone_power_watts"},
                                              {"cluster", "west"},
                                              {"node", "node-a"},
                                              {"package", "0"},
                                              {"zone", "dram"}});
    CHECK(all[0].value == 71.5);
    CHECK(all[0].at_ms == 1'700'000'000'123);
    CHECK(r.samples() == 0);
    CHECK(r.bytes() == 0);
  }

  TEST_CASE(
      "a label of an exporter's own that is called as one of ours is renamed: two of one name cost the "
      "request") {
    write_request r({.cluster = "west", .replica = ""});
    const std::string node = "node-a";
    const auto mine =
        named("queue_length", {{"node", "theirs"}, {"cluster", "theirs"}, {"__name__", "theirs"}});
    r.add({node, mine, 1, {}}, 1);
    const auto all = read(r.take());
    REQUIRE(all.size() == 1);
    CHECK(all[0].labels == metrics::label_set{{"__name__", "queue_length"},
                                              {"cluster", "west"},
                                              {"exported___name__", "theirs"},
                                              {"exported_cluster", "theirs"},
                                              {"exported_node", "theirs"},
                                              {"node", "node-a"}});
  }

  TEST_CASE("an empty label is left out: the protocol forbids it") {
    write_request r({.cluster = "", .replica = ""});
    const std::string node = "node-a";
    const auto jobs = named("jobs", {{"kind", ""}, {"queue", "mail"}});
    r.add({node, jobs, 1, {}}, 1);
    CHECK(read(r.take()).at(0).labels ==
          metrics::label_set{{"__name__", "jobs"}, {"node", "node-a"}, {"queue", "mail"}});
  }

  TEST_CASE("a request is cut in half between two nodes") {
    const origin from{.cluster = "west", .replica = ""};
    const auto watts = named("rapl_power_watts", {{"package", "0"}}), load = named("os_load1", {});
    const auto written = [&](std::vector<std::string> nodes) {
      write_request r(from);
      for (const std::string& node : nodes) {
        r.add({node, watts, 71.5, {}}, 1);
        r.add({node, load, 0.25, {}}, 2);
      }
      return r.take();
    };
    const halves three = halves_of_version_1(written({"node-a", "node-b", "node-c"}));
    CHECK(three.first.body == written({"node-a", "node-b"}));
    CHECK(three.first.nodes == 2);
    CHECK(three.first.samples == 4);
    CHECK(three.second.body == written({"node-c"}));
    CHECK(three.second.nodes == 1);
    CHECK(three.second.samples == 2);
    const halves one = halves_of_version_1(written({"node-a"}));
    CHECK(one.first.nodes == 1);
    CHECK(one.second.samples == 0);
  }

  TEST_CASE("the end of a series is Prometheus' own NaN, bit by bit") {
    write_request r({.cluster = "", .replica = ""});
    const std::string node = "node-a";
    const auto watts = named("rapl_power_watts", {});
    r.add({node, watts, stale_marker(), {}}, 1);
    CHECK(std::bit_cast<std::uint64_t>(read(r.take()).at(0).value) == 0x7ff0000000000002);
  }
}

}  // namespace binnacle::sender
