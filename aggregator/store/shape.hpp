#pragma once

#include "common/error.hpp"
#include "common/wire/messages.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::store {

/// The series of a node without their values. Nodes of one kind announce the same catalog and share one
/// shape. Immutable once made, so any thread may read it.
struct shape {
  struct series {
    std::string family;
    metrics::label_set labels;  ///< own families: in the order of the family
    std::string flat;  ///< metrics::flat_name(); empty when it has none (no labels, a CPU's or a pod's, lost
                       ///< a collision)
    std::int8_t exponent = 0;
    metrics::kind type = metrics::kind::gauge;
    std::uint16_t group = 0;
    std::string help;
    friend bool operator==(const series&, const series&) = default;
  };
  /// The parts of the names by which callers find the series. Shapes that differ in pods alone share one.
  struct name_parts {
    struct part {
      std::string family;
      metrics::label_set labels;
      std::string flat;  ///< or empty
      friend bool operator==(const part&, const part&) = default;
    };
    std::vector<std::string> families;  ///< in byte order, each once
    std::vector<part> series;           ///< those with labels, but without those of pods
    friend bool operator==(const name_parts&, const name_parts&) = default;
  };

  std::vector<series> all;  ///< without the refused ones: everything here has a name and may be shown
  std::vector<wire::group_info> groups;

  /// By a series' index in the catalog: its index in `all`, or `refused`. Empty: both indexes are equal.
  static constexpr std::uint32_t refused = 0xffff'ffff;
  std::vector<std::uint32_t> places;
  std::size_t announced = 0;  ///< series in the catalog, refused ones included

  /// Indexes of the family's series, ascending; empty when there is none.
  std::span<const std::uint32_t> of_family(std::string_view family) const noexcept;
  /// Points to the index in `all` of the series with that flat name; null if there is none.
  const std::uint32_t* of_flat(std::string_view flat) const noexcept;
  /// Points to the index in `all` of the counter whose change gives the value of series `i`
  /// (metrics::family::integral); null if there is none.
  const std::uint32_t* counter_of(std::uint32_t i) const noexcept;

  std::shared_ptr<const name_parts> names;  ///< never null once made

  // Made by make_shape(): indexes of `all` sorted by family and by flat name, and the fields of `all` and
  // `groups` that the hot path needs, side by side. `counters` has the index of each series' counter, or
  // `nowhere`, and is empty if no series has one.
  std::vector<std::uint32_t> by_family;
  std::vector<std::uint32_t> by_flat;
  std::vector<std::uint32_t> counters;
  std::vector<std::uint16_t> group_of;
  std::vector<std::int64_t> stale_after_ns;
  std::size_t hash = 0;  ///< of what shape_pool compares
};

/// Hash of a family and its labels; the order of the labels does not matter. For indexes of series.
std::size_t series_hash(std::string_view family, const metrics::label_set& labels) noexcept;

/// How much one node may make the aggregator hold. common/wire/limits.hpp limits the length and form of
/// names.
struct catalog_limits {
  std::size_t series = 10'000;
  std::size_t groups = 1'000;
};

struct made_shape {
  shape what;
  std::size_t refused_series = 0;
  std::size_t refused_names = 0;      ///< flat names that are taken or too long; their series stay
  std::vector<std::string> refusals;  ///< one sentence each, the first few
};

/// The shape of a catalog. A series whose name is taken is left out and mentioned in `refusals`; the others
/// stay. On a collision our own family wins over a foreign one, otherwise the first announced.
/// Errors: invalid_input when the catalog as a whole is out of bounds or inconsistent (too many series or
/// groups, a group index or an exponent out of range); nothing is kept of it then.
result<made_shape> make_shape(wire::catalog announced, const catalog_limits& limits);

/// For each series of `now` its index in `was`, where it has the same family, the same labels, and a group of
/// the same source and name. `nowhere` for a series that `was` does not have.
inline constexpr std::uint32_t nowhere = 0xffff'ffff;
std::vector<std::uint32_t> origins(const shape& now, const shape& was);

struct ready_plans;

/// A catalog with the results of all work whose cost grows with its length. For 10,000 series that work
/// takes some tens of milliseconds, too long for the loop that all agents share.
struct prepared_catalog {
  std::uint32_t version = 0;
  result<made_shape> made;
  std::shared_ptr<const shape> before;       ///< the node's until now, or null
  std::vector<std::uint32_t> from;           ///< origins() in `before`
  std::shared_ptr<const ready_plans> plans;  ///< of the columns that were in use then; null: none
};
/// Any thread.
prepared_catalog prepare(wire::catalog announced, const catalog_limits& limits,
                         std::shared_ptr<const shape> before);

/// One shape for all nodes with equal catalogs. Shapes that no node has any more are forgotten. Threads:
/// the ingest loop.
class shape_pool {
 public:
  std::shared_ptr<const shape> intern(shape s);
  std::size_t size() const noexcept { return known_.size(); }

 private:
  std::shared_ptr<const shape::name_parts> intern(std::shared_ptr<const shape::name_parts> names);

  std::unordered_multimap<std::size_t, std::weak_ptr<const shape>> known_;
  std::unordered_multimap<std::size_t, std::weak_ptr<const shape::name_parts>> names_;
  std::size_t sweep_at_ = 64;
};

}  // namespace binnacle::store
