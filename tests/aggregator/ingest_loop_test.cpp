#include "aggregator/ingest_loop.hpp"

#include "aggregator/core/core.hpp"
#include "aggregator/state/state_file.hpp"
#include "tests/support/net/pki.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <future>
#include <thread>

// The loop itself, between an API server's words and the other loop's ear.
namespace ingest_loop_test {

namespace {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

struct deaf final : faces_inbox {
  void take(faces_news) override {}
  void take(ingest_report) override {}
  void review(std::string, network, std::function<void(result<ingest::token_holder>)>) override {}
};

/// What a replica left behind that knew one node.
void leave_state(const std::string& path) {
  core before({.in_cluster = true}, std::make_shared<metrics::alias_table>(), [](const change&) {});
  REQUIRE(before.node("n1").has_value());
  core::draft d = before.begin_snapshot();
  while (!before.add_nodes(d, 8)) {
  }
  const clocks now = clocks_now();
  d.all.boot_id = now.boot_id;
  d.all.taken = now.boot;
  d.all.taken_wall = now.wall;
  std::ofstream file(path, std::ios::binary);
  encode(std::move(d.all), [&file](std::span<const std::byte> piece) {
    file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
  });
}

/// An ingest loop of a cluster whose API server has said nothing yet.
struct replica {
  replica() : loop(settings_here(), plan_descriptors(1'024, 10), policy::alias_file(""), faces, quiet) {
    const auto started = loop.start();
    REQUIRE_MESSAGE(started.has_value(), started.error().message);
    thread = std::thread([this] { loop.run(); });
  }
  ~replica() {
    loop.stop(0ms);
    thread.join();
  }

  settings settings_here() {
    const tls::files own = ca.issue_server();
    leave_state(dir / "state");
    settings s;
    s.address = "127.0.0.1";
    s.ingest_port = 0;
    s.cert = own.certificate;
    s.key = own.key;
    s.agents_ca = ca.certificate();
    s.kube_config = "in-cluster";
    s.state = dir / "state";
    return s;
  }

  struct answer {
    result<snapshot> state;
    std::shared_ptr<const void> held;
  };
  answer ask() {
    auto told = std::make_shared<std::promise<answer>>();
    loop.take_snapshot([told](result<snapshot> s, std::shared_ptr<const void> held) {
      told->set_value({std::move(s), std::move(held)});
    });
    auto future = told->get_future();
    REQUIRE(future.wait_for(1min) == std::future_status::ready);
    return future.get();
  }

  support::temp_folder dir;
  support::authority ca{dir, "ca"};
  deaf faces;
  logger quiet{"test", log_level::off};
  ingest_loop loop;
  std::thread thread;
};

TEST_SUITE("aggregator/ingest_loop") {
  TEST_CASE("a replica that has not read its policies gives its state to no other one") {
    replica r;
    const auto early = r.ask();
    REQUIRE(early.state.has_error());
    CHECK(early.state.error().message.find("has not read all policies yet") != std::string::npos);
    r.loop.take_policies({}, "", false);
    CHECK(r.ask().state.has_error());

    r.loop.take_policies({}, "", true);
    const auto whole = r.ask();
    REQUIRE(whole.state.has_value());
    REQUIRE(whole.state->nodes.size() == 1);
    CHECK(whole.state->nodes.front().name == "n1");
  }

  TEST_CASE("there is one snapshot at a time: who asks while one is on its way is told to try again") {
    replica r;
    r.loop.take_policies({}, "", true);
    auto first = r.ask();
    REQUIRE(first.state.has_value());
    const auto second = r.ask();
    REQUIRE(second.state.has_error());
    CHECK(second.state.error().message.find("try again") != std::string::npos);
    first.held.reset();
    CHECK(r.ask().state.has_value());
  }
}

}  // namespace

}  // namespace ingest_loop_test
