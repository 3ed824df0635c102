#include "aggregator/policy/policy.hpp"

#include "aggregator/policy/strategies.hpp"
#include "common/fnv1a.hpp"
#include "common/text/plain.hpp"
#include "common/text/read_number.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::policy {
namespace {

void add(fnv1a& hash, const rule& r) {
  hash.add_field(r.metric);
  hash.add_field(to_string(r.op));
  hash.add_field(plain(r.target));
  hash.add_field(fmt::format("{} {} {} {}", r.window.count(), static_cast<int>(r.stat), r.hold.count(),
                             r.stale_after ? r.stale_after->count() : -1));
  hash.add_field(r.clear ? plain(*r.clear) : "");
  for (const auto& [key, value] : r.labels) {
    hash.add_field(key);
    hash.add_field(value);
  }
}

}  // namespace

std::string_view to_string(strategy_kind k) noexcept { return description_of(k).name; }
std::string_view to_string(logic l) noexcept { return l == logic::any_of ? "anyOf" : "allOf"; }
std::string_view to_string(missing m) noexcept { return m == missing::allow ? "Allow" : "Reject"; }
std::string_view to_string(mode m) noexcept { return m == mode::enforce ? "Enforce" : "DryRun"; }

std::string to_string(node_limit l) { return fmt::format("{}{}", l.count, l.percent ? "%" : ""); }

result<node_limit> parse_node_limit(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto count = read_number<std::uint32_t>(text.substr(0, text.size() - (percent ? 1 : 0)));
  if (!count)
    return invalid(
        fmt::format("{} is neither a number of nodes (3) nor a share of them (\"20%\")", in_quotes(text)));
  if (*count == 0) return invalid("is at least one node: to label none, set spec.mode: DryRun");
  if (percent && *count > 100)
    return invalid(fmt::format("{} is more than all nodes: at most 100%", in_quotes(text)));
  return node_limit{*count, percent};
}

namespace {

/// "rapl_power_watts", "rapl_power_watts (avg 30s)".
std::string what(const rule& r) {
  if (r.window <= duration::zero()) return r.metric;
  return fmt::format("{} ({} {})", r.metric, to_string(r.stat), duration_text(r.window));
}

}  // namespace

std::string rule::text() const {
  std::string out = fmt::format("{} {} {}", what(*this), to_string(op), plain(target));
  if (hold > duration::zero()) out += " for " + duration_text(hold);
  return out;
}

std::string rule::order_text() const {
  switch (towards(op)) {
    case direction::smaller: return what(*this) + ", lowest first";
    case direction::larger: return what(*this) + ", highest first";
    case direction::at_target: break;
  }
  return fmt::format("{}, nearest to {} first", what(*this), plain(target));
}

std::string to_string(const power_terms& t) {
  if (!predict::has_cap(t.objective)) return std::string(to_string(t.objective));
  return fmt::format("{} up to {:.0f} % load", to_string(t.objective), 100 * t.max_load);
}

std::vector<rule> power_rules() {
  rule load;
  load.metric = load_metric;
  load.window = std::chrono::seconds(10);
  return {load};
}

const strategy* policy::find(strategy_kind kind) const noexcept {
  const auto at = std::find_if(strategies.begin(), strategies.end(),
                               [kind](const strategy& s) { return s.kind == kind; });
  return at == strategies.end() ? nullptr : &*at;
}

std::uint64_t content_revision(const policy& p) {
  fnv1a hash;
  hash.add_field(p.key.name_space);
  hash.add_field(p.key.name);
  hash.add_field(to_string(p.how));
  // A policy without this field keeps the revision that it had before the field existed.
  if (p.damping == herd_damping::disabled) hash.add_field("herdDamping");
  for (const strategy& s : p.strategies) {
    hash.add_field(to_string(s.kind));
    hash.add_field(to_string(s.op));
    hash.add_field(to_string(s.on_missing));
    hash.add_field(s.max_nodes ? to_string(*s.max_nodes) : "");
    hash.add_field(fmt::format("{} {}", s.cool_down.count(), s.rules.size()));
    for (const rule& r : s.rules) add(hash, r);
    if (description_of(s.kind).has_power_terms) {
      hash.add(fmt::format("{} {} {} {}", to_string(s.power.objective), static_cast<int>(s.power.model),
                           s.power.max_load, s.power.pod_usage));
      if (s.power.format == cpu_format::raw) hash.add_field("Raw");
    }
  }
  // 32 bits: a number that JavaScript and jq keep whole, and a person can compare.
  return (hash.value() ^ hash.value() >> 32) & 0xffffffff;
}

}  // namespace binnacle::policy
