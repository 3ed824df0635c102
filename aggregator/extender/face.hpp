#pragma once

#include "aggregator/extender/context.hpp"
#include "common/http/router.hpp"

#include <functional>
#include <memory>

namespace binnacle::extender {

/// The face to kube-scheduler (:9001). It answers filter, prioritize and preempt from the view, and leaves a
/// record of each answer in the ring. It never waits, because a waiting scheduler places no pods: without
/// data it passes all nodes and says so. Threads: all of it on the faces loop. Lifetime: the face, the view
/// and the ring outlive the server that has its routes. Source: k8s.io/kube-scheduler/extender/v1; paths and
/// shapes are those of TAS (platform-aware-scheduling, telemetry-aware-scheduling).
class face {
 public:
  /// `clock` returns the aggregator's boot time.
  face(const policy::view& data, decision::ring& decisions, options settings, std::function<instant()> clock,
       logger log);

  /// POST /scheduler/filter, /scheduler/prioritize and /scheduler/preempt.
  void routes(http::router& to);

  /// Begins one call, from its request line and headers. A wrong content type gets 415.
  std::unique_ptr<http::exchange> begin(decision::verb verb, const http::request& r);

  const counters& stats() const noexcept { return shared_.counted; }
  /// The pods that were just placed. The follower of bindings adds the real places; prioritize adds a guess
  /// at the node with the best score.
  placements& placed() noexcept { return shared_.placed; }

  /// Spreads the first pods of a workload, once it has been given the cluster to watch.
  spread::spreader& spreading() noexcept { return shared_.spreading; }

 private:
  context shared_;
};

}  // namespace binnacle::extender
