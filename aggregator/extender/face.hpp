#pragma once

#include "aggregator/extender/context.hpp"
#include "common/http/router.hpp"

#include <functional>
#include <memory>

namespace binnacle::extender {

/// The face to kube-scheduler (:9001): answers filter and prioritize from the view, leaves a record of each
/// in the ring. It never waits for anything: an aggregator without data passes all nodes and says so, since a
/// scheduler that waits places nothing. Threads: all of it on the faces loop. Lifetime: the face, the view
/// and the ring outlive the server that has its routes. Source: k8s.io/kube-scheduler/extender/v1; paths and
/// shapes are those of TAS (platform-aware-scheduling, telemetry-aware-scheduling).
class face {
 public:
  /// `clock` gives the aggregator's boot time.
  face(const policy::view& data, decision::ring& decisions, options settings, std::function<instant()> clock,
       logger log);

  /// POST /scheduler/filter and /scheduler/prioritize.
  void routes(http::router& to);

  /// One call, by its request line and headers; wrong content types are answered 415.
  std::unique_ptr<http::exchange> filter(const http::request& r);
  std::unique_ptr<http::exchange> prioritize(const http::request& r);

  const counters& stats() const noexcept { return shared_.counted; }
  /// Pods just placed: the follower of bindings tells it; prioritize expects one where it gives the best
  /// score.
  placements& placed() noexcept { return shared_.placed; }

  /// Keeps the first pods of a workload apart, once it is told what to watch.
  spread::spreader& spreading() noexcept { return shared_.spreading; }

 private:
  context shared_;
};

}  // namespace binnacle::extender
