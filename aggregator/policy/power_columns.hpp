#pragma once

#include "aggregator/policy/power_terms.hpp"
#include "aggregator/store/types.hpp"

#include <chrono>
#include <string>

namespace binnacle::policy {

/// A node's power is learned from means over this time.
inline constexpr duration power_window = std::chrono::seconds(10);

/// The columns that nodes' power is learned from, for all policies that predict.
struct power_columns {
  store::column_spec watts{std::string(power_metric), power_window, store::statistic::avg};
  store::column_spec load{std::string(load_metric), power_window, store::statistic::avg};
};

}  // namespace binnacle::policy
