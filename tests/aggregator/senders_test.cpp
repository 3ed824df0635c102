#include "aggregator/senders.hpp"

#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/net/served.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <snappy.h>
#include <string>
#include <thread>
#include <vector>

namespace senders_test {

using namespace binnacle;
using namespace binnacle::aggregator;
using namespace std::chrono_literals;

namespace {

/// A replica with one node, and the server that it writes to. Both run on the server's loop.
class replica {
 public:
  replica() {
    const auto catalog = store::catalog_builder().group("rapl", 3'600'000).series("rapl_power_watts", {}, -1);
    row_ = std::make_shared<store::row>(
        std::make_shared<const store::shape>(store::make_shape(catalog, {}).value().what));
    server_.on_loop([this] { nodes_.node(store::node_id{0}, "node-a").cells = row_; });
  }
  ~replica() {
    server_.on_loop([this] { tasks_->cancel(); });
    soon([this] {
      std::size_t left = 0;
      server_.on_loop([&] { left = tasks_->size(); });
      return left == 0;
    });
    server_.on_loop(
        [this] { tasks_.reset(); });  // the senders end after this, while the server still answers
  }

  void begin(replicas_that_send by) {
    settings s;
    s.replica_id = "agg-1";
    s.remote_write.url = fmt::format("http://127.0.0.1:{}/take", server_.port());
    s.remote_write.interval = 10ms;
    s.remote_write.by = by;
    server_.on_loop([&] {
      tasks_ = std::make_unique<async::task_group>(server_.loop(), quiet_);
      sending_ = std::make_unique<senders>(nodes_);
      const auto leader = [this] {
        ++asked;
        return leads.load();
      };
      const auto no_objects = [](std::string_view) { return std::string(); };
      REQUIRE(sending_->start(s, server_.loop(), *tasks_, leader, no_objects, quiet_).has_value());
    });
  }
  /// Makes new readings until `is_so`, so that there is something to send.
  template <class Condition>
  bool reading_until(Condition is_so) {
    return soon([&] {
      server_.on_loop([this] {
        row_->set_value(0, ++tenths_);
        row_->set_read(0, boot_clock::now());
      });
      return is_so();
    });
  }
  std::vector<std::string> written() {
    const std::lock_guard held(guard_);
    return written_;
  }
  std::uint64_t requests() {
    std::uint64_t out = 0;
    server_.on_loop([&] { out = sending_->counted().front().numbers.requests; });
    return out;
  }

  std::atomic<bool> leads = false;
  std::atomic<int> asked = 0;  ///< how often it was asked whether it leads

 private:
  template <class Condition>
  static bool soon(Condition is_so) {
    for (const auto end = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < end;) {
      if (is_so()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  http::router routes() {
    http::router out;
    out.add(
        "POST", "/take",
        [this](const http::request&, std::string_view body) {
          std::string plain;
          REQUIRE(snappy::Uncompress(body.data(), body.size(), &plain));
          const std::lock_guard held(guard_);
          written_.push_back(std::move(plain));
          http::response told = http::response::text("", 200);
          told.headers.emplace_back("X-Prometheus-Remote-Write-Samples-Written", "1");
          return told;
        },
        1u << 20);
    return out;
  }

  const logger quiet_{"test", log_level::off};
  std::mutex guard_;
  std::vector<std::string> written_;
  policy::view nodes_;
  std::shared_ptr<store::row> row_;
  std::int64_t tenths_ = 0;
  support::served server_{routes()};
  std::unique_ptr<async::task_group> tasks_;
  std::unique_ptr<senders> sending_;
};

}  // namespace

TEST_SUITE("aggregator/senders") {
  TEST_CASE(
      "with leader only the replica that leads writes, from the moment when it does, without its name") {
    replica one;
    one.begin(replicas_that_send::leader);
    REQUIRE(one.reading_until([&] { return one.asked >= 5; }));
    CHECK(one.requests() == 0);
    CHECK(one.written().empty());
    one.leads = true;
    REQUIRE(one.reading_until([&] { return !one.written().empty(); }));
    CHECK(one.written().front().find("rapl_power_watts") != std::string::npos);
    CHECK(one.written().front().find("replica") == std::string::npos);
  }

  TEST_CASE("with each a replica that does not lead writes, too, and says which it is") {
    replica one;
    one.begin(replicas_that_send::each);
    REQUIRE(one.reading_until([&] { return !one.written().empty(); }));
    CHECK(one.asked == 0);
    CHECK(one.written().front().find("replica") != std::string::npos);
    CHECK(one.written().front().find("agg-1") != std::string::npos);
  }
}

}  // namespace senders_test
