#include "cli/dashboard/fleet.hpp"

#include "common/text/json_writer.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace binnacle::cli::dashboard {
namespace {

/// Two answers with the same reading may differ in its computed time by this much, because they took
/// different times to arrive.
constexpr std::int64_t same_reading_ms = 400;

/// A copy of the object without the members `names`.
json::object without(const json::object& o, std::initializer_list<std::string_view> names) {
  json::object rest;
  for (const auto& m : o) {
    if (std::ranges::find(names, std::string_view(m.key())) == names.end()) rest.emplace(m.key(), m.value());
  }
  return rest;
}

}  // namespace

std::uint64_t fleet::node::changed() const {
  return std::max({head.changed, shown_values.changed, verdicts.changed});
}

void fleet::set(part& p, std::string text) const {
  if (p.text == text) return;
  p.text = std::move(text);
  p.changed = version_;
}

void fleet::take_values(node& n, const json::object& values, std::int64_t now_ms) {
  bool same = n.values.size() == values.size();
  for (const auto& m : values) {
    value v;
    const std::int64_t age = integer(m.value(), "ageMs", -1);
    if (age >= 0) v.read_ms = now_ms - age;
    if (const json::object* o = m.value().if_object()) v.what = to_text(without(*o, {"ageMs"}));
    value& known = n.values[std::string(m.key())];
    if (known.what == v.what && (known.read_ms < 0) == (v.read_ms < 0) &&
        std::abs(known.read_ms - v.read_ms) < same_reading_ms)
      continue;
    known = std::move(v);
    same = false;
  }
  if (same) return;
  std::erase_if(n.values, [&](const auto& known) { return !values.contains(known.first); });
  std::string text;
  json_writer out(text);
  out.begin_object();
  for (const auto& [metric, v] : n.values) {
    out.key(metric);
    // `what` is already the text of an object: the reading's time is inserted before its closing brace.
    std::string fields = v.what.empty() ? "{}" : v.what;
    if (v.read_ms >= 0) {
      fields.pop_back();
      fields += (fields.size() > 1 ? "," : "") + ("\"readMs\":" + std::to_string(v.read_ms)) + "}";
    }
    out.raw(fields);
  }
  out.end_object();
  set(n.shown_values, std::move(text));
}

void fleet::take(const json::value& answer, std::int64_t now_ms) {
  ++version_;
  now_ms_ = now_ms;
  total_ = integer(answer, "total");
  omitted_ = integer(answer, "omitted");
  strategies_omitted_ = integer(answer, "strategiesOmitted");
  std::string metrics = to_text(list(answer, "metrics"));
  if (metrics != metrics_) whole_since_ = version_;
  metrics_ = std::move(metrics);
  for (const json::value& told : list(answer, "nodes")) {
    const json::object* o = told.if_object();
    const json::value* name = member(told, "name");
    if (o == nullptr || name == nullptr || !name->is_string()) continue;
    node& n = nodes_[std::string(name->get_string())];
    n.seen = version_;
    set(n.head, to_text(without(*o, {"name", "seenMs", "values", "verdicts"})));
    set(n.verdicts, to_text(list(told, "verdicts")));
    take_values(n, object(told, "values"), now_ms);
  }
  if (std::erase_if(nodes_, [&](const auto& n) { return n.second.seen != version_; }) > 0)
    whole_since_ = version_;
}

std::string fleet::since(std::uint64_t seen) const {
  const bool whole = seen < whole_since_ || seen == 0;
  std::string text;
  json_writer out(text);
  out.begin_object().field("version", version_).field("whole", whole).field("nowMs", now_ms_);
  out.key("metrics").raw(metrics_);
  out.field("total", total_).field("omitted", omitted_);
  if (strategies_omitted_ > 0) out.field("strategiesOmitted", strategies_omitted_);
  out.key("nodes").begin_array();
  for (const auto& [name, n] : nodes_) {
    if (!whole && n.changed() <= seen) continue;
    out.begin_object().field("name", name);
    const auto add = [&](const char* key, const part& p) {
      if (whole || p.changed > seen) out.key(key).raw(p.text.empty() ? "{}" : p.text);
    };
    add("head", n.head);
    add("values", n.shown_values);
    add("verdicts", n.verdicts);
    out.end_object();
  }
  out.end_array().end_object();
  return text;
}

}  // namespace binnacle::cli::dashboard
