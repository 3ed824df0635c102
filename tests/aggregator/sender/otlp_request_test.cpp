#include "aggregator/sender/otlp_request.hpp"

#include "common/system/read_file.hpp"
#include "tests/support/data.hpp"

#include <doctest/doctest.h>

#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>
#include <zlib.h>

namespace binnacle::sender {
namespace otlp_request_test {

constexpr std::int64_t then = 1'700'000'000'123'456'789;

std::string gunzip(const std::string& packed) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
  std::string out(1u << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  CHECK(stream.avail_in == 0);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

store::shape::series named(std::string family, metrics::label_set labels,
                           metrics::kind type = metrics::kind::gauge) {
  store::shape::series out;
  out.family = std::move(family);
  out.labels = std::move(labels);
  out.type = type;
  return out;
}

/// The messages of a repeated field.
std::vector<protozero::pbf_reader> all_of(protozero::pbf_reader in, protozero::pbf_tag_type field) {
  std::vector<protozero::pbf_reader> out;
  while (in.next(field)) out.push_back(in.get_message());
  return out;
}

/// The names of the metrics of each resource in a request.
std::vector<std::vector<std::string>> names_in(const std::string& request) {
  std::vector<std::vector<std::string>> out;
  for (const auto& resource : all_of(protozero::pbf_reader(request), 1)) {
    auto& names = out.emplace_back();
    for (const auto& scope : all_of(resource, 2)) {
      for (auto metric : all_of(scope, 2)) {
        REQUIRE(metric.next(1));
        names.push_back(metric.get_string());
      }
    }
  }
  return out;
}

}  // namespace otlp_request_test

TEST_SUITE("aggregator/sender/otlp_request") {
  using namespace otlp_request_test;

  TEST_CASE("the bytes are those that OpenTelemetry's own library writes") {
    otlp_request r({.cluster = "west", .replica = "two", .version = "1.2.3"});
    const std::string node = "node-a";
    const auto joules =
        named("rapl_energy_joules_total", {{"zone", "package"}, {"package", "0"}}, metrics::kind::counter);
    const auto one = named("rapl_power_watts", {{"package", "0"}});
    const auto other = named("rapl_power_watts", {{"package", "1"}});
    auto theirs = named("queue_length", {{"queue", "m\u00e4il"}});
    theirs.help = "Letters that wait.";
    const char* const uid = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";
    r.add({node, one, 71.5, {}, uid}, then);
    r.add({node, theirs, -3.25, {}, uid}, then);
    r.add({node, joules, 123'456'789, {}, uid}, then);
    r.add({node, other, stale_marker(), {}, uid}, then);
    CHECK(r.samples() == 4);
    CHECK(gunzip(r.take()) == read_file(support::data_folder() + "/otlp/request.bin", 1u << 16).value());
    CHECK(r.samples() == 0);
    CHECK(r.bytes() == 0);
  }

  TEST_CASE("each node is a resource of its own, and a request begins with nothing of the one before") {
    otlp_request r({.cluster = "", .replica = ""});
    const std::string a = "node-a", b = "node-b";
    const auto load = named("os_load1", {});
    const auto watts = named("host_power_watts", {{"source", "dcmi"}});
    r.add({a, load, 1, {}}, then);
    r.add({a, watts, 2, {}}, then);
    r.add({b, load, 3, {}}, then);
    const std::size_t before = r.bytes();
    r.add({b, watts, 3, {}}, then);
    CHECK(r.bytes() > before);
    const std::vector<std::string> names{"hw.host.power", "os_load1"};
    CHECK(names_in(gunzip(r.take())) == std::vector<std::vector<std::string>>{names, names});
    r.add({b, load, 4, {}}, then);
    CHECK(names_in(gunzip(r.take())) == std::vector<std::vector<std::string>>{{"os_load1"}});
  }

  TEST_CASE("a request is cut in half between two nodes") {
    const origin from{.cluster = "west", .replica = ""};
    const auto joules = named("rapl_energy_joules_total", {{"zone", "package"}}, metrics::kind::counter);
    const auto load = named("os_load1", {}), watts = named("rapl_power_watts", {{"package", "0"}});
    const auto written = [&](std::vector<std::string> nodes) {
      otlp_request r(from);
      for (const std::string& node : nodes) {
        r.add({node, joules, 123'456'789, {}}, then);
        r.add({node, load, 0.25, {}}, then);
        r.add({node, watts, 71.5, {}}, then);
        r.add({node, load, stale_marker(), {}}, then + 1);
      }
      return r.take();
    };
    const halves cut = halves_of_otlp(written({"node-a", "node-b", "node-c"}));
    CHECK(gunzip(cut.first.body) == gunzip(written({"node-a", "node-b"})));
    CHECK(gunzip(cut.second.body) == gunzip(written({"node-c"})));
    CHECK(cut.first.nodes == 2);
    CHECK(cut.first.samples == 8);
    CHECK(cut.second.nodes == 1);
    CHECK(cut.second.samples == 4);
  }

  TEST_CASE("a node with a new uid is a new resource") {
    otlp_request r({.cluster = "", .replica = ""});
    const std::string node = "node-a";
    const auto load = named("os_load1", {});
    r.add({node, load, stale_marker(), {}, "one"}, then);
    r.add({node, load, 1, {}, "two"}, then);
    CHECK(names_in(gunzip(r.take())).size() == 2);
  }
}

}  // namespace binnacle::sender
