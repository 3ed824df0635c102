#pragma once

#include "aggregator/store/warehouse.hpp"
#include "tests/aggregator/store/nodes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace binnacle::store {

struct seen {
  column_id column;
  node_id node;
  sample what;
};

/// A warehouse that records what it reports, with one usual node.
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

/// Two sensors in two files have one name, and their node's number is the maximum. The first sensor's value
/// ends after 10 s.
struct two_files {
  std::vector<seen> told;
  warehouse store{{}, [this](column_id c, node_id n, const sample& s) { told.push_back({c, n, s}); }};
  wire::catalog catalog;
  node_id node = store.node("n").value();
  std::shared_ptr<const shared_column> column = store.watch({"rack_inlet"}, at_s(1)).values;

  explicit two_files(std::uint32_t second_stale_after_ms = 10'000)
      : catalog(rack_inlets(second_stale_after_ms)) {
    REQUIRE(store.set_catalog(node, catalog, at_s(1)).has_value());
  }
  void send(double t, std::uint16_t group, std::int64_t value) {
    REQUIRE(store.apply(node, rack_inlet_at(catalog, at_s(t), group, value), duration::zero(), at_s(t))
                .has_value());
  }
};

}  // namespace binnacle::store
