#include "aggregator/ingest_loop.hpp"

#include "aggregator/core/core.hpp"
#include "aggregator/ingest_report.hpp"
#include "aggregator/policy/text/policy_set.hpp"
#include "aggregator/snapshot/snapshot.hpp"
#include "aggregator/state/state_file.hpp"
#include "tests/support/net/pki.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

// The ingest loop itself, with input from an API server and output to the faces loop.
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

/// Writes the state file of a replica that knew one node. With `texts` the replica was not in a cluster and
/// had these policies.
void leave_state(const std::string& path, const policy::policy_set* texts = nullptr) {
  core before({.in_cluster = texts == nullptr}, std::make_shared<metrics::alias_table>(),
              [](const change&) {});
  REQUIRE(before.node("n1").has_value());
  if (texts != nullptr)
    before.policies({texts->policies(), texts->wrong_ones(), true, texts->sources()}, boot_clock::now());
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

/// Records which policies are in force.
struct listening final : faces_inbox {
  void take(faces_news news) override {
    const auto* published = std::get_if<policies_published>(&news);
    if (published == nullptr) return;
    const std::lock_guard lock(guard);
    table = published->table;
    came.notify_all();
  }
  void take(ingest_report report) override {
    const std::lock_guard lock(guard);
    problems = std::move(report.problems);
    came.notify_all();
  }
  void review(std::string, network, std::function<void(result<ingest::token_holder>)>) override {}
  template <class Condition>
  bool wait(Condition is) {
    std::unique_lock lock(guard);
    return came.wait_for(lock, 1min, is);
  }
  std::mutex guard;
  std::condition_variable came;
  std::shared_ptr<const policy::policy_table> table;
  std::vector<policy::problem> problems;
};

/// Another replica, which accepts a connection, waits for a while and closes it without an answer.
struct thinking_peer {
  thinking_peer() {
    thread = std::thread([this] {
      boost::asio::ip::tcp::socket with(loop);
      boost::system::error_code ended;
      door.accept(with, ended);
      std::this_thread::sleep_for(300ms);
    });
  }
  ~thinking_peer() {
    boost::asio::ip::tcp::socket last(loop);  // ends accept() if nobody connected
    boost::system::error_code ended;
    last.connect(door.local_endpoint(), ended);
    thread.join();
  }
  boost::asio::io_context loop;
  boost::asio::ip::tcp::acceptor door{loop, {boost::asio::ip::address_v4::loopback(), 0}};
  std::thread thread;
};

constexpr auto right_policy =
    "apiVersion: telemetry.intel.com/v1alpha1\nkind: TASPolicy\nmetadata: {name: p}\nspec:\n  strategies:\n"
    "    dontschedule: {rules: [{metricname: m, operator: GreaterThan, target: 1}]}\n";

TEST_SUITE("aggregator/ingest_loop") {
  TEST_CASE("no policy file is read before it is known what an earlier process had in force") {
    support::temp_folder dir;
    support::temp_folder folder;
    support::authority ca{dir, "ca"};
    const std::string file = folder.path() + "/p.yaml";
    policy::policy_set before;
    before.put(file, right_policy);
    leave_state(dir / "state", &before);
    folder.write("p.yaml", "{ torn\n" + std::string(right_policy));
    thinking_peer peer;
    const tls::files own = ca.issue_server();
    settings s;
    s.address = "127.0.0.1";
    s.ingest_port = 0;
    s.cert = own.certificate;
    s.key = own.key;
    s.agents_ca = s.clients_ca = ca.certificate();
    s.policies = folder.path();
    s.policy_poll = 1ms;
    s.state = dir / "state";
    s.state_from = {fmt::format("127.0.0.1:{}", peer.door.local_endpoint().port())};
    listening faces;
    ingest_loop loop(s, plan_descriptors(1'024, 10), policy::alias_file(""), faces,
                     logger("test", log_level::off));
    const auto started = loop.start();
    REQUIRE_MESSAGE(started.has_value(), started.error().message);
    std::thread thread([&loop] { loop.run(); });
    const bool is_there = faces.wait([&] { return faces.table && faces.table->contains({"default", "p"}); });
    const bool is_said = faces.wait([&] { return faces.problems.size() == 2; });
    folder.write("p.yaml", "# nothing\n");
    folder.remove("p.yaml");
    const bool is_gone = faces.wait([&] { return faces.table->empty(); });
    loop.stop(0ms);
    thread.join();
    CHECK(is_there);
    CHECK(is_said);
    CHECK(is_gone);
  }

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
