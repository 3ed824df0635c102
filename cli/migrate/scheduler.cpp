// Migrates kube-scheduler's configuration, by which it reached TAS.
#include "cli/extender_entry.hpp"
#include "cli/migrate/migration.hpp"

#include <fmt/format.h>

namespace binnacle::cli::migrate {
namespace {

bool is_ours(const YAML::Node& extender) {
  return telemetry_resource(extender).IsDefined() || text_of(extender, "filterVerb") == "scheduler/filter";
}

void take_extender(const YAML::Node& extender, const std::string& whose, migration& out) {
  auto scheduler = out.values["scheduler"];
  if (const auto weight = text_of(extender, "weight"); weight == "1") {
    out.dropped(whose + ", weight: 1",
                "so small a weight loses against the scheduler's own plug-ins; the chart's is 100");
  } else if (!weight.empty() && weight != "100") {
    scheduler["weight"] = below(extender, "weight");
    out.carried(whose + ", weight", "scheduler.weight");
  }
  if (text_of(extender, "ignorable") != "true") {
    scheduler["ignorable"] = false;
    out.carried(whose + ", not ignorable",
                "scheduler.ignorable: false; without an aggregator no pod is placed");
  }
  if (const auto timeout = text_of(extender, "httpTimeout"); !timeout.empty()) {
    scheduler["timeout"] = timeout;
    out.carried(whose + ", httpTimeout", "scheduler.timeout");
  }
  if (text_of(extender, "tlsConfig.insecure") == "true")
    out.dropped(whose + ", tlsConfig.insecure", "the chart names the CA instead");
  if (scheduler.size() == 0) out.values.remove("scheduler");
}

}  // namespace

std::string name_of_profile(const YAML::Node& profile) {
  const std::string name = text_of(profile, "schedulerName");
  return name.empty() ? "default-scheduler" : name;
}

void take_share_of_nodes(const manifest& m, const YAML::Node& profile, migration& out) {
  if (out.share_looked_at.is(m.body)) return;
  out.share_looked_at.reset(m.body);
  const std::string field = "percentageOfNodesToScore", end = ", " + field;
  const std::string of_all = text_of(m.body, field), own = text_of(profile, field);
  if (!own.empty() && !of_all.empty())
    out.dropped(m.title() + end, fmt::format("was {}, and did not count: the profile says {}", of_all, own));
  const std::string percent = own.empty() ? of_all : own;
  if (percent.empty() || percent == "0") return;  // kube-scheduler's own choice
  const std::string subject = own.empty()
                                  ? m.title() + end
                                  : fmt::format("{}, profile {}{}", m.title(), name_of_profile(profile), end);
  if (!out.share_of_nodes.empty()) {
    if (percent != out.share_of_nodes)
      out.yours(subject,
                fmt::format("is {}, and not carried over: the chart has one scheduler, and {} is that of "
                            "another configuration",
                            percent, out.share_of_nodes));
    return;
  }
  out.share_of_nodes = percent;
  if (percent != "100") out.values["scheduler"][field] = below(own.empty() ? m.body : profile, field);
  out.carried(subject, percent == "100" ? "100 is the chart's default, too" : "scheduler." + field);
}

bool migrate_scheduler(const manifest& m, migration& out) {
  if (m.kind != "KubeSchedulerConfiguration") return false;
  const auto extenders = below(m.body, "extenders");
  bool ours = false;
  if (extenders.IsSequence()) {
    for (const auto& e : extenders) {
      if (!is_ours(e)) {
        out.yours(m.title() + ", extender " + text_of(e, "urlPrefix"),
                  "belongs to another program: a second scheduler needs it in its configuration, too");
        continue;
      }
      ours = true;
      take_extender(e, m.title(), out);
    }
  }
  YAML::Node first;
  if (const auto profiles = below(m.body, "profiles"); profiles.IsSequence() && profiles.size() > 0)
    first.reset(profiles[0]);
  if (ours) take_share_of_nodes(m, first, out);
  const std::string name = name_of_profile(first);
  if (ours && name != "default-scheduler") {
    out.values["scheduler"]["name"] = name;
    out.carried(m.title() + ", profile " + name, "scheduler.name: pods go on asking for that scheduler");
  } else if (ours) {
    out.yours(
        m.title(),
        "TAS's extender is in the cluster's own scheduler. Take it out again (the file's backup, or "
        "delete its entry in extenders) and let pods ask for schedulerName: binnacle-scheduler; or "
        "keep the scheduler and give it Binnacle's entry instead: binnacle scheduler-config --patch FILE");
  }
  return true;
}

}  // namespace binnacle::cli::migrate
