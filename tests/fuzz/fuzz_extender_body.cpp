// Bodies of scheduler calls. The first byte says how the rest is cut into pieces. For any body:
//   - the answer is 200 or 4xx and always JSON;
//   - the same body, cut otherwise, is also accepted or also refused, and if accepted has the same answer;
//   - a body that is answered 200 starts with one JSON value, as Boost.JSON's own parser reads it, and the
//     names in it are the names that were decided on.
#include "aggregator/decision/explain.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/fuzz/target.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace fuzz_extender_body {

namespace {

using namespace binnacle;

#define REQUIRE_THAT(condition) \
  if (!(condition)) std::abort()

std::unique_ptr<test::fleet> small_fleet() {
  auto f = std::make_unique<test::fleet>();
  f->settings.limits = {1u << 20, 64, 64};
  f->settings.early_nodes = 4096;
  f->decisions = decision::ring({64u << 10, 20});
  f->value("node-a", "watts", {412, -1});
  f->value("node-b", "watts", {714, -1});
  f->node("node-c");
  policy::policy p;
  p.key = {"default", "p"};
  p.strategies.push_back(
      test::fleet::dontschedule({test::fleet::rule("watts", policy::comparison::greater_than, 60)}));
  p.strategies.push_back(
      test::fleet::scheduleonmetric(test::fleet::rule("watts", policy::comparison::less_than, 0)));
  f->publish(p);
  return f;
}

bool is_json(const std::string& text) {
  boost::json::error_code ec;
  boost::json::parse_options deep;
  deep.max_depth = 80;
  boost::json::parse(text, ec, {}, deep);
  return !ec;
}

/// The first JSON value of the body; null if there is none.
boost::json::value first_value(std::string_view body) {
  boost::json::parse_options deep;
  deep.max_depth = 80;
  boost::json::stream_parser parser({}, deep);
  boost::json::error_code ec;
  parser.write_some(body.data(), body.size(), ec);
  if (!ec && !parser.done()) parser.finish(ec);
  return !ec && parser.done() ? parser.release() : boost::json::value();
}

const boost::json::value* member(const boost::json::object& in, std::string_view lower_case) {
  for (const auto& [key, value] : in) {
    if (extender::same_key(key, lower_case)) return &value;
  }
  return nullptr;
}

/// Whether the names in `answer` are those of the request without the refused ones, each once, in the order
/// of the request.
bool names_agree(const boost::json::object& asked, const boost::json::object& answer,
                 const decision::record& r) {
  if (answer.at("NodeNames").is_null()) return true;
  const auto& got = answer.at("NodeNames").as_array();
  const auto* names = member(asked, "nodenames");
  if (names == nullptr || !names->is_array()) return false;
  boost::json::array once;
  for (const auto& name : names->as_array()) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
  }
  if (once.size() != r.asked) return false;
  std::size_t next = 0;
  for (const auto& name : once) {
    if (next < got.size() && got[next] == name) ++next;
  }
  return next == got.size() && got.size() == r.asked - r.refused;
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  static const auto fleet = small_fleet();
  if (size == 0) return 0;
  const std::size_t piece = data[0] + 1u;
  // A separate allocation, so that the sanitizer sees a read past its end.
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);

  const auto whole = fleet->filter(body, body.size() + 1);
  if (whole.status == 200) {
    const auto asked = first_value(body);
    REQUIRE_THAT(asked.is_object());
    REQUIRE_THAT(names_agree(asked.as_object(), boost::json::parse(whole.body).as_object(),
                             *fleet->decisions.find({}).at(0)));
  }
  const auto scores = fleet->prioritize(body, body.size() + 1);
  const auto cut = fleet->filter(body, piece);
  const auto cut_scores = fleet->prioritize(body, piece);
  for (const auto* answer : {&whole, &scores, &cut, &cut_scores}) {
    REQUIRE_THAT(answer->status == 200 || answer->status == 400 || answer->status == 413);
    REQUIRE_THAT(is_json(answer->body));
  }
  // A body with two mistakes may be refused for either, depending on where it is cut: 400 if it is not valid,
  // 413 if it is too large.
  const auto same = [](const auto& one, const auto& other) {
    return one.status == 200 ? other.status == 200 && one.body == other.body : other.status != 200;
  };
  REQUIRE_THAT(same(whole, cut));
  REQUIRE_THAT(same(scores, cut_scores));
  REQUIRE_THAT(fleet->decisions.bytes() <= (64u << 10));
  for (const decision::record* r : fleet->decisions.find({.limit = 2}))
    REQUIRE_THAT(is_json(decision::to_json(*r, fleet->decisions.names())));
  return 0;
}

}  // namespace fuzz_extender_body
