// Migrates the configuration of WAO's scheduler.
#include "cli/migrate/wao.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace binnacle::cli::migrate {
namespace {

bool is_of_version_2(std::string_view name) { return name == "MinimizePower"; }
bool is_power_plugin(std::string_view name) {
  return is_of_version_2(name) || name == "oc-score-plugin" || name == "wao-score-plugin";
}
bool is_spread_plugin(std::string_view name) { return name == "PodSpread"; }

/// Calls `f(plugin)` for every plug-in that a profile enables.
template <class F>
void each_enabled(const YAML::Node& profile, F&& f) {
  const YAML::Node points = below(profile, "plugins");
  if (!points.IsMap()) return;
  for (const auto& point : points) {
    const YAML::Node enabled = below(point.second, "enabled");
    if (!enabled.IsSequence()) continue;
    for (const auto& plugin : enabled) f(plugin);
  }
}

/// Whether the profile enables a plug-in with such a name.
template <class F>
bool has_plugin(const YAML::Node& profile, F&& is) {
  bool yes = false;
  each_enabled(profile, [&](const YAML::Node& p) { yes = yes || is(text_of(p, "name")); });
  return yes;
}

/// The arguments of the profile's plug-in that goes by watts; a null node if there are none.
YAML::Node arguments_of(const YAML::Node& profile) {
  YAML::Node args;
  if (const auto all = below(profile, "pluginConfig"); all.IsSequence()) {
    for (const auto& one : all) {
      if (is_power_plugin(text_of(one, "name"))) args.reset(below(one, "args"));
    }
  }
  return args;
}

/// The form in which models of WAO's second version get the load, from the plug-in's argument. Those of the
/// first take shares of it, and their profiles know no format. WAO's plug-in has a constant
/// DefaultCPUUsageFormat that says Raw, but its Default() fills in Percent (wao-scheduler,
/// pkg/plugins/minimizepower/types.go).
std::string format_of(std::string_view written) { return lowered(written) == "raw" ? "Raw" : "Percent"; }

void take_format(const YAML::Node& profile, const std::string& whose, migration& out) {
  const std::string written = text_of(arguments_of(profile), "cpuUsageFormat");
  const std::string format = format_of(written);
  const std::string known = text_of(out.wao.strategy, "cpuFormat");
  if (!known.empty() && known != format) {
    out.yours(whose + ", cpuUsageFormat",
              fmt::format("is {0}, but the policy already has {1}, from another profile: give the pods of "
                          "this profile a policy of their own, with cpuFormat: {0}",
                          format, known));
    out.wao.other_formats.emplace(name_of_profile(profile), format);
    return;
  }
  out.wao.strategy["cpuFormat"] = format;
  if (!written.empty() && written != format)
    return out.yours(
        whose + ", cpuUsageFormat",
        fmt::format("is {}, which is no word of WAO's: its scheduler does not start with it. The "
                    "strategy has cpuFormat: {}, for models that take {}; if yours take {}, write {}",
                    in_quotes(written), format, format == "Raw" ? "cores" : "percent",
                    format == "Raw" ? "percent" : "cores", format == "Raw" ? "Percent" : "Raw"));
  out.carried(whose + ", cpuUsageFormat",
              "the strategy's cpuFormat; without it WAO and Binnacle take Percent");
}

void take_arguments(const YAML::Node& profile, const std::string& whose, migration& out) {
  const YAML::Node args = arguments_of(profile);
  // WAO's second version takes its share of the pods that are on their way alone, and counts the pod that it
  // places in full. BestChord, the objective of the policy, takes it of that pod, too. The first version
  // knows no share.
  const std::string share = text_of(args, "podUsageAssumption");
  const bool unset = share.empty() || share == "0" || share == "0.0";  // to WAO the same
  if (has_plugin(profile, is_of_version_2)) {
    out.dropped(
        whose + ", podUsageAssumption",
        fmt::format(
            "was {0}{1}. WAO takes this share of the pods that are on their way alone, and counts the pod "
            "that it places in full; BestChord takes it of that pod, too. So the default 1 stays. With "
            "objective: WaoV2 it means what it does to WAO: podUsageAssumption: {0}",
            unset ? "0.5" : share, unset ? ", WAO's default" : ""));
    take_format(profile, whose, out);
  }
  for (const char* ttl : {"metricsCacheTTL", "predictorCacheTTL"}) {
    if (!text_of(args, ttl).empty())
      out.dropped(whose + ", " + ttl,
                  "values are used as they are measured, and a curve is asked again every 15 minutes");
  }
}

void take_profile(const YAML::Node& profile, const std::string& whose, migration& out) {
  take_arguments(profile, whose, out);
  each_enabled(profile, [&](const YAML::Node& plugin) {
    const std::string name = text_of(plugin, "name"), weight = text_of(plugin, "weight");
    if (is_spread_plugin(name)) {
      out.once(
          note::fate::carried, whose + ", PodSpread",
          "the extender's filter does it, for pods with the annotation podspread-rate of their own or of "
          "their Deployment");
    } else if (is_power_plugin(name) && !weight.empty()) {
      out.dropped(fmt::format("{}, weight {} of {}", whose, weight, name),
                  "the extender's is scheduler.weight, 100: with it one point of its scores outweighs what "
                  "kube-scheduler's own plug-ins add. A lower one makes them count more");
    }
  });
  const std::string name = name_of_profile(profile);
  if (name == "default-scheduler") {
    out.yours(whose,
              "the cluster's own scheduler has WAO's plug-ins: give it its former image and configuration "
              "again, and let pods ask for schedulerName: binnacle-scheduler");
  } else if (text_of(out.values, "scheduler.name").empty()) {
    out.values["scheduler"]["name"] = name;
    out.carried(whose, "scheduler.name: pods go on asking for that scheduler");
  } else {
    out.yours(whose, fmt::format("the chart has one scheduler, {}: let its pods ask for that",
                                 name_of_the_charts(out)));
  }
}

/// The profiles of `m` that have such a plug-in.
template <class F>
std::vector<YAML::Node> profiles_with(const manifest& m, F&& is) {
  std::vector<YAML::Node> out;
  const auto all = below(m.body, "profiles");
  for (std::size_t i = 0; all.IsSequence() && i < all.size(); ++i) {
    if (has_plugin(all[i], is)) out.push_back(all[i]);
  }
  return out;
}

}  // namespace

