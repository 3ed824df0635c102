#include "common/http/request_parser.hpp"

#include <doctest/doctest.h>

#include <ostream>
#include <string>
#include <vector>

namespace binnacle::http {
std::ostream& operator<<(std::ostream& out, request_parser::phase p) {
  return out << "phase " << static_cast<int>(p);
}
}  // namespace binnacle::http

namespace {

using namespace binnacle;
using phase = http::request_parser::phase;

struct collected {
  std::string body;
  http::request_parser::sink sink = [this](std::string_view piece) {
    body += piece;
    return true;
  };
};

/// Feeds `text` in steps, as a connection does: bytes that are not taken are shown again, with more bytes
/// behind them.
std::size_t feed(http::request_parser& p, std::string_view text, std::size_t step,
                 const http::request_parser::sink& to, std::size_t body_limit = 1u << 20) {
  std::size_t used = 0;
  bool limited = false;
  for (std::size_t shown = std::min(step, text.size());;) {
    used += p.feed(text.substr(used, shown - used), to);
    if (!limited && p.now() != phase::head) {
      limited = true;
      p.limit_body(body_limit);
      continue;
    }
    if ((p.now() != phase::head && p.now() != phase::body) || shown == text.size()) return used;
    shown = std::min(text.size(), shown + step);
  }
}

const std::string post =
    "POST /scheduler/filter?a=b HTTP/1.1\r\nHost: here\r\nContent-TYPE: application/json\r\nContent-Length: "
    "11\r\n\r\nhello world";
const std::string chunked =
    "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;name=value\r\n "
    "world\r\n0\r\nChecksum: none\r\n\r\n";

TEST_SUITE("common/http/request_parser") {
  TEST_CASE("a request is the same however its bytes are split, and what follows it is left alone") {
    for (const std::string& text : {post, chunked}) {
      const std::string with_next = text + "GET / HTTP/1.1\r\n\r\n";
      for (std::size_t step = 1; step <= with_next.size(); ++step) {
        CAPTURE(step);
        http::request_parser p(1024);
        collected got;
        CHECK(feed(p, with_next, step, got.sink) == text.size());
        REQUIRE(p.now() == phase::done);
        CHECK(got.body == "hello world");
        CHECK(p.head().method == "POST");
        CHECK(p.keep_alive());
        CHECK(p.head().header("checksum") == nullptr);
      }
    }
    http::request_parser p(1024);
    collected got;
    feed(p, post, post.size(), got.sink);
    CHECK(p.head().target == "/scheduler/filter?a=b");
    REQUIRE(p.head().header("content-type") != nullptr);
    CHECK(*p.head().header("content-type") == "application/json");
    CHECK(p.content_length() == 11);
  }

  TEST_CASE("an empty chunked body may drip in (an assertion of Beast's fell over it)") {
    const std::string text = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    for (std::size_t step = 1; step <= text.size(); ++step) {
      http::request_parser p(1024);
      collected got;
      CHECK(feed(p, text + "GET", step, got.sink) == text.size());
      CHECK(p.now() == phase::done);
      CHECK(got.body.empty());
    }
  }

  TEST_CASE("the head is shown before the body is asked for") {
    http::request_parser p(1024);
    collected got;
    const auto used = p.feed(post, got.sink);
    CHECK(p.now() == phase::body);
    CHECK(used == post.size() - 11);
    CHECK(got.body.empty());
  }

  TEST_CASE("a request without a body is done with its head") {
    http::request_parser p(1024);
    collected got;
    const std::string text = "HEAD /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    CHECK(p.feed(text, got.sink) == text.size());
    CHECK(p.now() == phase::done);
    CHECK(p.is_head_request());
    CHECK(p.head().method == "GET");
    CHECK_FALSE(p.keep_alive());
  }

  TEST_CASE("HTTP/1.0 keeps a connection only when asked") {
    for (const bool asked : {false, true}) {
      http::request_parser p(1024);
      collected got;
      p.feed(std::string("GET / HTTP/1.0\r\n") + (asked ? "Connection: keep-alive\r\n" : "") + "\r\n",
             got.sink);
      REQUIRE(p.now() == phase::done);
      CHECK(p.is_http10());
      CHECK(p.keep_alive() == asked);
    }
  }

  TEST_CASE("what is wrong is refused with its status") {
    const std::string long_header =
        "GET / HTTP/1.1\r\nA: " + std::string(600, 'x') + "\r\nB: " + std::string(600, 'x') + "\r\n\r\n";
    struct row {
      std::string name;
      std::string text;
      unsigned status;
    };
    for (const row& r :
         {row{"not HTTP", "hello\r\n\r\n", 400},
          row{"no version", "GET /\r\n\r\n", 400},
          row{"HTTP/2", "GET / HTTP/2.0\r\n\r\n", 505},
          row{"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
          row{"a header without a colon", "GET / HTTP/1.1\r\nHost\r\n\r\n", 400},
          row{"a control character", std::string("GET / HTTP/1.1\r\nA: \x01\r\n\r\n"), 400},
          row{"long headers", long_header, 431},
          row{"a long request line", "GET /" + std::string(2000, 'a') + " HTTP/1.1\r\n\r\n", 431},
          row{"length twice", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
          row{"length of no number", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
          row{"length and chunks",
              "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
          row{"chunks and length",
              "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
          row{"an unknown coding", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
          row{"chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
          row{"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400},
          row{"an unknown expectation", "POST / HTTP/1.1\r\nExpect: miracles\r\n\r\n", 417},
          row{"a bad chunk size", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", 400},
          row{"a chunk without its end",
              "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabcdef\r\n", 400},
          row{"too long a body", "POST / HTTP/1.1\r\nContent-Length: 2000\r\n\r\n", 413},
          row{"too many chunks",
              "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + std::string(2000, 'x'),
              413}}) {
      for (const std::size_t step : {std::size_t{1}, std::size_t{7}, r.text.size()}) {
        CAPTURE(r.name);
        CAPTURE(step);
        http::request_parser p(1024);
        collected got;
        feed(p, r.text, step, got.sink, 1024);
        REQUIRE(p.now() == phase::refused);
        CHECK(p.status() == r.status);
        CHECK_FALSE(p.why().empty());
        CHECK(got.body.size() <= 1024);
        CHECK_FALSE(p.head().header("b") != nullptr);
      }
    }
  }

  TEST_CASE("a malformed chunk size is refused as soon as it is seen, though nothing follows") {
    const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::string& size : std::vector<std::string>{"zz\r\n", "z", "-1\r\n", "\n", "1\r\na\r\nzz\r\n",
                                                            "1g", std::string(65, '0')}) {
      for (const std::size_t step : {std::size_t{1}, std::size_t{100}}) {
        CAPTURE(size);
        CAPTURE(step);
        http::request_parser p(1024);
        collected got;
        feed(p, head + size, step, got.sink);
        REQUIRE(p.now() == phase::refused);
        CHECK(p.status() == 400);
        CHECK(p.why() == "the chunked body is malformed");
      }
    }
    for (const std::string& size : std::vector<std::string>{"a", "A;name=value", "0", "1\r\na\r",
                                                            "1\r\na\r\n", std::string(63, '0') + "a"}) {
      CAPTURE(size);
      http::request_parser p(1024);
      collected got;
      feed(p, head + size, 1, got.sink);
      CHECK(p.now() == phase::body);
    }
  }

  TEST_CASE("a sink that has enough ends the reading") {
    http::request_parser p(1024);
    std::size_t seen = 0;
    const http::request_parser::sink once = [&seen](std::string_view piece) {
      seen += piece.size();
      return false;
    };
    feed(p, post, 1, once);
    CHECK(p.now() == phase::stopped);
    CHECK(seen == 1);
  }
}

}  // namespace
