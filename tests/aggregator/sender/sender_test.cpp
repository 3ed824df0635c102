#include "aggregator/sender/sender.hpp"

#include "aggregator/sender/write_request_2.hpp"
#include "common/system/descriptor.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/net/served.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <snappy.h>
#include <sys/socket.h>
#include <thread>

namespace binnacle::sender {
namespace sender_test {

using namespace std::chrono_literals;

/// A receiver of remote write 2.0 or of OTLP. It gives the prepared answers, and afterwards accepts
/// everything.
class receiver {
 public:
  explicit receiver(std::deque<http::response> answers, protocol speaks = protocol::remote_write)
      : speaks_(speaks), answers_(std::move(answers)), it_(routes()) {}

  std::unique_ptr<sender> writer(std::size_t most_bytes = 1u << 20, http::more_headers with = {}) const {
    settings s = to_it();
    s.most_bytes = most_bytes;
    s.with = std::move(with);
    return sender::open(std::move(s), logger("test", log_level::off)).value();
  }
  settings to_it() const {
    settings s;
    s.speaks = speaks_;
    s.to = {false, {"127.0.0.1", it_.port()}, "/take"};
    return s;
  }
  /// The headers of the newest request.
  http::request newest() const {
    const std::lock_guard held(guard_);
    return newest_;
  }
  std::atomic<bool> says_what_it_wrote = true;  // a server of 2.0 must say it
  std::atomic<unsigned> says_to_2_0 = 0;        // status for each 2.0 request; 0: the prepared one
  /// From now on, each request about a node of that name is answered with `status`.
  void fails_at(std::string node, unsigned status) {
    const std::lock_guard held(guard_);
    unloved_ = std::move(node);
    status_for_it_ = status;
  }
  /// The requests that it has taken, uncompressed, one after the other.
  std::string taken() const {
    const std::lock_guard held(guard_);
    return taken_;
  }
  std::vector<std::string> bodies() const {
    const std::lock_guard held(guard_);
    return bodies_;
  }

 private:
  http::router routes() {
    http::router out;
    out.add(
        "POST", "/take",
        [this](const http::request& asked, std::string_view body) {
          const std::lock_guard held(guard_);
          bodies_.emplace_back(body);
          newest_ = asked;
          http::response told = http::response::text("", 200);
          if (says_to_2_0 != 0 && asked.header("content-type")->find("v2") != std::string::npos) {
            told = http::response::text("as ever\n", says_to_2_0);
          } else if (!answers_.empty()) {
            told = std::move(answers_.front());
            answers_.pop_front();
          }
          if (!unloved_.empty()) {
            std::string plain;
            snappy::Uncompress(body.data(), body.size(), &plain);
            if (plain.find(unloved_) != std::string::npos) {
              told = http::response::text("as ever\n", status_for_it_);
            } else {
              taken_ += plain;
            }
          }
          if (told.status / 100 == 2 && says_what_it_wrote)
            told.headers.emplace_back("X-Prometheus-Remote-Write-Samples-Written", "1");
          return told;
        },
        1u << 20);
    return out;
  }