std::string name_of_the_charts(const migration& m) {
  const std::string name = text_of(m.values, "scheduler.name");
  return name.empty() ? "binnacle-scheduler" : name;
}

bool migrate_wao_scheduler(const manifest& m, migration& out) {
  if (m.kind != "KubeSchedulerConfiguration") return false;
  const auto whose = [&m](const YAML::Node& profile) {
    return fmt::format("{}, profile {}", m.title(), name_of_profile(profile));
  };
  const auto by_watts = profiles_with(m, is_power_plugin);
  for (const YAML::Node& profile : by_watts) {
    out.wao.schedulers.insert(name_of_profile(profile));
    if (profile.is(by_watts.front())) {
      take_share_of_nodes(m, profile, out);
    } else if (const auto share = text_of(profile, "percentageOfNodesToScore"); !share.empty()) {
      out.yours(whose(profile) + ", percentageOfNodesToScore",
                fmt::format("is {}, and not carried over: the chart has one scheduler, and its "
                            "scheduler.percentageOfNodesToScore is that of the first profile",
                            share));
    }
    take_profile(profile, whose(profile), out);
  }
  bool any = !by_watts.empty();
  for (const YAML::Node& profile : profiles_with(m, is_spread_plugin)) {
    if (has_plugin(profile, is_power_plugin)) continue;
    any = true;
    out.wao.spreaders.insert(name_of_profile(profile));
    out.yours(whose(profile),
              "has PodSpread and no MinimizePower. The filter of the chart's extender spreads pods without a "
              "policy: let the profile's pods ask for the chart's scheduler");
  }
  if (!any) return false;
  if (below(m.body, "clientConnection").IsMap())
    out.dropped(m.title() + ", clientConnection", "no call to the API server is made for a pod");
  if (below(m.body, "extenders").IsSequence()) migrate_scheduler(m, out);
  return true;
}

}  // namespace binnacle::cli::migrate
