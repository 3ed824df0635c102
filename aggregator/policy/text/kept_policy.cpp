// Versions of policies as text.
//
// A kept version is written in the form that users write, and read by the reader of their texts. So nothing
// that comes from a state file or another replica says more than an object may say, and a new field has one
// reader.

#include "aggregator/policy/text/kept_policy.hpp"

#include "aggregator/policy/strategies.hpp"
#include "aggregator/policy/text/yaml.hpp"
#include "common/text/plain.hpp"

#include <fmt/format.h>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

namespace binnacle::policy {
namespace {

/// A mapping in one line, "{name: "value", …}", whose values are all quoted.
class flow_map {
 public:
  explicit flow_map(YAML::Emitter& out) : out_(out) { out_ << YAML::Flow << YAML::BeginMap; }
  ~flow_map() { out_ << YAML::EndMap; }
  flow_map(const flow_map&) = delete;
  flow_map& operator=(const flow_map&) = delete;

  void key(std::string_view name) { out_ << YAML::Key << std::string(name) << YAML::Value; }
  void add(std::string_view name, std::string_view value) {
    key(name);
    out_ << YAML::DoubleQuoted << std::string(value);
  }
  /// Whole nanoseconds, which no rounding changes.
  void add(std::string_view name, duration d) { add(name, fmt::format("{}ns", d.count())); }

 private:
  YAML::Emitter& out_;
};

void write(YAML::Emitter& out, const rule& r) {
  flow_map fields(out);
  fields.add("metricname", r.metric);
  fields.add("operator", to_string(r.op));
  fields.add("targetQuantity", plain(r.target));
  if (r.window > duration::zero() || r.stat != store::statistic::avg) {
    fields.add("window", r.window);
    fields.add("statistic", store::to_string(r.stat));
  }
  if (r.hold > duration::zero()) fields.add("for", r.hold);
  if (r.clear) fields.add(clearing_key(r.op), plain(*r.clear));
  if (r.stale_after) fields.add("staleAfter", *r.stale_after);
  if (r.labels.empty()) return;
  fields.key("labels");
  out << YAML::Flow << YAML::BeginSeq;
  for (const auto& [key, value] : r.labels) out << YAML::DoubleQuoted << key + "=" + value;
  out << YAML::EndSeq;
}

std::string_view to_string(power_model m) {
  switch (m) {
    case power_model::automatic: return "Auto";
    case power_model::learned: return "Learned";
    case power_model::external: return "External";
  }
  return {};
}

void write(YAML::Emitter& out, const strategy& s) {
  const strategy_description& is = description_of(s.kind);
  flow_map fields(out);
  fields.add("logicalOperator", to_string(s.op));
  if (is.on_missing) fields.add("onMissing", to_string(s.on_missing));
  if (s.max_nodes) fields.add("maxNodes", to_string(*s.max_nodes));
  if (s.cool_down > duration::zero()) fields.add("coolDown", s.cool_down);
  if (is.has_power_terms) {
    fields.add("objective", to_string(s.power.objective));
    fields.add("model", to_string(s.power.model));
    fields.add("cpuFormat", s.power.format == cpu_format::raw ? "Raw" : "Percent");
    fields.add("maxLoad", plain(s.power.max_load));
    fields.add("podUsageAssumption", plain(s.power.pod_usage));
    return;
  }
  fields.key("rules");
  out << YAML::Flow << YAML::BeginSeq;
  for (const rule& r : s.rules) write(out, r);
  out << YAML::EndSeq;
}

}  // namespace

std::string manifest_of(const policy& p) {
  YAML::Emitter out;
  {
    flow_map object(out);
    object.add("apiVersion", "telemetry.intel.com/v1alpha1");
    object.add("kind", "TASPolicy");
    object.key("metadata");
    {
      flow_map metadata(out);
      metadata.add("name", p.key.name);
      metadata.add("namespace", p.key.name_space);
      if (!p.uid.empty()) metadata.add("uid", p.uid);
      if (!p.created.empty()) metadata.add("creationTimestamp", p.created);
    }
    object.key("spec");
    flow_map spec(out);
    spec.add("mode", to_string(p.how));
    spec.add("herdDamping", p.damping == herd_damping::enabled ? "Enabled" : "Disabled");
    spec.key("strategies");
    flow_map strategies(out);
    for (const strategy& s : p.strategies) {
      strategies.key(to_string(s.kind));
      write(out, s);
    }
  }
  return out.c_str();
}

std::optional<policy> policy_of_manifest(std::string_view manifest) {
  parsed_text read = parse_policies({}, manifest);
  if (read.policies.size() != 1 || read.unattributed) return std::nullopt;
  parsed_policy& one = read.policies.front();
  if (!one.usable || !one.refused.empty()) return std::nullopt;
  return std::move(one.value);
}

// A field of the manifest takes some 40 bytes with its name. This includes the quotes.
std::size_t size_of(const kept_policy& k) noexcept {
  const policy& p = k.value;
  std::size_t out = sizeof k + 320 + k.source.size() + p.key.name_space.size() + p.key.name.size() +
                    p.created.size() + p.uid.size();
  for (const strategy& s : p.strategies) {
    out += sizeof s + 320;
    for (const rule& r : s.rules) {
      out += sizeof r + 360 + r.metric.size();
      for (const auto& [key, value] : r.labels) out += sizeof(r.labels[0]) + 8 + key.size() + value.size();
    }
  }
  return out;
}

}  // namespace binnacle::policy
