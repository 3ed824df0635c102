#pragma once

#include "aggregator/ingest/admission.hpp"
#include "aggregator/ingest/listener.hpp"
#include "common/async/task_group.hpp"
#include "common/rare_warning.hpp"
#include "common/wire/link_offset.hpp"

#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

namespace binnacle::ingest {

class agent_session;

/// What outlives the sessions of a node.
struct node_link {
  std::weak_ptr<agent_session> current;  ///< the newest session that was welcomed
  wire::link_offset clock;
  swap_watch swaps;
  std::string other;  ///< the address of the agent that was replaced or turned away last
};

/// What the listener and its sessions share. Owned by all of them, so that a session never outlives what it
/// uses.
struct core {
  core(async::loop& on, ingest_options o, store::warehouse& s, ingest_events e, logger l)
      : loop(on), options(std::move(o)), store(s), events(std::move(e)), log(std::move(l)), tasks(on, log) {}

  // Constant after construction.
  async::loop& loop;
  const ingest_options options;
  store::warehouse& store;
  const ingest_events events;
  const logger log;

  // Owned by the loop.
  async::task_group tasks;
  ingest_counters counters;
  wire::interest interest;
  std::unordered_set<std::shared_ptr<agent_session>> sessions;
  std::vector<node_link> links;                     ///< by node id
  std::map<std::string, store::node_id> contested;  ///< nodes that are, or were, by name
  bool closed = false;  ///< the listener has gone: store and events may have gone too
  rare_warning handshake_warning, overload_warning, catalog_warning;
  std::minstd_rand random{std::random_device{}()};
  std::array<rare_warning, wire::reason_count> end_warnings;  ///< by reason

  node_link& link_of(store::node_id id) {
    if (links.size() <= store::index(id)) links.resize(store::index(id) + 1);
    return links[store::index(id)];
  }
  void tell(store::node_update u) const {
    if (events.node_changed && !closed) events.node_changed(std::move(u));
  }
};

}  // namespace binnacle::ingest