  const protocol speaks_;
  mutable std::mutex guard_;
  std::vector<std::string> bodies_;
  std::string unloved_, taken_;
  unsigned status_for_it_ = 0;
  http::request newest_;
  std::deque<http::response> answers_;
  support::served it_;
};

std::shared_ptr<store::row> one_series() {
  const auto catalog = store::catalog_builder().group("rapl", 3'600'000).series("rapl_power_watts", {}, -1);
  return std::make_shared<store::row>(
      std::make_shared<const store::shape>(store::make_shape(catalog, {}).value().what));
}

void read_now(store::row& row, std::int64_t tenths) {
  row.set_value(0, tenths);
  row.set_read(0, boot_clock::now());
}

/// Prepares answers with these statuses.
std::deque<http::response> say(std::initializer_list<unsigned> statuses) {
  std::deque<http::response> out;
  for (const unsigned status : statuses) out.push_back(http::response::text("as told\n", status));
  return out;
}

bool soon(const std::function<bool()>& is_so) {
  for (const auto end = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < end;) {
    if (is_so()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

/// A server that listens but never accepts or answers.
descriptor silent_server() {
  descriptor it(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in at{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  REQUIRE(::bind(it.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(::listen(it.get(), 8) == 0);
  return it;
}

std::uint16_t port_of(const descriptor& d) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  REQUIRE(::getsockname(d.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
  return ntohs(at.sin_port);
}

/// A round before the first reading: the sender sends only what is read after its first round.
void begin(sender& e, const std::shared_ptr<store::row>& row) {
  e.take({{"node-a", row}});
  std::this_thread::sleep_for(50ms);  // so that rounds rarely merge; the result is the same if they do
}

}  // namespace sender_test

TEST_SUITE("aggregator/sender/sender") {
  using namespace sender_test;

  TEST_CASE("a server that is in trouble gets the same request again; one that refuses it does not") {
    receiver server(say({503, 500, 204, 400}));
    const auto writer = server.writer();
    const auto row = one_series();
    begin(*writer, row);
    REQUIRE(soon([&] {
      // A reading is sent for sure only if it is later than the first round, so the test reads again and
      // again.
      read_now(*row, 715);
      writer->take({{"node-a", row}});
      return server.bodies().size() >= 3;
    }));
    REQUIRE(soon([&] { return writer->counted().sent >= 1; }));
    const auto bodies = server.bodies();
    CHECK(bodies[0] == bodies[1]);
    CHECK(bodies[1] == bodies[2]);
    CHECK(*server.newest().header("content-type") ==
          "application/x-protobuf;proto=io.prometheus.write.v2.Request");
    CHECK(*server.newest().header("x-prometheus-remote-write-version") == "2.0.0");
    CHECK(writer->counted().retries == 2);
    REQUIRE(soon([&] {
      read_now(*row, 720);
      writer->take({{"node-a", row}});
      return writer->counted().refused == 1;
    }));
    REQUIRE(soon([&] { return writer->counted().waiting_bytes == 0 && writer->counted().trouble.empty(); }));
    CHECK(writer->counted().lag == duration::zero());
  }

  TEST_CASE("a server that knows only remote write 1.0 gets the same readings in that, and nothing is lost") {
    std::deque<http::response> told;
    bool silent = false;
    SUBCASE("it refuses the form") { told = say({415}); }
    SUBCASE("it cannot read the request") { told = say({400}); }
    SUBCASE("it reads nothing in it, and takes it") { silent = true; }
    receiver server(std::move(told));
    server.says_what_it_wrote = !silent;
    const auto writer = server.writer();
    const auto row = one_series();
    begin(*writer, row);
    REQUIRE(soon([&] {
      read_now(*row, 715);
      writer->take({{"node-a", row}});
      return writer->counted().sent >= 2;
    }));
    const auto bodies = server.bodies();
    CHECK(bodies[1] == as_version_1(bodies[0]));
    CHECK(*server.newest().header("content-type") == "application/x-protobuf");
    CHECK(*server.newest().header("x-prometheus-remote-write-version") == "0.1.0");
    CHECK(writer->counted().refused == 0);
    CHECK(writer->counted().retries == 0);
    CHECK(writer->counted().trouble.empty());
  }

  TEST_CASE("a server that fails at whatever is in remote write 2.0 gets 1.0, and nothing is lost") {
    receiver server({});
    server.says_what_it_wrote = false;
    server.says_to_2_0 = 500;
    const auto writer = server.writer();
    const auto row = one_series();
    begin(*writer, row);
    std::int64_t tenths = 715;
    REQUIRE(soon([&] {
      if (server.bodies().empty()) {
        read_now(*row, tenths);
        writer->take({{"node-a", row}});
      }
      return writer->counted().sent >= 1;  // tried in 1.0
    }));
    REQUIRE(soon([&] {
      read_now(*row, ++tenths);
      writer->take({{"node-a", row}});
      return writer->counted().sent >= 3;
    }));
    const auto bodies = server.bodies();
    CHECK(bodies[1] == bodies[0]);
    CHECK(bodies[3] == as_version_1(bodies[0]));
    CHECK(bodies[5] == as_version_1(bodies[4]));
    CHECK(*server.newest().header("x-prometheus-remote-write-version") == "0.1.0");
    CHECK(writer->counted().refused == 0);
    CHECK(writer->counted().dropped == 0);
    CHECK(writer->counted().retries == 3);
  }

  TEST_CASE("a server of 2.0 that refuses one sample of two at first keeps 2.0, and the other one is sent") {
    http::response part = http::response::text("out of order sample\n", 400);
    part.headers.emplace_back("X-Prometheus-Remote-Write-Samples-Written", "1");
    receiver server({part});
    const auto writer = server.writer();
    const auto a = one_series(), b = one_series();
    writer->take({{"node-a", a}, {"node-b", b}});
    REQUIRE(soon([&] {
      read_now(*a, 715);
      read_now(*b, 716);
      writer->take({{"node-a", a}, {"node-b", b}});
      return writer->counted().requests >= 2 && writer->counted().refused >= 1;
    }));
    CHECK(*server.newest().header("x-prometheus-remote-write-version") == "2.0.0");
    const counters all = writer->counted();
    CHECK(all.retries == 0);
    CHECK(all.sent == all.requests);  // it says of each that it wrote one sample
  }

  TEST_CASE("a server that refuses a request because of one node gets the other nodes' readings") {
    receiver server({});
    server.says_what_it_wrote = false;  // a server of 1.0: it refuses the whole request
    server.fails_at("node-c", 400);
    const auto writer = server.writer();
    fleet nodes;
    std::vector<std::shared_ptr<store::row>> rows;
    for (const char* name : {"node-a", "node-b", "node-c", "node-d"}) {
      rows.push_back(one_series());
      nodes.push_back({name, rows.back()});
    }
    writer->take(nodes);
    REQUIRE(soon([&] {
      for (const auto& row : rows) read_now(*row, 715);
      writer->take(nodes);
      const std::string taken = server.taken();
      return writer->counted().refused >= 1 &&
             std::ranges::all_of(std::vector<std::string>{"node-a", "node-b", "node-d"},
                                 [&](const auto& name) { return taken.find(name) != std::string::npos; });
    }));
    CHECK(server.taken().find("node-c") == std::string::npos);
    CHECK(writer->counted().dropped == 0);
    CHECK(writer->counted().retries == 0);
  }

  TEST_CASE("defect: what one node of several lost was said no more as soon as another one's was taken") {
    receiver server({});
    server.says_what_it_wrote = false;
    server.fails_at("node-b", 400);
    const auto writer = server.writer();
    fleet nodes;
    std::vector<std::shared_ptr<store::row>> rows;
    for (const char* name : {"node-a", "node-b", "node-c", "node-d"}) {
      rows.push_back(one_series());
      nodes.push_back({name, rows.back()});
    }
    writer->take(nodes);
    REQUIRE(soon([&] {
      for (const auto& row : rows) read_now(*row, 715);
      writer->take(nodes);
      return writer->counted().refused >= 3;
    }));
    REQUIRE(soon([&] { return writer->counted().sent >= 3 && writer->counted().lag == duration::zero(); }));
    CHECK(writer->counted().trouble.find("as ever") != std::string::npos);
  }

  TEST_CASE("a request at which the server fails for good holds up no other") {
    receiver server({});
    server.says_what_it_wrote = false;
    server.fails_at("node-c", 500);
    settings s = server.to_it();
    s.version = write_version::v1_0;
    s.between_attempts = {1ms, 2ms, 10ms};
    const auto writer = sender::open(std::move(s), logger("test", log_level::off)).value();
    fleet nodes;
    std::vector<std::shared_ptr<store::row>> rows;
    for (const char* name : {"node-a", "node-b", "node-c", "node-d"}) {
      rows.push_back(one_series());
      nodes.push_back({name, rows.back()});
    }
    writer->take(nodes);
    REQUIRE(soon([&] {
      for (const auto& row : rows) read_now(*row, 715);
      writer->take(nodes);
      const std::string taken = server.taken();
      return writer->counted().refused >= 2 &&
             std::ranges::all_of(std::vector<std::string>{"node-a", "node-b", "node-d"},
                                 [&](const auto& name) { return taken.find(name) != std::string::npos; });
    }));
    CHECK(server.taken().find("node-c") == std::string::npos);
    CHECK(writer->counted().dropped == 0);
  }

  TEST_CASE("each request has the headers of the settings and those that the file has at that moment") {
    support::temp_folder folder;
    receiver server({});
    const auto writer = server.writer(1u << 20, {{"X-Scope-OrgID: team-a"}, folder / "headers"});
    const auto row = one_series();
    begin(*writer, row);
    const auto until = [&](const std::function<bool()>& is_so) {
      return soon([&] {
        read_now(*row, 715);
        writer->take({{"node-a", row}});
        return is_so();
      });
    };
    REQUIRE(until([&] { return writer->counted().retries >= 1; }));
    CHECK(writer->counted().trouble.starts_with("--remote-write-headers-file " + folder / "headers"));
    CHECK(server.bodies().empty());
    for (const std::string key : {"hunter1", "hunter2"}) {
      folder.write("headers", "X-Key: " + key + "\n");
      REQUIRE(until([&] {
        if (server.bodies().empty()) return false;
        const http::request asked = server.newest();
        const std::string* const has = asked.header("x-key");
        return has != nullptr && *has == key && *asked.header("x-scope-orgid") == "team-a";
      }));
    }
    CHECK(writer->counted().dropped == 0);
  }

  TEST_CASE("a server that is away is named, and what has no room any more is counted") {
    const auto row = one_series();
    std::unique_ptr<sender> writer;
    {
      receiver gone(say({}));
      writer = gone.writer(400);
    }
    begin(*writer, row);
    REQUIRE(soon([&] {
      read_now(*row, 715);
      writer->take({{"node-a", row}});
      return writer->counted().dropped >= 2;
    }));
    CHECK(writer->counted().waiting_bytes <= 400);
    CHECK(writer->counted().sent == 0);
    CHECK_FALSE(writer->counted().trouble.empty());
    CHECK(writer->counted().lag > duration::zero());
  }

  TEST_CASE("a sender whose server never answers ends without waiting for it") {
    const auto silent = silent_server();
    settings s;
    s.to = {false, {"127.0.0.1", port_of(silent)}, "/take"};
    auto writer = sender::open(std::move(s), logger("test", log_level::off)).value();
    const auto row = one_series();
    begin(*writer, row);
    REQUIRE(soon([&] {
      read_now(*row, 715);
      writer->take({{"node-a", row}});
      return writer->counted().lag > duration::zero();
    }));
    const auto start = std::chrono::steady_clock::now();
    writer.reset();
    CHECK(std::chrono::steady_clock::now() - start < 20s);  // the request would wait 30 s for its answer
  }

  TEST_CASE("an OTLP server that throttles gets the same request again, one that fails or refuses does not") {
    receiver server(say({503, 429, 502, 504, 200, 500, 400}), protocol::otlp);
    const auto writer = server.writer();
    const auto row = one_series();
    begin(*writer, row);
    const auto tell = [&] {
      read_now(*row, 715);
      writer->take({{"node-a", row}});
    };
    REQUIRE(soon([&] {
      tell();
      return writer->counted().sent >= 1;
    }));
    const auto bodies = server.bodies();
    for (std::size_t i = 1; i < 5; ++i) CHECK(bodies[i] == bodies[0]);
    CHECK(writer->counted().retries == 4);
    REQUIRE(soon([&] {
      tell();
      return writer->counted().refused >= 2;  // 500 and 400, once each
    }));
    REQUIRE(soon([&] { return writer->counted().waiting_bytes == 0 && writer->counted().trouble.empty(); }));
    CHECK(writer->counted().retries == 4);
    const http::request asked = server.newest();
    CHECK(*asked.header("content-type") == "application/x-protobuf");
    CHECK(*asked.header("content-encoding") == "gzip");
  }

  TEST_CASE("what an OTLP server leaves out of a request is refused, and the rest sent") {
    // partial_success {rejected_data_points: 1, error_message: "old"}
    const http::response part{
        200, "application/x-protobuf", {std::string("\x0a\x07\x08\x01\x12\x03old", 9)}, {}, false};
    receiver server({part}, protocol::otlp);
    const auto writer = server.writer();
    const auto a = one_series(), b = one_series();
    const auto tell = [&] {
      read_now(*a, 715);
      read_now(*b, 716);
      writer->take({{"node-a", a}, {"node-b", b}});
    };
    writer->take({{"node-a", a}, {"node-b", b}});
    REQUIRE(soon([&] {
      if (writer->counted().requests == 0) tell();
      return writer->counted().refused == 1;
    }));
    CHECK(writer->counted().retries == 0);
    REQUIRE(soon([&] {
      tell();
      return writer->counted().trouble.empty() && writer->counted().sent >= 3;
    }));
    CHECK(writer->counted().refused == 1);
  }

  TEST_CASE("a server that drips its answer is given up at the deadline, and asked again") {
    const auto listener = silent_server();
    settings s;
    s.speaks = protocol::otlp;
    s.to = {false, {"127.0.0.1", port_of(listener)}, "/v1/metrics"};
    s.patience = 200ms;
    std::atomic<bool> over = false;
    std::atomic<int> connections = 0;
    std::thread dripping([&] {
      const std::string answer = "HTTP/1.1 200 OK\r\nX-Long: " + std::string(60'000, 'x');
      while (!over) {
        const descriptor peer(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        ++connections;
        for (std::size_t i = 0; i < answer.size() && !over; ++i) {
          if (::send(peer.get(), &answer[i], 1, MSG_NOSIGNAL) != 1) break;
          std::this_thread::sleep_for(10ms);
        }
      }
    });
    auto writer = sender::open(std::move(s), logger("test", log_level::off)).value();
    const auto row = one_series();
    begin(*writer, row);
    const bool twice = soon([&] {
      if (writer->counted().requests == 0) {
        read_now(*row, 715);
        writer->take({{"node-a", row}});
      }
      return writer->counted().retries >= 2 && connections >= 2;
    });
    over = true;
    ::shutdown(listener.get(), SHUT_RDWR);
    dripping.join();
    CHECK(twice);
    CHECK(writer->counted().sent == 0);
    CHECK_FALSE(writer->counted().trouble.empty());
  }
}

}  // namespace binnacle::sender
