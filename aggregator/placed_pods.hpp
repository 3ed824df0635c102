#pragma once

#include "aggregator/extender/placements.hpp"
#include "aggregator/kube/objects/pod_objects.hpp"
#include "common/clock.hpp"

namespace binnacle::aggregator {

/// Passes the change of a pod to herd damping. A pod that was Ready before the first list was complete is not
/// counted, because the values show its load already. A pod that was not Ready then counts from now on, so a
/// restarted replica knows again which pods are on their way.
inline void count_pod(extender::placements& placed, const kube::pod_objects::change& c, instant now) {
  using event = kube::pod_objects::event;
  switch (c.what) {
    case event::placed: placed.bound(c.uid, c.node, now, c.cores); break;
    case event::ready: c.before_us ? placed.gone(c.uid) : placed.ready(c.uid, true, now); break;
    case event::unready: placed.ready(c.uid, false, now); break;
    case event::gone: placed.gone(c.uid); break;
  }
}

}  // namespace binnacle::aggregator
