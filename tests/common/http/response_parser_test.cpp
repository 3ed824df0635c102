#include "common/http/response_parser.hpp"

#include <doctest/doctest.h>

namespace {

using namespace binnacle;
using phase = http::response_parser::phase;

struct reading {
  http::response_parser parser{1024};
  std::string body;
  std::string left;  // bytes that the parser has not taken yet

  void feed(std::string_view bytes) {
    const http::response_parser::sink to = [this](std::string_view piece) {
      body += piece;
      return true;
    };
    left += bytes;
    for (bool limited = parser.now() != phase::head;;) {
      left.erase(0, parser.feed(left, to));
      if (limited || parser.now() == phase::head) return;
      limited = true;
      parser.limit_body(100);
    }
  }
};

TEST_SUITE("common/http/response_parser") {
  TEST_CASE("an answer is the same however its bytes are split") {
    for (const std::string text :
         {"HTTP/1.1 200 OK\r\nContent-TYPE: application/json\r\nContent-Length: 11\r\n\r\nhello world",
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello "
          "\r\n5\r\nworld\r\n0\r\n\r\n"}) {
      for (std::size_t step = 1; step <= text.size(); ++step) {
        CAPTURE(step);
        reading r;
        for (std::size_t at = 0; at < text.size(); at += step)
          r.feed(std::string_view(text).substr(at, step));
        REQUIRE(r.parser.now() == phase::done);
        CHECK(r.body == "hello world");
        CHECK(r.parser.head().status == 200);
        REQUIRE(r.parser.head().header("content-type") != nullptr);
        CHECK(*r.parser.head().header("content-type") == "application/json");
        CHECK(r.parser.keep_alive());
      }
    }
  }

  TEST_CASE("the pieces of a stream are there as soon as their chunk has come") {
    reading r;
    r.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    CHECK(r.parser.now() == phase::body);
    r.feed("4\r\none\n\r\n");
    CHECK(r.body == "one\n");
    r.feed("4\r\ntwo\n");
    CHECK(r.body == "one\ntwo\n");
    CHECK(r.parser.now() == phase::body);
  }

  TEST_CASE("a body without a length is complete when the connection ends") {
    reading r;
    r.feed("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nsome");
    CHECK(r.parser.now() == phase::body);
    r.parser.end();
    CHECK(r.parser.now() == phase::done);
    CHECK(r.body == "some");
    CHECK_FALSE(r.parser.keep_alive());
  }

  TEST_CASE("an end in the middle is no answer") {
    for (const char* text :
         {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
      CAPTURE(text);
      reading r;
      r.feed(text);
      r.parser.end();
      CHECK(r.parser.now() == phase::refused);
      CHECK(r.parser.why().code == errc::disconnected);
    }
  }

  TEST_CASE("what is too large is refused, announced or not") {
    for (const std::string head :
         {"Content-Length: 101", "Transfer-Encoding: chunked", "Connection: close"}) {
      CAPTURE(head);
      reading r;
      r.feed("HTTP/1.1 200 OK\r\n" + head + "\r\n\r\n");
      const std::string body(101, 'x');
      r.feed(head.starts_with('T') ? "65\r\n" + body + "\r\n" : body);
      CHECK(r.parser.now() == phase::refused);
      CHECK(r.parser.why().code == errc::overloaded);
    }
    reading r;
    r.feed("HTTP/1.1 200 OK\r\nA: " + std::string(2000, 'x'));
    CHECK(r.parser.now() == phase::refused);
  }

  TEST_CASE("what is no HTTP answer is told apart from one that ended early") {
    for (const char* text :
         {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
          "HTTP/1.1 099 No\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"}) {
      CAPTURE(text);
      reading r;
      r.feed(text);
      CHECK(r.parser.now() == phase::refused);
      CHECK(r.parser.why().code == errc::protocol);
    }
  }

  TEST_CASE("defect: an informational answer before the answer was refused") {
    const std::string continues = "HTTP/1.1 100 Continue\r\n\r\n";
    const std::string text = continues +
                             "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 3\r\n\r\n" +
                             "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
    for (std::size_t step = 1; step <= text.size(); ++step) {
      CAPTURE(step);
      reading r;
      for (std::size_t at = 0; at < text.size(); at += step) r.feed(std::string_view(text).substr(at, step));
      REQUIRE(r.parser.now() == phase::done);
      CHECK(r.body == "hello");
      CHECK(r.parser.head().status == 200);
      CHECK(r.parser.head().header("link") == nullptr);
      CHECK(r.parser.keep_alive());
    }
    reading many;
    for (unsigned i = 0; i < http::response_parser::most_informational; ++i) many.feed(continues);
    CHECK(many.parser.now() == phase::head);
    many.feed(continues);
    CHECK(many.parser.now() == phase::refused);
    CHECK(many.parser.why().code == errc::protocol);
    reading ended;
    ended.feed(continues);
    ended.parser.end();
    CHECK(ended.parser.now() == phase::refused);
    CHECK(ended.parser.why().code == errc::disconnected);
  }

  TEST_CASE("an answer that can have no body is done with its head") {
    reading r;
    r.feed("HTTP/1.1 204 No Content\r\n\r\n");
    CHECK(r.parser.now() == phase::done);
    CHECK(r.body.empty());
  }
}

}  // namespace
