#pragma once

#include "aggregator/extender/placements.hpp"
#include "aggregator/kube/objects/pod_objects.hpp"
#include "common/clock.hpp"

#include <algorithm>
#include <chrono>

namespace binnacle::aggregator {

/// For how long a pod has been on its node; 0 if no kubelet has seen it yet.
///
/// The kubelet of its node says when it took the pod, by the clock of that node; `wall` is by ours. A clock
/// that is ahead of ours makes the pod count for longer by the difference, but never for longer than a pod
/// that is bound now. A clock that is behind makes it count for less, and if it is behind by half an hour,
/// the pod does not count. Only pods that were bound before we followed them are concerned: a pod that we see
/// being bound has not been seen by a kubelet.
inline duration on_its_node(const kube::pod_objects::change& c, std::chrono::system_clock::time_point wall) {
  return c.started ? std::max<duration>(wall - *c.started, duration::zero()) : duration::zero();
}

/// Passes the change of a pod to herd damping. `wall`: the wall-clock time of `now`.
///
/// A pod that was Ready before the first list was complete is not counted, because the values show its load
/// already. A pod that was not Ready then counts from when it came to its node. So a restarted replica knows
/// again which pods are on their way, and does not count pods that have failed to start for days.
inline void count_pod(extender::placements& placed, const kube::pod_objects::change& c, instant now,
                      std::chrono::system_clock::time_point wall) {
  using event = kube::pod_objects::event;
  switch (c.what) {
    case event::placed: placed.bound(c.uid, c.node, now, c.cores, on_its_node(c, wall)); break;
    case event::ready: c.before_us ? placed.gone(c.uid) : placed.ready(c.uid, true, now); break;
    case event::unready: placed.ready(c.uid, false, now); break;
    case event::gone: placed.gone(c.uid); break;
  }
}

}  // namespace binnacle::aggregator
