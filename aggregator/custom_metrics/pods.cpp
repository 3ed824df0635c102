#include "aggregator/custom_metrics/pods.hpp"

#include "aggregator/store/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace binnacle::custom_metrics {
namespace {

bool is_of(const metrics::label_set& labels, const pod& whose) {
  if (const std::string_view uid = metrics::label_of(labels, "pod_uid"); !uid.empty())
    return uid == whose.uid || uid == whose.static_uid;
  return metrics::label_of(labels, "pod") == whose.name &&
         metrics::label_of(labels, "namespace") == whose.name_space;
}

/// Neither a namespace nor a pod's name has a slash.
std::string full_name(std::string_view name_space, std::string_view name) {
  return fmt::format("{}/{}", name_space, name);
}

}  // namespace

own_readings::own_readings(std::string metric, const metrics::alias_table& names, questions::selector series)
    : metric_(std::move(metric)), name_(names.resolve(metric_)), series_(std::move(series)) {}

/// The family's series, under the name by which compile() finds them.
std::span<const std::uint32_t> own_readings::series_in(const store::shape& shape) const {
  if (name_.is_alias && !shape.of_family(metric_).empty()) return shape.of_family(metric_);
  const auto all = shape.of_family(name_.family);
  const bool by_other_name =
      all.empty() && !name_.otherwise.empty() && shape.of_flat(name_.family) == nullptr;
  return by_other_name ? shape.of_family(name_.otherwise) : all;
}

const own_readings::named_pods& own_readings::named_by(const std::shared_ptr<const store::shape>& shape) {
  const auto [at, is_new] = known_.try_emplace(shape.get());
  named_pods& found = at->second;
  if (!is_new) return found;
  found.shape = shape;
  for (const std::uint32_t i : series_in(*shape)) {
    ++looked_at_;
    const metrics::label_set& labels = shape->all[i].labels;
    if (const std::string_view uid = metrics::label_of(labels, "pod_uid"); !uid.empty()) {
      found.uids.emplace(uid);
      continue;
    }
    const std::string_view name = metrics::label_of(labels, "pod"),
                           name_space = metrics::label_of(labels, "namespace");
    if (!name.empty() && !name_space.empty()) found.names.insert(full_name(name_space, name));
  }
  return found;
}

std::optional<questions::reading> own_readings::of(const store::node_view& node, const pod& whose,
                                                   instant now) {
  if (node.cells == nullptr) return std::nullopt;
  const named_pods& named = named_by(node.cells->shared_shape());
  if (named.uids.empty() && named.names.empty()) return std::nullopt;

  questions::reading out;
  out.value.reason = absence::missing;
  if (!named.uids.contains(std::string(whose.uid)) && !named.uids.contains(std::string(whose.static_uid)) &&
      !named.names.contains(full_name(whose.name_space, whose.name)))
    return out;
  const store::shape& shape = *named.shape;
  looked_at_ += series_in(shape).size();
  const auto keep = [this, &whose](const metrics::label_set& l) {
    return is_of(l, whose) && series_.matches(l);
  };
  const store::plan plan = store::compile(shape, metric_, name_, keep);
  out.value = store::evaluate(plan, *node.cells, now);
  store::finish(plan, out.value);
  for (const std::uint16_t group : plan.groups)
    out.span = std::max<duration>(out.span, std::chrono::milliseconds(shape.groups[group].period_ms));
  return out;
}

}  // namespace binnacle::custom_metrics
