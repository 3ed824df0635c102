#pragma once

#include "aggregator/predict/objective.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::policy {

/// Whose models minimizepower uses.
enum class power_model : std::uint8_t {
  automatic,  ///< the curve of the node's model server, if that answers, otherwise the learned one
  learned,    ///< only those that were learned from nodes' meters
  external,   ///< only those of model servers
};

/// The form in which a model server gets the load, unless it is one of WAO's first version.
enum class cpu_format : std::uint8_t {
  percent,  ///< 0..100 of the node's cores
  raw,      ///< cores in use
};
inline constexpr std::size_t cpu_formats = 2;

/// What a minimizepower strategy asks for.
struct power_terms {
  predict::objective objective = predict::objective::best_chord;
  power_model model = power_model::automatic;
  cpu_format format = cpu_format::percent;
  /// The share of a node's cores that pods may keep busy, above 0 and at most 1. Objectives without
  /// has_cap() do not know it.
  double max_load = 0.9;
  /// The share of its CPU request that a pod is assumed to use, above 0 and at most 1.
  double pod_usage = 1;

  /// If both kinds of curves are allowed and exist, a model server's curve is preferred to a learned one.
  bool takes_served() const noexcept { return model != power_model::learned; }
  bool takes_learned() const noexcept { return model != power_model::external; }
  friend bool operator==(const power_terms&, const power_terms&) = default;
};

/// "BestChord up to 90 % load", "WaoV2": for people.
std::string to_string(const power_terms& t);

/// What is read of each node, as column metrics. The load is a mean over a few seconds: one second's is
/// noise, and so are its watts.
inline constexpr std::string_view load_metric = "os_cpu_utilization_ratio";
inline constexpr std::string_view power_metric = "host_power_watts";
inline constexpr std::string_view cpus_metric = "os_cpus";

/// What a node's data sheet says, if somebody wrote it down for the node (a *.prom file, an exporter): watts
/// when idle, and with all cores busy.
inline constexpr std::string_view rated_idle_metric = "rated_idle_watts";
inline constexpr std::string_view rated_peak_metric = "rated_peak_watts";

}  // namespace binnacle::policy
