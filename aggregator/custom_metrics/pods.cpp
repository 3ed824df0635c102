#include "aggregator/custom_metrics/pods.hpp"

#include "aggregator/store/derive.hpp"

#include <algorithm>
#include <chrono>

namespace binnacle::custom_metrics {
namespace {

std::string_view value_of(const metrics::label_set& labels, std::string_view key) {
  const auto at = std::ranges::find_if(labels, [key](const auto& l) { return l.first == key; });
  return at == labels.end() ? std::string_view() : std::string_view(at->second);
}

bool names_a_pod(const metrics::label_set& labels) {
  return !value_of(labels, "pod_uid").empty() ||
         (!value_of(labels, "pod").empty() && !value_of(labels, "namespace").empty());
}

bool is_of(const metrics::label_set& labels, const pod& whose) {
  if (const std::string_view uid = value_of(labels, "pod_uid"); !uid.empty()) return uid == whose.uid;
  return value_of(labels, "pod") == whose.name && value_of(labels, "namespace") == whose.name_space;
}

}  // namespace

std::optional<reading> own_reading(const store::node_view& node, std::string_view metric, const pod& whose,
                                   const metrics::alias_table& names, instant now) {
  if (node.cells == nullptr) return std::nullopt;
  const store::shape& shape = node.cells->series();
  const metrics::resolved name = names.resolve(metric);
  const auto series = shape.of_family(name.family);
  const auto labels = [&](std::uint32_t i) -> const metrics::label_set& { return shape.all[i].labels; };
  if (!std::ranges::any_of(series, [&](std::uint32_t i) { return names_a_pod(labels(i)); }))
    return std::nullopt;

  reading out;
  out.value.reason = wire::absence::missing;
  const auto keep = [&whose](const metrics::label_set& l) { return is_of(l, whose); };
  if (!std::ranges::any_of(series, [&](std::uint32_t i) { return keep(labels(i)); })) return out;
  const store::plan plan = store::compile(shape, metric, name, keep);
  out.value = store::evaluate(plan, *node.cells, now);
  store::finish(plan, out.value);
  for (const std::uint16_t group : plan.groups)
    out.span = std::max<duration>(out.span, std::chrono::milliseconds(shape.groups[group].period_ms));
  return out;
}

}  // namespace binnacle::custom_metrics
