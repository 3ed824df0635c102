// The scrape source with hostile exporters on loopback. Each of them must cost its budget and no more.
#include "tests/agent/sources/scrape/exporter.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

namespace scrape_hostile_test {

namespace {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::agent::test;

// AddressSanitizer keeps freed memory for a while, so the process's memory shows nothing there.
#ifdef __SANITIZE_ADDRESS__
constexpr long most_kib = std::numeric_limits<long>::max();
#else
constexpr long most_kib = 8'000;
#endif

/// The most memory that this process has held since reset_peak(). Source: proc(5), VmHWM and clear_refs.
long peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  throw std::runtime_error("no VmHWM");
}
long reset_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
  return peak_kib();
}

TEST_SUITE("agent/sources/scrape/hostile") {
  TEST_CASE("an endless body ends at its bytes, and holds no memory meanwhile") {
    with_exporter([](async::loop& on, exporter& e) -> task<void> {
      std::string says;
      SUBCASE("of comments") {
        says = "larger than what is taken here: narrow what it serves";
        e.does = [](async::stream& peer) -> task<void> {
          auto sent = co_await peer.write("HTTP/1.1 200 OK\r\n\r\n", within(5s));
          const std::string piece(64u << 10, '#');
          while (sent) sent = co_await peer.write(piece + "\n", within(5s));
        };
      }
      SUBCASE("of one line") {
        says = "line 1: the line is too long";
        e.does = [](async::stream& peer) -> task<void> {
          auto sent = co_await peer.write("HTTP/1.1 200 OK\r\n\r\n", within(5s));
          const std::string piece(64u << 10, 'a');
          while (sent) sent = co_await peer.write(piece, within(5s));
        };
      }
      SUBCASE("of one chunk's extension") {
        says = "a chunk header or trailer is too long";
        e.does = [](async::stream& peer) -> task<void> {
          auto sent =
              co_await peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=", within(5s));
          const std::string piece(64u << 10, 'a');
          while (sent) sent = co_await peer.write(piece, within(5s));
        };
      }
      SUBCASE("of a trailer") {
        says = "a chunk header or trailer is too long";
        e.does = [](async::stream& peer) -> task<void> {
          auto sent = co_await peer.write(
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n#\n\r\n0\r\n", within(5s));
          std::string piece;
          while (piece.size() < (64u << 10)) piece += "X-Header: value\r\n";
          while (sent) sent = co_await peer.write(piece, within(5s));
        };
      }
      SUBCASE("of samples") {
        says = "more than 100000 series";
        e.does = [](async::stream& peer) -> task<void> {
          auto sent = co_await peer.write("HTTP/1.1 200 OK\r\n\r\n", within(5s));
          for (std::size_t i = 0; sent; i += 1000) {
            std::string piece;
            for (std::size_t k = 0; k < 1000; ++k) piece += "a{i=\"" + std::to_string(i + k) + "\"} 1\n";
            sent = co_await peer.write(piece, within(5s));
          }
        };
      }
      SUBCASE("of families") {
        says = "too many metrics are described";
        e.does = [](async::stream& peer) -> task<void> {
          auto sent = co_await peer.write("HTTP/1.1 200 OK\r\n\r\n", within(5s));
          for (std::size_t i = 0; sent; i += 1000) {
            std::string piece;
            for (std::size_t k = 0; k < 1000; ++k) piece += "# TYPE a" + std::to_string(i + k) + " gauge\n";
            sent = co_await peer.write(piece, within(5s));
          }
        };
      }
      auto t = e.target();
      t.timeout = 60s;  // so long that it ends nothing here, on a slow machine either
      t.bytes = 16u << 20;
      bench b(on, {t});
      const auto before = reset_peak();
      co_await b.next();
      CHECK(peak_kib() - before < most_kib);
      CHECK(b.up() == "0");
      CHECK(b.out.live_series() < 10);
      CHECK_MESSAGE(b.source->limitation().find(says) != std::string::npos, b.source->limitation());
    });
  }

  TEST_CASE("a million series in one answer cost no more memory than the series that are taken") {
    with_exporter([](async::loop& on, exporter& e) -> task<void> {
      e.does = [](async::stream& peer) -> task<void> {
        auto sent = co_await peer.write("HTTP/1.1 200 OK\r\n\r\n", within(5s));
        for (std::size_t i = 0; sent && i < 1'000'000; i += 1000) {
          std::string piece;
          for (std::size_t k = 0; k < 1000; ++k) piece += "a{i=\"" + std::to_string(i + k) + "\"} 1\n";
          sent = co_await peer.write(piece, within(5s));
        }
        peer.end_writing();
      };
      auto t = e.target();
      t.timeout = 60s;  // so long that it ends nothing here, on a slow machine either
      t.bytes = 64u << 20;
      bench b(on, {t});
      const auto before = reset_peak();
      co_await b.next();
      CHECK(peak_kib() - before < most_kib);
      CHECK(b.up() == "0");  // more samples than any answer may have
      CHECK(b.source->limitation().find("more than 100000 series") != std::string::npos);
    });
  }

  TEST_CASE("a slow drip ends at the timeout") {
    with_exporter([](async::loop& on, exporter& e) -> task<void> {
      SUBCASE("of the body") {
        e.does = [](async::stream& peer) -> task<void> {
          auto sent = co_await peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", within(5s));
          while (sent) {
            sent = co_await peer.write("a", within(5s));
            co_await async::sleep_for(10ms);
          }
        };
      }
      SUBCASE("of the head") {
        e.does = [](async::stream& peer) -> task<void> {
          auto sent = co_await peer.write("HTTP/1.1 200 OK\r\nX: ", within(5s));
          while (sent) {
            sent = co_await peer.write("a", within(5s));
            co_await async::sleep_for(10ms);
          }
        };
      }
      SUBCASE("of nothing at all") {
        e.does = [](async::stream&) -> task<void> { co_await async::sleep_for(10s); };
      }
      auto t = e.target();
      t.timeout = 200ms;
      bench b(on, {t});
      co_await b.next();
      CHECK(b.source->limitation().find("in time: if it is slow") != std::string::npos);
      CHECK(e.accepted == 1);
      e.group.cancel();
    });
  }

  TEST_CASE("tricks with the head and with chunks end in a refusal") {
    struct row {
      std::string says;
      bool for_ever;  // sends the last 16 bytes again and again
    };
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
    const row rows[] = {
        {ok + "X: 0123456789abcdef", true},
        {chunked + "1;ext=0123456789abcdef", true},
        {chunked + "0000000000000000", true},
        {chunked + "2\r\na \r\n2\r\n1\n\r\n0\r\nX: 0123456789abcdef", true},
        {chunked + "ffffffffffffffffff\r\n", false},
        {chunked + "-1\r\na\r\n", false},
        {chunked + "zz\r\n", false},
        {ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false},
        {ok + "Content-Length: 99999999999999999999\r\n\r\n", false},
        {ok + "Content-Length: 4\r\nContent-Length: 5\r\n\r\na 1\n", false},
        {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", false},
        {"HTTP/1.1 100 Continue\r\n\r\n", false},
        {"HTTP/1.1 99999 X\r\n\r\n", false},
    };
    for (const auto& r : rows) {
      CAPTURE(r.says);
      with_exporter([&r](async::loop& on, exporter& e) -> task<void> {
        e.says = r.says;
        if (r.for_ever) {
          for (int i = 0; i < 20'000; ++i) e.says += r.says.substr(r.says.size() - 16);
        }
        auto t = e.target();
        t.timeout = 2s;
        bench b(on, {t});
        co_await b.next();
        CHECK(b.up() == "0");
        CHECK_MESSAGE(b.source->limitation().find("in time") == std::string::npos, b.source->limitation());
      });
    }
  }
}

}  // namespace

}  // namespace scrape_hostile_test
