#pragma once

#include "aggregator/policy/engine/status.hpp"
#include "common/text/json_writer.hpp"

#include <vector>

namespace binnacle::ops {

/// Writes the conditions that hold now as the member "conditions" of the object that `out` is in.
inline void write_conditions(json_writer& out, const std::vector<policy::condition>& conditions) {
  out.key("conditions").begin_array();
  for (const auto& c : conditions) {
    if (!c.active) continue;
    out.begin_object().field("policy", c.policy.text());
    if (c.strategy) out.field("strategy", policy::to_string(*c.strategy));
    out.field("type", policy::to_string(c.what)).field("message", c.message).end_object();
  }
  out.end_array();
}

}  // namespace binnacle::ops
