// The link with helpers that misbehave. bmc_program_test.cpp has the tests with the real helper.
#include "agent/sources/bmc/helper_link.hpp"

#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "tests/agent/sources/bmc/run_until.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace binnacle;
using namespace binnacle::agent;
using namespace std::chrono_literals;

namespace {

constexpr const char* hello = R"(echo '{"type":"hello","protocol":1,"version":"test","quiet_ms":100}'; )";
constexpr const char* board =
    R"(echo '{"type":"status","ok":true,"message":"","permanent":false}';)"
    R"(echo '{"type":"bmc","address":"/dev/ipmi0","guid":"","manufacturer":"m","manufacturer_id":1,"product_id":1,"firmware":"1","ipmi_version":"2.0","sdr_records":0,"dcmi":false}';)"
    R"(echo '{"type":"inventory_end","count":0}'; )";

/// For a helper that behaves well: far longer than it needs, so that a busy machine does not make a test
/// fail.
constexpr duration long_patience = 60s;

/// A link to a shell script. Its patience is short, unless the script behaves well.
struct linked {
  explicit linked(std::string script, std::string socket = {}, duration patience = 100ms)
      : log("test", log_level::debug, [this](std::string_view line) { said.emplace_back(line); }) {
    link_options o;
    o.command = {"/bin/sh", {"-c", std::move(script)}};
    o.socket = std::move(socket);
    o.supervision.child = o.socket.empty();
    o.supervision.hello_within = 5 * patience;
    o.supervision.ping_every = 50ms;
    o.supervision.answer_least = patience;
    o.supervision.pause = {10ms, 20ms, 50ms};
    link = std::make_shared<helper_link>(std::move(o), log);
    link->start(
        tasks,
        [this] {
          if (++tellings == fails_at) throw std::runtime_error("as the test wants");
        },
        [this] { ++inventories; });
    link->allow();
  }
  ~linked() { tasks.cancel(); }
  bool until(const std::function<bool()>& done) { return agent::test::run_until(loop, done); }
  const supervisor::counts& counted() const { return link->minder().counted(); }

