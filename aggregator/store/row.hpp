#pragma once

#include "aggregator/store/shape.hpp"
#include "aggregator/store/types.hpp"
#include "common/absence.hpp"

#include <atomic>
#include <memory>

namespace binnacle::store {

/// A node's cells: the ingest loop writes, the faces read. A reader takes the group's read time first and
/// then the value. The writer writes the value first and then the read time. So a value is never older than
/// the age that is shown for it.
class row {
 public:
  explicit row(std::shared_ptr<const shape> s);

  const shape& series() const noexcept { return *shape_; }
  const std::shared_ptr<const shape>& shared_shape() const noexcept { return shape_; }

  /// The value of series `i`, with its group's read time and expiry. Any thread.
  sample load(std::size_t i) const noexcept;
  /// When the group was last read successfully, in the aggregator's time; the epoch: never. Any thread.
  instant read_at(std::size_t group) const noexcept {
    return from_ns(read_at_ns_[group].load(std::memory_order_acquire));
  }
  /// When the newest batch arrived, and whether the agent's link stands. Any thread.
  instant last_batch() const noexcept { return from_ns(last_batch_ns_.load(std::memory_order_relaxed)); }
  bool linked() const noexcept { return linked_.load(std::memory_order_relaxed); }

  /// One cell as it is, without its age. `mantissa` counts only if `reason` is none. Any thread.
  struct raw {
    std::int64_t mantissa;
    absence reason;
    bool had_value;  ///< it has had a value since the node came, even if it has none now
  };
  raw peek(std::size_t i) const noexcept {
    const absence reason = cells_[i].reason.load(std::memory_order_acquire);
    return {cells_[i].mantissa.load(std::memory_order_acquire), reason,
            cells_[i].had_value.load(std::memory_order_relaxed)};
  }

  // The writer: the ingest loop alone.
  void set_value(std::size_t i, std::int64_t mantissa) noexcept {
    cells_[i].mantissa.store(mantissa, std::memory_order_release);
    cells_[i].had_value.store(true, std::memory_order_relaxed);
    cells_[i].reason.store(absence::none, std::memory_order_release);
  }
  void set_absent(std::size_t i, absence reason) noexcept {
    cells_[i].reason.store(reason, std::memory_order_release);
  }
  void set_read(std::size_t group, instant at) noexcept {
    read_at_ns_[group].store(to_ns(at), std::memory_order_release);
  }
  void set_last_batch(instant at) noexcept { last_batch_ns_.store(to_ns(at), std::memory_order_relaxed); }
  void set_linked(bool linked) noexcept { linked_.store(linked, std::memory_order_relaxed); }

  /// Takes over values and read times of the series that both rows have, so that no value is missing after an
  /// agent has announced its catalog again. `from`: origins() of our shape in that of `old`. A value that
  /// does not fit the new exponent is left out.
  void carry_over(const row& old, std::span<const std::uint32_t> from);

 private:
  struct cell {
    std::atomic<std::int64_t> mantissa{0};
    std::atomic<absence> reason{absence::not_read_yet};
    std::atomic<bool> had_value{false};
  };
  std::shared_ptr<const shape> shape_;
  std::unique_ptr<cell[]> cells_;
  std::unique_ptr<std::atomic<std::int64_t>[]> read_at_ns_;  // per group; 0 = never
  std::atomic<std::int64_t> last_batch_ns_{0};
  std::atomic<bool> linked_{true};
};

}  // namespace binnacle::store
