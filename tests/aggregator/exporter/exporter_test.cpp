#include "aggregator/exporter/exporter.hpp"

#include "common/system/descriptor.hpp"
#include "tests/aggregator/store/nodes.hpp"
#include "tests/support/net/served.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace binnacle::exporter {
namespace exporter_test {

using namespace std::chrono_literals;

/// A receiver that answers as it is told, and then 204.
class receiver {
 public:
  explicit receiver(std::deque<unsigned> answers) : answers_(std::move(answers)), it_(routes()) {}

  std::unique_ptr<exporter> writer(std::size_t most_bytes = 1u << 20) const {
    settings s;
    s.to = parse_destination("http://127.0.0.1:" + std::to_string(it_.port()) + "/api/v1/write").value();
    s.most_bytes = most_bytes;
    return exporter::open(std::move(s), logger("test", log_level::off)).value();
  }
  std::vector<std::string> bodies() const {
    const std::lock_guard held(guard_);
    return bodies_;
  }

 private:
  http::router routes() {
    http::router out;
    out.add("POST", "/api/v1/write", [this](const http::request&, std::string_view body) {
      const std::lock_guard held(guard_);
      bodies_.emplace_back(body);
      if (answers_.empty()) return http::response::text("", 204);
      const unsigned status = answers_.front();
      answers_.pop_front();
      return http::response::text("as told\n", status);
    });
    return out;
  }

  mutable std::mutex guard_;
  std::vector<std::string> bodies_;
  std::deque<unsigned> answers_;
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

bool soon(const std::function<bool()>& is_so) {
  for (const auto end = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < end;) {
    if (is_so()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

/// A round before the first reading: the exporter tells what is read after its beginning.
void begin(exporter& e, const std::shared_ptr<store::row>& row) {
  e.take({{"node-a", row}});
  std::this_thread::sleep_for(50ms);  // only so that rounds are rarely joined; either order gives the same
}

}  // namespace exporter_test

TEST_SUITE("aggregator/exporter/exporter") {
  using namespace exporter_test;

  TEST_CASE("a server that is in trouble gets the same request again; one that refuses it does not") {
    receiver server({503, 500, 204, 400});
    const auto writer = server.writer();
    const auto row = one_series();
    begin(*writer, row);
    REQUIRE(soon([&] {
      // The first round that is written is the one that begins; a reading later than it is told for sure.
      read_now(*row, 715);
      writer->take({{"node-a", row}});
      return server.bodies().size() >= 3;
    }));
    REQUIRE(soon([&] { return writer->counted().sent >= 1; }));
    const auto bodies = server.bodies();
    CHECK(bodies[0] == bodies[1]);
    CHECK(bodies[1] == bodies[2]);
    CHECK(writer->counted().retries == 2);
    REQUIRE(soon([&] {
      read_now(*row, 720);
      writer->take({{"node-a", row}});
      return writer->counted().refused == 1;
    }));
    REQUIRE(soon([&] { return writer->counted().waiting_bytes == 0 && writer->counted().trouble.empty(); }));
    CHECK(writer->counted().lag == duration::zero());
  }

  TEST_CASE("a server that is away is named, and what has no room any more is counted") {
    const auto row = one_series();
    std::unique_ptr<exporter> writer;
    {
      receiver gone({});
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

  TEST_CASE("an exporter whose server never answers ends without waiting for it") {
    const descriptor silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{
        .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof at;
    REQUIRE(::bind(silent.get(), reinterpret_cast<const sockaddr*>(&at), size) == 0);
    REQUIRE(::listen(silent.get(), 8) == 0);
    REQUIRE(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&at), &size) == 0);
    settings s;
    s.to = {false, {"127.0.0.1", ntohs(at.sin_port)}, "/api/v1/write"};
    auto writer = exporter::open(std::move(s), logger("test", log_level::off)).value();
    const auto row = one_series();
    begin(*writer, row);
    REQUIRE(soon([&] {
      read_now(*row, 715);
      writer->take({{"node-a", row}});
      return writer->counted().lag > duration::zero();
    }));
    const auto start = std::chrono::steady_clock::now();
    writer.reset();
    CHECK(std::chrono::steady_clock::now() - start < 20s);  // the request's own deadline is 30 s away
  }
}

}  // namespace binnacle::exporter
