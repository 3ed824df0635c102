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

/// The series of a node without their values. Nodes of one kind announce the same catalogue and share one
/// shape. Immutable once made, so any thread may read it.
struct shape {
  struct series {
    std::string family;
    metrics::label_set labels;  ///< own families: in catalogue order
    std::string
        flat;  ///< metrics::flat_name(); empty when it has none (no labels, per-CPU, or lost a collision)
    std::int8_t exponent = 0;
    metrics::kind type = metrics::kind::gauge;
    std::uint16_t group = 0;
    std::string help;
    friend bool operator==(const series&, const series&) = default;
  };
  std::vector<series> all;  ///< without the refused ones: everything here has a name and may be shown
  std::vector<wire::group_info> groups;

  /// The catalogue's index of a series to its place in `all`; refused series have the place `refused`. Empty:
  /// the same.
  static constexpr std::uint32_t refused = 0xffff'ffff;
  std::vector<std::uint32_t> places;
  std::size_t announced = 0;  ///< series in the catalogue, refused ones included

  /// Indexes of the family's series, ascending; empty when there is none.
  std::span<const std::uint32_t> of_family(std::string_view family) const noexcept;
  /// The series of that flat name, or null.
  const std::uint32_t* of_flat(std::string_view flat) const noexcept;

  // Made by make_shape(): indexes of `all` sorted by family and by flat name, and the fields of `all` and
  // `groups` that the hot path needs, side by side.
  std::vector<std::uint32_t> by_family;
  std::vector<std::uint32_t> by_flat;
  std::vector<std::uint16_t> group_of;
  std::vector<std::int64_t> stale_after_ns;
};

/// Of a family and its labels, in whatever order they stand: for indexes of series.
std::size_t series_hash(std::string_view family, const metrics::label_set& labels) noexcept;

/// How much one node may make us hold. The length and form of names is the wire's business
/// (common/wire/limits.hpp).
struct catalog_limits {
  std::size_t series = 10'000;
  std::size_t groups = 1'000;
};

struct made_shape {
  shape what;
  std::size_t refused_series = 0;
  std::size_t refused_names = 0;      ///< flat names lost to a collision; their series stay
  std::vector<std::string> refusals;  ///< one sentence each, the first few
};

/// The shape of a catalogue. A series with a taken name is left out and said so; the others stay. On a
/// collision our own family wins over a foreign one, otherwise the first announced.
/// Errors: invalid_input when the catalogue as a whole is out of bounds or inconsistent (too many series or
/// groups, a group index or an exponent out of range); nothing is kept of it then.
result<made_shape> make_shape(const wire::catalog& announced, const catalog_limits& limits);

/// One shape for all nodes with equal catalogues. Shapes that no node has any more are forgotten. Threads:
/// the ingest loop.
class shape_pool {
 public:
  std::shared_ptr<const shape> intern(shape s);
  std::size_t size() const noexcept { return known_.size(); }

 private:
  std::unordered_multimap<std::size_t, std::weak_ptr<const shape>> known_;
  std::size_t sweep_at_ = 64;
};

}  // namespace binnacle::store
