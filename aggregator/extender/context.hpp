#pragma once

#include "aggregator/decision/ring.hpp"
#include "aggregator/extender/args_parser.hpp"
#include "aggregator/extender/counters.hpp"
#include "aggregator/extender/placements.hpp"
#include "aggregator/extender/pod_policy.hpp"
#include "aggregator/extender/preempt_handler.hpp"
#include "aggregator/extender/score_mode.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/predict/chord_table.hpp"
#include "aggregator/spread/spreader.hpp"
#include "common/clock.hpp"
#include "common/log/log.hpp"

#include <chrono>
#include <functional>

namespace binnacle::extender {

struct options {
  args_limits limits;
  /// The most bytes of node objects that are kept before the Pod has come, which decides about them.
  /// kube-scheduler sends the Pod first. A client that sends it last, after more bytes than that, gets 413.
  std::size_t early_nodes = 64u << 20;
  preempt_limits victims;  ///< what is kept of a preempt call
  score_mode scores = score_mode::value;
  /// The wall-clock time of an instant, only to be shown.
  std::function<std::chrono::system_clock::time_point(instant)> wall = wall_time;
};

/// What all requests of one extender share. Belongs to the faces loop.
struct context {
  const policy::view& data;
  decision::ring& decisions;
  options settings;
  std::function<instant()> clock;
  logger log;
  pod_policies policies{};
  placements placed{};
  spread::spreader spreading{};
  predict::chord_table chords{};
  counters counted{};
};

}  // namespace binnacle::extender
