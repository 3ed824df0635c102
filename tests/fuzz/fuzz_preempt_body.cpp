// Bodies of preempt calls. The first byte says how the rest is cut into pieces. For any body:
//   - the answer is 200, 400 or 413, and always JSON;
//   - the same body, cut otherwise, is also accepted or also refused, and if accepted has the same answer;
//   - an answer 200 holds nodes of the request, each with as many victims as it came with, and as many nodes
//     as the record says.
#include "aggregator/extender/object_handler.hpp"
#include "tests/aggregator/extender/fleet.hpp"
#include "tests/fuzz/target.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace fuzz_preempt_body {

namespace {

using namespace binnacle;

#define REQUIRE_THAT(condition) \
  if (!(condition)) std::abort()

std::unique_ptr<test::fleet> small_fleet() {
  auto f = std::make_unique<test::fleet>();
  f->settings.limits = {1u << 20, 64, 64};
  f->settings.victims = {32, 4096};
  f->decisions = decision::ring({64u << 10, 20});
  f->value("node-a", "watts", {412, -1});
  f->value("node-b", "watts", {714, -1});
  f->node("node-c");
  policy::policy p;
  p.key = {"default", "p"};
  p.strategies.push_back(
      test::fleet::dontschedule({test::fleet::rule("watts", policy::comparison::greater_than, 60)}));
  f->publish(p);
  return f;
}

/// The first JSON value of a body; null if there is none.
boost::json::value first_value(std::string_view body) {
  boost::json::parse_options deep;
  deep.max_depth = 80;
  boost::json::stream_parser parser({}, deep);
  boost::json::error_code ec;
  parser.write_some(body.data(), body.size(), ec);
  if (!ec && !parser.done()) parser.finish(ec);
  return !ec && parser.done() ? parser.release() : boost::json::value();
}

/// The member of that name if it is an object or an array; else null.
const boost::json::value* member(const boost::json::object& in, std::string_view lower_case) {
  for (const auto& [key, value] : in) {
    if (extender::same_key(key, lower_case) && (value.is_object() || value.is_array())) return &value;
  }
  return nullptr;
}

/// How many victims the request names at a node; nothing if it does not name the node.
std::optional<std::size_t> victims_at(const boost::json::object& asked, std::string_view node) {
  for (const char* map : {"nodenametovictims", "nodenametometavictims"}) {
    const auto* entries = member(asked, map);
    const auto* entry = entries == nullptr ? nullptr : entries->as_object().if_contains(node);
    if (entry == nullptr) continue;
    const auto* pods = entry->is_object() ? member(entry->as_object(), "pods") : nullptr;
    return pods == nullptr ? 0 : pods->as_array().size();
  }
  return {};
}

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  static const auto fleet = small_fleet();
  if (size == 0) return 0;
  const std::size_t piece = data[0] + 1u;
  // A separate allocation, so that the sanitizer sees a read past its end.
  const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);

  const auto whole = fleet->preempt(body, body.size() + 1);
  REQUIRE_THAT(whole.status == 200 || whole.status == 400 || whole.status == 413);
  const auto answer = first_value(whole.body);
  REQUIRE_THAT(answer.is_object());
  if (whole.status == 200) {
    const auto asked = first_value(body);
    REQUIRE_THAT(asked.is_object());
    const auto& nodes = answer.at("NodeNameToMetaVictims").as_object();
    const decision::record& r = *fleet->decisions.find({}).at(0);
    REQUIRE_THAT(nodes.size() == r.asked - r.refused);
    for (const auto& [name, entry] : nodes)
      REQUIRE_THAT(victims_at(asked.as_object(), name) == entry.at("Pods").as_array().size());
  }
  const auto cut = fleet->preempt(body, piece);
  // A body with two mistakes may be refused for either, depending on where it is cut.
  REQUIRE_THAT((whole.status == 200) == (cut.status == 200));
  if (whole.status == 200) REQUIRE_THAT(whole.body == cut.body);
  REQUIRE_THAT(fleet->decisions.bytes() <= (64u << 10));
  return 0;
}

}  // namespace fuzz_preempt_body
