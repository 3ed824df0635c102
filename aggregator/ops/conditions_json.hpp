#pragma once

#include "aggregator/policy/engine/status.hpp"
#include "common/text/json_writer.hpp"

namespace binnacle::ops {

/// Writes the condition as the next value, if it holds now.
inline void write_condition(json_writer& out, const policy::condition& c) {
  if (!c.active) return;
  out.begin_object().field("policy", c.policy.text());
  if (c.strategy) out.field("strategy", policy::to_string(*c.strategy));
  out.field("type", policy::to_string(c.what)).field("message", c.message).end_object();
}

}  // namespace binnacle::ops
