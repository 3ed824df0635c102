// A replica asks another one for its state, over TLS on loopback: what it gets, and what it does when the
// other side is wrong, hostile, or does not answer.
#include "aggregator/replicas/ask_replicas.hpp"
#include "aggregator/replicas/state_route.hpp"
#include "common/async/task_group.hpp"
#include "common/http/live.hpp"
#include "tests/support/net/https_client.hpp"
#include "tests/support/net/pki.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/net/served.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

namespace state_test {

namespace {

using namespace binnacle;
using namespace std::chrono_literals;

aggregator::snapshot sample(const std::string& node = "n1") {
  aggregator::snapshot out;
  out.boot_id = "another machine";
  out.taken = from_ns(1'000);
  out.taken_wall = std::chrono::system_clock::time_point(std::chrono::hours(1));  // its clock is wrong
  out.nodes.push_back({node, {1, 2, 3}, {{"power", "violating"}}});
  return out;
}

std::string bytes_of(const aggregator::snapshot& s) {
  const auto bytes = aggregator::encode(s);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A snapshot with a version that this program does not know.
std::string newer_version() {
  const std::string now = bytes_of(sample());
  for (std::size_t i = 0; i < now.size(); ++i) {
    std::string other = now;
    ++other[i];
    const auto read = aggregator::decode(std::as_bytes(std::span(other)));
    if (read.has_error() && read.error().message.find("its version is 3") != std::string::npos) return other;
  }
  FAIL("no byte is the version");
  return {};
}

struct keys {
  support::temp_folder dir;
  support::authority ca{dir, "servers"}, clients{dir, "clients"};
  tls::files shared = ca.issue_server("replicas");
  tls::files foreign = ca.issue_server("foreign");  // of the same authority, with another key
  tls::files caller = clients.issue("caller", {.common_name = "caller"});
};

const keys& pki() {
  static const keys all;
  return all;
}

std::shared_ptr<tls::context> faces(const tls::files& own) {
  tls::options o;
  o.pem = {own.certificate, own.key, pki().clients.certificate()};
  o.clients = tls::client_certificate::optional;
  return tls::context::load(std::move(o)).value();
}

/// An ops port with the given certificate.
struct replica {
  explicit replica(const tls::files& own = pki().shared) : context(faces(own)) {}

  /// Serves the real route. Its snapshots are `given`.
  void serve_state() {
    replicas::state_sources s;
    s.is_replica = [this](const http::request& r) {
      return r.shown != nullptr && r.shown->has_key_of(context->current().get());
    };
    s.worth_now = [this] { return worth.load(); };
    s.take = [this](replicas::given_state then) {
      if (hold) {
        held = std::move(then);
        holds.set_value();
      } else if (is_poor) {
        then(error{errc::overloaded, "this replica has not read all policies yet"}, nullptr);
      } else {
        then(given, lease);
      }
    };
    s.post = [this](std::function<void()> work) { async::post(server->loop(), std::move(work)); };
    route = std::make_unique<replicas::state_route>(std::move(s));
    http::router routes;
    route->mount(routes);
    serve(std::move(routes));
  }
  /// Serves a body that is always the same.
  void serve_text(std::string body) {
    http::router routes;
    routes.add("GET", std::string(replicas::state_path),
               [body](const http::request&, std::string_view) { return http::response::text(body); });
    serve(std::move(routes));
  }
  void serve(http::router routes) {
    http::server_options o;
    o.tls = context;
    server = std::make_unique<support::served>(std::move(routes), std::move(o));
  }
  replicas::route_counters counted() {
    replicas::route_counters out;
    server->on_loop([&] { out = route->counted(); });
    return out;
  }
  endpoint at() const { return {"127.0.0.1", server->port()}; }

  std::shared_ptr<tls::context> context;
  std::atomic<replicas::worth> worth = replicas::worth::full;
  std::atomic<bool> hold = false, is_poor = false;
  aggregator::snapshot given = sample();
  std::shared_ptr<const void> lease;
  replicas::given_state held;
  std::promise<void> holds;
  std::unique_ptr<replicas::state_route> route;
  std::unique_ptr<support::served> server;
};

replicas::question to(std::vector<endpoint> at, const tls::files& own = pki().shared) {
  tls::options o;
  o.side = tls::role::client;
  o.pem = {own.certificate, own.key, ""};
  o.servers = tls::trust::ourselves;
  replicas::question q;
  q.at = std::move(at);
  q.context = tls::context::load(std::move(o)).value()->current();
  q.for_one = std::chrono::minutes(1);  // long: cases about time limits set their own
  q.for_all = std::chrono::minutes(1);
  return q;
}

replicas::outcome ask(const replicas::question& q) {
  replicas::outcome out;
  support::run([&](async::loop&) -> async::task<void> { out = co_await replicas::ask_replicas(q); },
               std::chrono::minutes(2));
  return out;
}

/// A body that never ends: either it sends without end, or it sends nothing after the head.
class endless final : public http::live_exchange {
 public:
  explicit endless(bool silent) : silent_(silent) {}
  void finish(http::reply answer) override { answer(http::response::text("")); }
  void wake_with(std::function<void()> wake) override { wake_ = std::move(wake); }
  std::string next() override {
    if (silent_) return {};
    wake_();
    return std::string(1024, 'x');
  }

 private:
  bool silent_;
  std::function<void()> wake_;
};

http::router never_ending(bool silent) {
  http::router routes;
  const auto make = [silent](const http::request&) { return std::make_unique<endless>(silent); };
  routes.add_streaming("GET", std::string(replicas::state_path), make, 0);
  return routes;
}

TEST_SUITE("aggregator/replicas/state") {
  TEST_CASE("a replica gets the state of another one, and counts its age by its own clock") {
    replica other;
    other.serve_state();
    const auto told = ask(to({other.at()}));
    CAPTURE(told.troubles.size());
    REQUIRE(told.state);
    CHECK(told.from == to_string(other.at()));
    CHECK(told.asked == 1);
    CHECK(told.state->nodes.front().name == "n1");
    CHECK(told.state->nodes.front().labels.at("power") == "violating");
    // The wall clock of the other machine is in 1970.
    const aggregator::clocks now{"this machine", boot_clock::now(), std::chrono::system_clock::now()};
    const auto age = aggregator::age_of(*told.state, now);
    REQUIRE(age.has_value());
    CHECK(*age < std::chrono::minutes(2));
    CHECK(other.counted().given == 1);
  }

  TEST_CASE(
      "only who has the replicas' own key is told: no caller's certificate, none of the same authority") {
    replica other;
    other.serve_state();
    for (const tls::files& own : {pki().caller, pki().foreign, tls::files{}}) {
      CAPTURE(own.certificate);
      support::https_client::options o;
      o.port = other.server->port();
      o.pem = {own.certificate, own.key, pki().ca.certificate()};
      support::https_client client(std::move(o));
      const auto said = client.get(std::string(replicas::state_path));
      CHECK(said.status == 403);
      CHECK(said.body.find("n1") == std::string::npos);
    }
    CHECK(other.counted().strangers == 3);
    CHECK(other.counted().given == 0);
  }

  TEST_CASE("a server with another key is not asked, though the same authority signed its certificate") {
    replica impostor(pki().foreign);
    std::atomic<int> requests = 0;
    http::router routes;
    routes.add("GET", std::string(replicas::state_path), [&](const http::request&, std::string_view) {
      ++requests;
      return http::response::text(bytes_of(sample("lie")));
    });
    impostor.serve(std::move(routes));
    const auto told = ask(to({impostor.at()}));
    CHECK_FALSE(told.state);
    CHECK(told.failed == 1);
    REQUIRE(told.troubles.size() == 1);
    CAPTURE(told.troubles.front());
    CHECK(told.troubles.front().find("its key differs from this replica's") != std::string::npos);
    CHECK(requests == 0);
  }

  TEST_CASE("an answer that is not a snapshot of this version costs only itself: the next replica is asked") {
    const std::string good = bytes_of(sample());
    struct row {
      const char* name;
      std::string body;
      const char* says;
    };
    for (const row& r :
         {row{"cut", good.substr(0, good.size() / 2), "not a snapshot"}, row{"empty", "", "not a snapshot"},
          row{"noise", std::string(5'000, '\xff'), "not a snapshot"},
          row{"newer", newer_version(), "its version is 3"}}) {
      CAPTURE(r.name);
      replica wrong, right;
      wrong.serve_text(r.body);
      right.serve_state();
      const auto told = ask(to({wrong.at(), right.at()}));
      CHECK(told.failed == 1);
      REQUIRE(told.troubles.size() == 1);
      CAPTURE(told.troubles.front());
      CHECK(told.troubles.front().find(r.says) != std::string::npos);
      REQUIRE(told.state);
      CHECK(told.from == to_string(right.at()));
    }
  }

  TEST_CASE("an answer beyond the bound is given up, whether its length is announced or not") {
    replica announced, streamed;
    announced.serve_text(std::string(100'000, 'x'));
    streamed.serve(never_ending(false));
    for (const endpoint& at : {announced.at(), streamed.at()}) {
      auto q = to({at});
      q.most_bytes = 50'000;
      const auto told = ask(q);
      CHECK_FALSE(told.state);
      CHECK(told.failed == 1);
    }
  }

  TEST_CASE("one that begins to answer and goes silent has its share of the time, and no more") {
    replica silent, right;
    silent.serve(never_ending(true));
    right.serve_state();
    auto q = to({silent.at(), right.at()});
    q.for_one = 300ms;
    const auto told = ask(q);
    // On a busy machine the second replica may answer too late as well, but it was asked.
    CHECK(told.failed >= 1);
    CHECK(told.asked == 2);
  }

  TEST_CASE("all of them together have no more than the time for all") {
    replica silent;
    silent.serve(never_ending(true));
    auto q = to({silent.at(), {"localhost", silent.server->port()}});
    q.for_all = 300ms;
    const auto told = ask(q);  // ends after 300 ms; each replica alone would have a minute
    CHECK_FALSE(told.state);
    CHECK(told.failed + told.refused <= told.asked);
  }

  TEST_CASE(
      "a replica without a state says so, and one that is answering another answers the next one "
      "afterwards") {
    replica other;
    other.serve_state();
    other.worth = replicas::worth::nothing;
    auto told = ask(to({other.at()}));
    CHECK(told.refused == 1);
    CHECK(told.troubles.front().find("has just begun itself") != std::string::npos);
    CHECK(other.counted().too_early == 1);

    other.worth = replicas::worth::full;
    other.hold = true;
    auto first = std::async(std::launch::async, [&] { return ask(to({other.at()})); });
    other.holds.get_future().wait();
    other.hold = false;
    auto q = to({other.at()});
    q.between = 1ms;
    auto second = std::async(std::launch::async, [&] { return ask(q); });
    while (other.counted().busy == 0) std::this_thread::sleep_for(1ms);
    other.server->on_loop([&] { other.held(sample(), nullptr); });
    CHECK(first.get().state);
    told = second.get();
    CHECK(told.state);
    CHECK(told.refused >= 1);
    CHECK(other.counted().given == 2);
  }

  TEST_CASE("a young state is taken if nobody has an older one, and says that it is young") {
    replica young, younger, older;
    young.worth = younger.worth = replicas::worth::young;
    young.given = sample("of the young one");
    older.given = sample("of the older one");
    for (replica* r : {&young, &younger, &older}) r->serve_state();

    auto told = ask(to({young.at(), younger.at()}));
    REQUIRE(told.state);
    CHECK(told.is_young);
    CHECK(told.from == to_string(young.at()));
    CHECK(told.state->nodes.front().name == "of the young one");
    CHECK(told.asked == 2);

    told = ask(to({young.at(), older.at(), younger.at()}));
    REQUIRE(told.state);
    CHECK_FALSE(told.is_young);
    CHECK(told.from == to_string(older.at()));
    CHECK(told.state->nodes.front().name == "of the older one");
    CHECK(told.asked == 2);
    CHECK(told.failed + told.refused == 0);
  }

  TEST_CASE("a replica whose state is not complete yet says so, and the next replica is asked") {
    replica poor, rich;
    poor.serve_state();
    poor.is_poor = true;
    rich.serve_state();
    auto told = ask(to({poor.at(), rich.at()}));
    CHECK(told.refused == 1);
    REQUIRE(told.troubles.size() == 1);
    CHECK(told.troubles.front().find("answered 503: ") != std::string::npos);
    CHECK(told.troubles.front().find("has not read all policies yet") != std::string::npos);
    REQUIRE(told.state);
    CHECK(told.from == to_string(rich.at()));
    CHECK(poor.counted().too_early == 1);

    poor.is_poor = false;  // later it has a state to give
    told = ask(to({poor.at()}));
    CHECK(told.state);
  }

  TEST_CASE("one that will have a state in a moment is asked again, also after one with a young state") {
    for (const bool beside_young : {false, true}) {
      CAPTURE(beside_young);
      replica young, soon;
      young.worth = replicas::worth::young;
      young.given = sample("of the young one");
      young.serve_state();
      soon.is_poor = true;
      soon.serve_state();
      auto q = to(beside_young ? std::vector{young.at(), soon.at()} : std::vector{soon.at()});
      q.between = 1ms;
      auto asking = std::async(std::launch::async, [&] { return ask(q); });
      while (soon.counted().too_early < 3) std::this_thread::sleep_for(1ms);
      soon.is_poor = false;
      const auto told = asking.get();
      REQUIRE(told.state);
      CHECK_FALSE(told.is_young);
      CHECK(told.from == to_string(soon.at()));
      CHECK(told.refused >= 3);
      CHECK(told.troubles.size() == 1);  // the sentence once, however often it was said
      CHECK(young.counted().given == (beside_young ? 1 : 0));
    }
  }

  TEST_CASE(
      "one that stays without a state is asked until the time is over, and what a young one gave counts") {
    replica young, soon;
    young.worth = replicas::worth::young;
    young.serve_state();
    soon.is_poor = true;
    soon.serve_state();
    auto q = to({young.at(), soon.at()});
    q.for_all = 4s;
    q.between = 10ms;
    const auto told = ask(q);
    REQUIRE(told.state);
    CHECK(told.is_young);
    CHECK(told.refused >= 1);
  }

  TEST_CASE("a large state arrives whole, and its memory is free once it is written as bytes") {
    replica other;
    for (std::size_t i = 0; i < 20'000; ++i)
      other.given.nodes.push_back(
          {"node-" + std::to_string(i), store::words(64, static_cast<std::int64_t>(i * 7'919)), {}});
    auto lease = std::make_shared<const int>();
    other.lease = lease;
    other.serve_state();
    const auto told = ask(to({other.at()}));
    REQUIRE(told.state);
    CHECK(told.state->nodes.size() == 20'001);
    CHECK(told.state->nodes.back().words == other.given.nodes.back().words);
    CHECK(bytes_of(*told.state).size() > (1u << 20));
    other.server->on_loop([] {});
    CHECK(lease.use_count() == 2);  // only `lease` and `other.lease` still hold it
  }

  TEST_CASE("names and ports where nobody listens cost nothing but a sentence") {
    replica right;
    right.serve_state();
    const auto told = ask(to({{"127.0.0.1", 1}, right.at()}));
    CHECK(told.failed == 1);
    CHECK(told.state);
  }
}

}  // namespace

}  // namespace state_test