  async::loop loop{1};
  std::vector<std::string> said;
  logger log;
  async::task_group tasks{loop, log};
  int inventories = 0, tellings = 0;
  int fails_at = 0;  // the number of the call that throws
  std::shared_ptr<helper_link> link;
};

TEST_SUITE_BEGIN("agent/sources/bmc/helper_link");

TEST_CASE("one that says hello and answers is told what to read, and lives") {
  // The script answers the first ping, and writes to its standard error what it was told.
  linked l(
      std::string(hello) + board +
          R"(read select; case "$select" in *'"type":"select"'*) ;; *) exit 9;; esac;)"
          R"(while read line; do n=$(echo "$line" | tr -dc 0-9); echo "{\"type\":\"pong\",\"number\":$n}"; done)",
      {}, long_patience);
  REQUIRE(l.until([&] { return l.inventories == 1; }));
  CHECK_FALSE(l.link->minder().trouble().has_value());
  REQUIRE(l.until([&] { return l.link->minder().ping() >= 5; }));
  CHECK(l.counted().starts == 1);
  CHECK(l.counted().ended == 0);
  CHECK(l.counted().hung == 0);
}

TEST_CASE("readings that a policy waits for are reported together, the others when the source looks") {
  const auto reading = [](const char* key) {
    return std::string(R"({"type":"reading","key":")") + key + R"(","value":1,"read_at_ns":1,"took_us":1}\n)";
  };
  std::string said;
  int told = 0;
  SUBCASE("one is waited for") {
    said = reading("20.0.2") + reading("20.0.1") + reading("20.0.2") + reading("20.0.1");
    told = 1;
  }
  SUBCASE("none is") { said = reading("20.0.2") + reading("20.0.2"); }
  linked l(
      std::string(hello) + board +
          R"(echo '{"type":"plan","period_ms":{"20.0.1":1000,"20.0.2":1000}}'; read select; read interest; printf ')" +
          said + "'; while read line; do :; done",
      {}, long_patience);
  REQUIRE(l.until([&] { return l.inventories == 1 && l.tellings > 0; }));
  l.loop.poll();
  const int before = l.tellings;
  l.link->set_interest({{"20.0.1", 1000}});
  std::map<std::string, ipmi::reading> newest;
  const auto look = [&] {
    for (const auto& r : l.link->view().take_readings()) newest[r.key] = r;
  };
  REQUIRE(l.until([&] {
    look();
    return !newest.empty() && l.tellings >= before + told;
  }));
  l.loop.run_for(3 * helper_link::gathering);
  CHECK(l.tellings == before + told);
  look();
  CHECK(newest.size() == (told > 0 ? 2 : 1));
}

TEST_CASE("one that stops answering is killed and started again") {
  linked l(std::string(hello) + board + "kill -STOP $$");
  // The trouble is over once the next helper has sent its inventory.
  REQUIRE(l.until([&] {
    const auto& why = l.link->minder().trouble();
    return l.counted().hung >= 2 && l.counted().starts >= 3 && why && why->code == errc::timeout;
  }));
  CHECK(l.counted().ended == 0);
}

TEST_CASE("one that says nothing is killed") {
  linked l("exec sleep 1000");
  REQUIRE(l.until([&] { return l.counted().hung >= 1; }));
}

TEST_CASE("an exception while the helper is supervised does not end the supervising") {
  linked l("exit 0");
  l.fails_at = 1;
  REQUIRE(l.until([&] { return l.tellings >= 3; }));
  CHECK(l.counted().starts >= 2);
}

TEST_CASE("one that ends is started again, and its status is told") {
  linked l(std::string(hello) + "exit 3");
  REQUIRE(l.until([&] {
    const auto& why = l.link->minder().trouble();
    return l.counted().ended >= 3 && why && why->message.find("status 3") != std::string::npos;
  }));
}

TEST_CASE("one that breaks the protocol is ended") {
  std::string script;
  SUBCASE("an endless line") {
    script = std::string(hello) + "while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done";
  }
  SUBCASE("no JSON") { script = std::string(hello) + "echo 'Temp 1 = 23'; exec sleep 1000"; }
  SUBCASE("no hello") { script = std::string(board) + "exec sleep 1000"; }
  SUBCASE("a second hello") { script = std::string(hello) + board + hello + "exec sleep 1000"; }
  SUBCASE("an inventory that does not add up") {
    script = std::string(hello) + R"(echo '{"type":"inventory_end","count":3}'; exec sleep 1000)";
  }
  linked l(script);
  REQUIRE(l.until([&] { return l.counted().broke >= 1; }));
}

TEST_CASE("one of another release is ended, and both versions are named") {
  linked l(R"(echo '{"type":"hello","protocol":9,"version":"8.0","quiet_ms":100}'; exec sleep 1000)");
  REQUIRE(l.until([&] {
    const auto& why = l.link->minder().trouble();
    return why && why->message.find("speaks version 9 of the protocol, this agent 1") != std::string::npos;
  }));
  CHECK(l.counted().broke >= 1);
}

TEST_CASE("one that serves another agent says so instead of a hello, and is asked again") {
  linked l(R"(echo '{"type":"status","ok":false,"message":"another agent is connected","permanent":false}'; )"
           "exec sleep 1000");
  REQUIRE(l.until([&] {
    const auto& why = l.link->minder().trouble();
    return l.counted().failures >= 2 && why && why->message == "another agent is connected";
  }));
  CHECK(l.counted().broke == 0);
}

TEST_CASE("one that does not read what it is told is ended, and costs no more memory than the bound") {
  linked l(std::string(hello) + board + "exec sleep 1000");
  REQUIRE(l.until([&] { return l.inventories == 1; }));
  std::map<std::string, std::uint32_t> wanted;
  for (int i = 0; i < 1000; ++i) wanted["20.0." + std::to_string(i)] = 1000;
  for (std::uint32_t i = 0; i < 200 && l.link->minder().talking(); ++i) {
    wanted["20.0.0"] = i + 1;
    l.link->set_interest(wanted);
    l.loop.poll();  // part of it is being written while more is queued
  }
  REQUIRE(l.until([&] { return l.counted().broke + l.counted().hung >= 1; }));
}

TEST_CASE("a sidecar that is not there is dialled again and again") {
  linked l("", "/nonexistent/ipmi.sock");
  REQUIRE(l.until([&] { return l.counted().failures >= 3; }));
  CHECK(l.link->minder().trouble()->message.find("/nonexistent/ipmi.sock") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace
