#pragma once

#include "aggregator/extender/placements.hpp"
#include "aggregator/kube/objects/pod_objects.hpp"
#include "common/clock.hpp"

namespace binnacle::aggregator {

/// What a change of a pod means for herd damping. A pod that was Ready before the first list was whole is in
/// the data already. One that was not counts from now on: so a replica that starts again has back what is
/// still on its way.
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
