#pragma once

#include "aggregator/policy/cost/report.hpp"
#include "aggregator/policy/engine/status.hpp"
#include "aggregator/policy/text/problem.hpp"
#include "common/clock.hpp"
#include "common/http/server_counters.hpp"
#include "common/metrics/families.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// What the aggregator tells the ops face about itself. Plain structs: faces_loop.cpp fills them when it is
/// asked.
namespace binnacle::ops {

/// How many values lay in each single bucket; the last number counts those above all bounds.
struct histogram_sample {
  std::vector<double> upper_bounds;
  std::vector<std::uint64_t> counts;
  double sum = 0;
};

/// One number about the aggregator itself; `family` is one of METRICS.md.
struct own_sample {
  std::string family;
  metrics::label_set labels;
  std::variant<std::uint64_t, double, histogram_sample> value;
};

struct listener_report {
  std::string name;     ///< "extender"
  std::string address;  ///< "0.0.0.0:9001"
  http::server_counters counters;
  bool tls = true;
};

struct certificate_report {
  std::string file;
  std::int64_t seconds_left = 0;  ///< negative: expired
};

struct self_report {
  std::string version;
  std::string replica;
  std::string cluster;
  std::string mode;  ///< "standalone"
  instant started{};
  std::vector<listener_report> listeners;
  std::vector<certificate_report> certificates;
  std::vector<std::string> warnings;  ///< sentences for a person: what is degraded, and the remedy
};

/// What the ops face reports about policies: problems with their texts, and conditions that hold now.
struct policy_report {
  std::vector<policy::problem> problems;
  std::vector<policy::condition> conditions;
  std::optional<policy::cost_report> costs;  ///< none: not known
};

}  // namespace binnacle::ops
