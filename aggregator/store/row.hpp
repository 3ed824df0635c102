#pragma once

#include "aggregator/store/types.hpp"
#include "common/wire/messages.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::store {

/// The series of a node without their values. Nodes of one kind announce the same catalogue and share one
/// shape.
struct shape {
  struct series {
    std::string family;
    metrics::label_set labels;
    std::string flat;  ///< metrics::flat_name(), empty when it has none (per-CPU, or lost a collision)
    std::int8_t exponent = 0;
    metrics::kind type = metrics::kind::gauge;
    std::uint16_t group = 0;
    std::string help;
  };
  std::vector<series> all;
  std::vector<wire::group_info> groups;
};

/// A node's cells: the ingest loop writes, the faces read. A reader takes the group's read time first and
/// then the value, the writer does it the other way round, so a value is never younger than the age shown for
/// it claims it to be old.
class row {
 public:
  explicit row(std::shared_ptr<const shape> s);

  const shape& series() const noexcept { return *shape_; }
  const std::shared_ptr<const shape>& shared_shape() const noexcept { return shape_; }

  /// The value of series `i`, with its group's read time and expiry. Any thread.
  sample load(std::size_t i) const noexcept;

  // The writer: the ingest loop alone.
  void set_value(std::size_t i, std::int64_t mantissa) noexcept;
  void set_absent(std::size_t i, wire::absence reason) noexcept;
  void set_read(std::size_t group, instant at) noexcept;

 private:
  struct cell {
    std::atomic<std::int64_t> mantissa{0};
    std::atomic<wire::absence> reason{wire::absence::not_read_yet};
  };
  std::shared_ptr<const shape> shape_;
  std::unique_ptr<cell[]> cells_;
  std::unique_ptr<std::atomic<std::int64_t>[]> read_at_ns_;  // per group; 0 = never
};

}  // namespace binnacle::store
