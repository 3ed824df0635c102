#pragma once

#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace binnacle::store {

struct seen {
  column_id column;
  node_id node;
  sample what;
};

/// A warehouse that writes down what it tells, and the usual node.
struct bench {
  std::vector<seen> told;
  warehouse store{{}, [this](column_id c, node_id n, const sample& s) { told.push_back({c, n, s}); }};
  wire::catalog catalog = two_packages();
  node_id node = store.node("node-1").value();

  bench() { REQUIRE(store.set_catalog(node, catalog, at_s(99)).has_value()); }
  /// A batch read at `t` that arrives at once.
  void send(double t, std::vector<std::pair<std::uint32_t, std::int64_t>> values = {}) {
    REQUIRE(store.apply(node, batch_at(catalog, at_s(t), std::move(values)), duration::zero(), at_s(t))
                .has_value());
  }
  void send_watts(double t, std::int64_t package0) { send(t, {{0, package0}, {1, 500}, {2, 70}}); }
};

}  // namespace binnacle::store
