#include "common/http/answer.hpp"

#include <doctest/doctest.h>

namespace {

using namespace binnacle;
using slices = http::answer_slices;

TEST_SUITE("common/http/answer") {
  TEST_CASE("a head says length, type and nothing needless") {
    const auto r = http::response::json("{}", 200);
    CHECK(http::head_of(r, true, false) ==
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-Content-Type-Options: "
          "nosniff\r\n\r\n");
    CHECK(http::head_of(r, false, false).ends_with("Connection: close\r\n\r\n"));
    CHECK(http::head_of(r, true, true).ends_with("Connection: keep-alive\r\n\r\n"));
  }

  TEST_CASE("an answer that can have no body announces none") {
    http::response r;
    r.status = 304;
    CHECK(http::head_of(r, true, false).find("Content-Type:") == std::string::npos);
    CHECK(http::head_of(r, true, false).find("Content-Length") == std::string::npos);
  }

  TEST_CASE("a header value cannot become a second header") {
    http::response r;
    r.headers = {{"X-Echo", "a\r\nSet-Cookie: b"}};
    CHECK(http::head_of(r, true, false).find("X-Echo: aSet-Cookie: b\r\n") != std::string::npos);
  }

  TEST_CASE("slices give head and body in order, in full records, never more than 64 KiB") {
    const std::string head = "HEAD";
    for (const std::vector<std::size_t>& sizes : {std::vector<std::size_t>{},
                                                  {0},
                                                  {1},
                                                  {16380},
                                                  {16381},
                                                  {16384},
                                                  {230'000},
                                                  {100, 200, 300},
                                                  {20'000, 20'000, 0, 20'000},
                                                  std::vector<std::size_t>(1000, 77),
                                                  {200'000, 5, 200'000}}) {
      http::response r;
      std::string expected = head;
      char fill = 'a';
      for (const auto size : sizes) {
        r.body.emplace_back(size, fill);
        expected += r.body.back();
        fill = fill == 'z' ? 'a' : static_cast<char>(fill + 1);
      }
      slices s(r, head, true);
      std::string got;
      std::size_t short_ones = 0;
      for (auto piece = s.next(); !piece.empty(); piece = s.next()) {
        CHECK(piece.size() <= slices::largest);
        if (piece.size() % slices::record != 0) ++short_ones;
        got += piece;
      }
      CHECK(got == expected);
      CHECK(short_ones <= 1);  // only the last one may be short
      CHECK(s.next().empty());
    }
  }

  TEST_CASE("an answer of up to 64 KiB is one slice, its head included") {
    http::response r;
    r.body = {std::string(20'000, 'a'), std::string(slices::largest - 20'004, 'b')};
    slices whole(r, "HEAD", true);
    CHECK(whole.next().size() == slices::largest);
    CHECK(whole.next().empty());
    r.body.back() += 'c';
    slices cut(r, "HEAD", true);
    CHECK(cut.next().size() == slices::record);
  }

  TEST_CASE("an answer to HEAD has no body") {
    const auto r = http::response::text("hello");
    slices s(r, "HEAD", false);
    CHECK(s.next() == "HEAD");
    CHECK(s.next().empty());
  }
}

}  // namespace
