#include "aggregator/outliers/power_comparison.hpp"

#include "aggregator/node_warnings.hpp"
#include "common/async/task_group.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace power_comparison_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

/// Equal machines in the faces' view, compared again and again. An odd machine is named at the first
/// comparison.
struct fleet {
  std::string lines;
  logger log{"test", log_level::info, [this](std::string_view line) { (lines += line) += '\n'; }};
  async::loop loop{1};
  policy::view nodes;
  power_comparison power{nodes, log, 1ms, {.lasting = duration{}}};
  async::task_group tasks{loop, log};

  ~fleet() { tasks.cancel(); }

  void add(const std::string& name, std::optional<std::int64_t> tenths_of_watts, const char* source) {
    store::catalog_builder c;
    c.group("host", 3'600'000).series("host_power_watts", {{"source", source}}, -1);
    c.series("host_hardware_info",
             {{"cpu", "EPYC"}, {"sockets", "2"}, {"memory_gib", "512"}, {"accelerators", "0"}});
    auto row =
        std::make_shared<store::row>(std::make_shared<const store::shape>(store::make_shape(c, {})->what));
    if (tenths_of_watts) row->set_value(0, *tenths_of_watts);
    row->set_value(1, 1);
    row->set_read(0, boot_clock::now());
    row->set_last_batch(boot_clock::now());
    const auto* known = nodes.find(name);
    const auto id = known ? known->id : store::node_id{static_cast<std::uint32_t>(nodes.nodes().size())};
    store::node_update u{.id = id, .name = name};
    u.at = boot_clock::now();
    u.connected = true;
    u.cells = row;
    nodes.apply(u);
  }
  bool until(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + 60s;
    while (!done() && std::chrono::steady_clock::now() < limit) loop.run_for(10ms);
    return done();
  }
};

}  // namespace

TEST_SUITE("aggregator/power_comparison") {
  TEST_CASE("an odd node of the view gets its warning, in a fleet of several slices, and loses it again") {
    fleet f;
    for (int i = 0; i < 450; ++i) f.add("node-" + std::to_string(1000 + i), 2000 + i % 5, "dcmi");
    f.add("node-1300", 0, "dcmi");
    f.add("node-1449", 800, "rapl");
    const auto warning = [&f](const char* node) { return f.nodes.find(node)->warning; };
    f.tasks.spawn("comparing power", f.power.keep_looking());
    REQUIRE(f.until([&] { return !warning("node-1300").empty() && !warning("node-1449").empty(); }));
    CHECK(warning("node-1300").find("says 0.0 W, but 200.") != std::string::npos);
    CHECK(warning("node-1449").find("the processors (rapl)") != std::string::npos);
    CHECK(warning("node-1000").empty());
    CHECK(power_warnings(f.power.outliers().named()).size() == 2);  // as `binnacle status` has them
    const auto logged = [&f](const char* line) { return f.lines.find(line) != std::string::npos; };
    f.add("node-1300", std::nullopt, "dcmi");
    CHECK(f.until([&] { return warning("node-1300").empty(); }));
    CHECK_FALSE_MESSAGE(logged("no longer stands out"), f.lines);
    f.add("node-1300", 0, "dcmi");
    REQUIRE(f.until([&] { return !warning("node-1300").empty(); }));
    const auto first = f.lines.find("node node-1300: host_power_watts says");
    REQUIRE(first != std::string::npos);
    CHECK_MESSAGE(f.lines.find("node node-1300: host_power_watts says", first + 1) == std::string::npos,
                  "a sensor that drops out and comes back is in the log once in ten minutes");
    f.add("node-1300", 2010, "dcmi");
    f.add("node-1449", 2010, "dcmi");
    CHECK(f.until([&] { return warning("node-1300").empty() && warning("node-1449").empty(); }));
    CHECK_MESSAGE(logged("node node-1300: host_power_watts no longer stands out from that of similar nodes"),
                  f.lines);
  }
}

}  // namespace power_comparison_test
