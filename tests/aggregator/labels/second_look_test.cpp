// What a replica with the Lease makes of the list of nodes that it reads beside its watch. The API server of
// these tests holds back an answer of that list until the test lets it go.
#include "aggregator/labels/node_label_sync.hpp"
#include "common/async/timers.hpp"
#include "common/http/live.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/net/served.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace second_look_test {

namespace {

using namespace binnacle;
using namespace binnacle::labels;
using namespace std::chrono_literals;
using async::task;

std::string node(const std::string& name, int version) {
  return fmt::format(R"({{"metadata":{{"name":"{0}","uid":"u-{0}","resourceVersion":"{1}"}}}})", name,
                     version);
}

std::string page(const std::string& items, const std::string& next) {
  return fmt::format(R"({{"kind":"List","metadata":{{"resourceVersion":"5","continue":"{}"}},"items":[{}]}})",
                     next, items);
}

/// The nodes n1 and n2, listed by the watch's list first. The second list, which is the look, may come in two
/// pages, and its last page is held back.
struct steered_api {
  explicit steered_api(bool look_has_two_pages) : two_pages(look_has_two_pages), server(routes()) {}

  struct listing final : http::exchange {
    listing(steered_api& of, bool goes_on) : api(of), continues(goes_on) {}
    bool consume(std::string_view) override { return true; }
    void finish(http::reply answer) override {
      if (!continues) ++api.lists;
      if (api.lists != 2) return answer(http::response::json(page(node("n1", 1) + "," + node("n2", 2), "")));
      if (api.two_pages && !continues) return answer(http::response::json(page(node("n1", 1), "more")));
      api.held = std::move(answer);
      api.is_held = true;
    }
    steered_api& api;
    const bool continues;
  };
  struct watching final : http::live_exchange {
    explicit watching(steered_api& of) : api(of) {}
    ~watching() override { api.wake = nullptr; }
    void finish(http::reply answer) override { answer(http::response::json("")); }
    void wake_with(std::function<void()> wake) override { api.wake = std::move(wake); }
    std::string next() override { return std::exchange(api.events, {}); }
    steered_api& api;
  };

  http::router routes() {
    http::router r;
    r.set_fallback(
        [this](const http::request& q) -> std::unique_ptr<http::exchange> {
          if (q.parameter("watch") != nullptr) return std::make_unique<watching>(*this);
          return std::make_unique<listing>(*this, q.parameter("continue") != nullptr);
        },
        1u << 20);
    return r;
  }
  /// The watch says this.
  void tell(const std::string& event) {
    server.on_loop([&] {
      events += event + "\n";
      if (wake) wake();
    });
  }
  /// Answers what was held back.
  void release() {
    server.on_loop([&] {
      const std::string first = two_pages ? "" : node("n1", 1) + ",";
      std::exchange(held, nullptr)(http::response::json(page(first + node("n2", 2), "")));
    });
  }

  const bool two_pages;
  std::atomic<int> lists{0};
  std::atomic<bool> is_held{false};
  // On the server's thread.
  http::reply held;
  std::string events;
  std::function<void()> wake;
  support::served server;
};

struct heard final : router_inbox {
  void take_node_labels(std::vector<node_labels> nodes) override {
    for (const node_labels& one : nodes) exists[one.node] = one.labels.has_value();
  }
  void all_nodes_told() override {}
  void take_taken_keys(std::vector<node_taken>) override {}
  void set_writes_labels(bool now) override { writes = now; }
  std::map<std::string, bool> exists;  // as told last
  bool writes = false;
};

struct replica {
  replica(const steered_api& api, async::loop& loop) : sync(parts_of(api), loop, quiet), tasks(loop, quiet) {
    sync.start(tasks);
    sync.take_claims({{"hot"}, {}});
  }
  node_label_sync::parts parts_of(const steered_api& api) {
    kube::access to;
    to.host = "127.0.0.1";
    to.port = api.server.port();
    to.secure = false;
    return {kube::client::open(to, quiet).value(), router, view, ring, [this] { return leads; }};
  }
  void has_lease(bool now) {
    leads = now;
    sync.look_at_lease();
  }

  const logger quiet{"test", log_level::off};
  bool leads = false;
  heard router;
  policy::view view;
  decision::ring ring;
  node_label_sync sync;
  async::task_group tasks;
};

TEST_SUITE("aggregator/labels/second_look") {
  TEST_CASE("a node that is deleted while all nodes are read once more stays gone") {
    steered_api api(true);
    support::run([&](async::loop& loop) -> task<void> {
      replica r(api, loop);
      while (!r.sync.nodes_read()) co_await async::sleep_for(5ms);
      r.has_lease(true);
      while (!api.is_held) co_await async::sleep_for(5ms);
      api.tell(fmt::format(R"({{"type":"DELETED","object":{}}})", node("n2", 7)));
      while (r.sync.objects().find("n2") != nullptr) co_await async::sleep_for(5ms);
      api.release();  // the page is as of before
      while (!r.router.writes) co_await async::sleep_for(5ms);
      CHECK(r.sync.objects().find("n1") != nullptr);
      CHECK(r.sync.objects().find("n2") == nullptr);
      CHECK(r.router.exists == std::map<std::string, bool>{{"n1", true}, {"n2", false}});
      r.tasks.cancel();
      (void)co_await r.tasks.wait();
    });
  }

  TEST_CASE("a list during which the Lease went and came back is read again before a label is written") {
    steered_api api(false);
    support::run([&](async::loop& loop) -> task<void> {
      replica r(api, loop);
      while (!r.sync.nodes_read()) co_await async::sleep_for(5ms);
      r.has_lease(true);
      while (!api.is_held) co_await async::sleep_for(5ms);
      r.has_lease(false);
      r.has_lease(true);
      api.release();
      while (!r.router.writes) co_await async::sleep_for(5ms);
      CHECK(api.lists.load() == 3);
      r.tasks.cancel();
      (void)co_await r.tasks.wait();
    });
  }
}

}  // namespace

}  // namespace second_look_test
