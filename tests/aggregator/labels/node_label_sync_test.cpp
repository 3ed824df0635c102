// The labels of nodes, written to an API server whose answers take their time.
#include "aggregator/labels/node_label_sync.hpp"

#include "common/async/timers.hpp"
#include "common/http/live.hpp"
#include "tests/support/net/run.hpp"
#include "tests/support/net/served.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace node_label_sync_test {

namespace {

using namespace binnacle;
using namespace binnacle::labels;
using namespace std::chrono_literals;
using async::task;
namespace json = boost::json;

/// Nodes and their patches, and a watch that never reports a change. All of it runs on the server's thread.
struct slow_api {
  slow_api(int nodes, duration patch_takes) : takes(patch_takes), server(routes()) {
    for (int i = 0; i < nodes; ++i) {
      const std::string name = fmt::format("n{:04}", i);
      all[name] =
          json::parse(
              fmt::format(
                  R"({{"metadata":{{"name":"{}","uid":"u-{}","resourceVersion":"1","labels":{{}},"annotations":{{}}}}}})",
                  name, name))
              .as_object();
    }
  }

  struct listing final : http::exchange {
    explicit listing(const slow_api& of) : api(of) {}
    bool consume(std::string_view) override { return true; }
    void finish(http::reply answer) override {
      json::array items;
      for (const auto& [name, node] : api.all) items.push_back(node);
      answer(http::response::json(json::serialize(json::object{
          {"kind", "List"}, {"metadata", {{"resourceVersion", "1"}}}, {"items", std::move(items)}})));
    }
    const slow_api& api;
  };
  struct silent_watch final : http::live_exchange {
    void finish(http::reply answer) override { answer(http::response::json("")); }
    void wake_with(std::function<void()>) override {}
    std::string next() override { return {}; }
  };
  struct patching final : http::exchange {
    patching(slow_api& of, std::string node) : api(of), name(std::move(node)), due(of.server.loop()) {}
    bool consume(std::string_view piece) override {
      body += piece;
      return true;
    }
    void finish(http::reply answer) override {
      api.twice = !api.under_way.insert(name).second || api.twice;
      api.most = std::max(api.most, api.under_way.size());
      due.expires_after(api.takes);
      // If the connection closes first, the timer ends, too, and nothing is answered.
      due.async_wait([&of = api, node = name, change = body,
                      answer = std::move(answer)](const boost::system::error_code& cut) {
        of.under_way.erase(node);
        if (!cut) answer(http::response::json(of.patched(node, change)));
      });
    }
    slow_api& api;
    std::string name, body;
    boost::asio::steady_timer due;
  };

  std::string patched(const std::string& name, const std::string& body) {
    json::object& meta = all.at(name)["metadata"].as_object();
    const json::object change = json::parse(body).at("metadata").as_object();
    for (const char* part : {"labels", "annotations"}) {
      if (const json::value* given = change.if_contains(part)) {
        for (const auto& [key, value] : given->as_object()) meta[part].as_object()[key] = value;
      }
    }
    meta["resourceVersion"] = std::to_string(++version);
    return json::serialize(all.at(name));
  }
  http::router routes() {
    http::router r;
    r.set_fallback(
        [this](const http::request& q) -> std::unique_ptr<http::exchange> {
          if (q.method == "PATCH") return std::make_unique<patching>(*this, q.path.back());
          if (q.parameter("watch") != nullptr) return std::make_unique<silent_watch>();
          return std::make_unique<listing>(*this);
        },
        1u << 20);
    return r;
  }
  std::size_t labelled() {
    std::size_t out = 0;
    server.on_loop([&] {
      for (const auto& [name, node] : all)
        out += node.at("metadata").at("labels").as_object().contains("hot") ? 1 : 0;
    });
    return out;
  }

  const duration takes;
  std::map<std::string, json::object> all;
  int version = 1;
  std::set<std::string> under_way;
  std::size_t most = 0;  // patches that were under way together
  bool twice = false;    // two of one node
  support::served server;
};

struct deaf final : router_inbox {
  void take_node_labels(std::vector<node_labels>) override {}
  void all_nodes_told() override {}
  void take_taken_keys(std::vector<node_taken>) override {}
  void set_writes_labels(bool) override {}
};

/// Wishes for a label on each node and waits until all are written. Returns how long that took.
duration write_all(slow_api& api, int nodes, std::chrono::seconds limit) {
  duration took{};
  const logger quiet("test", log_level::off);
  support::run(
      [&](async::loop& loop) -> task<void> {
        kube::access to;
        to.host = "127.0.0.1";
        to.port = api.server.port();
        to.secure = false;
        deaf router;
        policy::view view;
        decision::ring ring;
        node_label_sync::parts with{kube::client::open(to, quiet).value(), router, view, ring,
                                    [] { return true; }};
        node_label_sync sync(std::move(with), loop, quiet);
        async::task_group tasks(loop, quiet);
        sync.start(tasks);
        sync.take_claims({{"hot"}, {}});
        while (!sync.nodes_read()) co_await async::sleep_for(5ms);
        std::vector<node_wishes> wishes;
        for (const auto& [name, node] : sync.objects().nodes())
          wishes.push_back({name, {{"hot", {policy::label_wish::action::set, "violating"}}}});
        const instant begin = boot_clock::now();
        sync.take_wishes(std::move(wishes));
        while (sync.state().patches.written < static_cast<std::uint64_t>(nodes))
          co_await async::sleep_for(5ms);
        took = boot_clock::now() - begin;
        CHECK(sync.state().patches.broken == 0);
        tasks.cancel();
        (void)co_await tasks.wait();
      },
      limit);
  return took;
}

TEST_SUITE("aggregator/labels/node_label_sync") {
  TEST_CASE(
      "several patches are under way where answers take long, one of each node, and no more than the bound") {
    constexpr int nodes = 200;
    slow_api api(nodes, 150ms);
    (void)write_all(api, nodes, 300s);
    CHECK(api.labelled() == nodes);
    api.server.on_loop([&] {
      CHECK(api.most > 1);
      CHECK(api.most <= label_writer::most_under_way);
      CHECK_FALSE(api.twice);
    });
  }

  // The figure of docs/measured.md: `aggregator_component_test -tc='*takes 50 ms*' --no-skip`.
  TEST_CASE("5,000 labels where each answer takes 50 ms, timed" * doctest::skip()) {
    constexpr int nodes = 5'000;
    slow_api api(nodes, 50ms);
    const duration took = write_all(api, nodes, 600s);
    MESSAGE(nodes, " labels at answers of 50 ms: ", static_cast<double>(took.count()) / 1e9, " s");
    CHECK(api.labelled() == nodes);
  }
}

}  // namespace

}  // namespace node_label_sync_test
