// A request, its target and its route; any bytes may come. The outcome is the same however the bytes are
// split, and all limits hold.
#include "common/http/request_parser.hpp"
#include "common/http/router.hpp"
#include "common/http/target.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz_http {

namespace {

using namespace binnacle;
using phase = http::request_parser::phase;

constexpr std::size_t header_limit = 2048;
constexpr std::size_t body_limit = 512;

struct outcome {
  phase end = phase::head;
  unsigned status = 0;
  std::string target, body;
  std::size_t headers = 0, used = 0;
  bool operator==(const outcome&) const = default;
};

outcome parse(std::string_view input, std::size_t step) {
  http::request_parser parser(header_limit);
  outcome out;
  const http::request_parser::sink keep = [&out](std::string_view piece) {
    out.body += piece;
    return true;
  };
  bool limited = false;
  for (std::size_t shown = 0; out.used < input.size();) {
    shown = std::max(shown, std::min(input.size(), std::max(shown, out.used) + step));
    const auto taken = parser.feed(input.substr(out.used, shown - out.used), keep);
    out.used += taken;
    if (parser.now() != phase::head && !limited) {
      limited = true;
      if (parser.now() != phase::refused) parser.limit_body(body_limit);
      continue;
    }
    if (parser.now() != phase::head && parser.now() != phase::body) break;
    if (taken == 0 && shown == input.size()) break;
  }
  if (!limited && parser.now() != phase::head && parser.now() != phase::refused)
    parser.limit_body(body_limit);
  out.end = parser.now();
  out.status = out.end == phase::refused ? parser.status() : 0;
  // How much was read of a refused request or of an incomplete head does not matter.
  if (out.end == phase::refused || out.end == phase::head) {
    out.used = 0;
    out.body.clear();
    return out;
  }
  out.target = parser.head().target;
  out.headers = parser.head().headers.size();
  return out;
}

void require(bool held) {
  if (!held) std::abort();
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const outcome whole = parse(input, input.size() + 1);
  const outcome split = parse(input, std::size_t{data[0]} % 17 + 1);
  // The parser checks a head that comes in pieces only when it is complete. So a mistake in an incomplete
  // head may be noticed later.
  const auto nothing_yet = [](const outcome& o) { return o.end == phase::refused || o.end == phase::head; };
  require(nothing_yet(whole) ? nothing_yet(split) : whole == split);
  require(whole.body.size() <= body_limit);
  require(whole.end != phase::refused || whole.status >= 400);

  http::request request;
  request.method = "GET";
  if (http::parse_target(input, request).has_value()) {
    http::router router;
    router.add("GET", "/a/b",
               [](const http::request&, std::string_view) { return http::response::text("ab"); });
    router.add_prefix("/apis",
                      [](const http::request&, std::string_view) { return http::response::text("apis"); });
    const auto found = router.find(request);
    require((found.simple != nullptr) != found.refusal.has_value());
  }
  return 0;
}

}  // namespace fuzz_http
