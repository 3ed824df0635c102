#pragma once

#include "aggregator/store/types.hpp"
#include "common/metrics/family.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

/// What the ingest loop writes and the faces read without a lock. One writer, any number of readers.
namespace binnacle::store {

/// An array indexed by node that grows without moving: segment k holds 2^(k+10) elements, so an element's
/// address never changes and a reader needs no lock against growth. Elements must be default-constructible;
/// readers of an index that was never written get null.
template <class T>
class node_array {
 public:
  node_array() = default;
  node_array(const node_array&) = delete;
  node_array& operator=(const node_array&) = delete;
  ~node_array() {
    for (auto& segment : segments_) delete[] segment.load(std::memory_order_relaxed);
  }

  /// Writer only: the element of `id`, its segment made if need be.
  T& grow(node_id id) {
    auto [segment, offset] = place(id);
    T* base = segments_[segment].load(std::memory_order_relaxed);
    if (base == nullptr) {
      base = new T[std::size_t{1} << (segment + first_bits)]();
      segments_[segment].store(base, std::memory_order_release);
    }
    return base[offset];
  }

  /// Any thread: the element of `id`, or null if its segment does not exist yet.
  const T* find(node_id id) const noexcept {
    auto [segment, offset] = place(id);
    const T* base = segments_[segment].load(std::memory_order_acquire);
    return base == nullptr ? nullptr : base + offset;
  }

 private:
  static constexpr unsigned first_bits = 10;
  struct position {
    unsigned segment;
    std::size_t offset;
  };
  static position place(node_id id) noexcept {
    const std::uint64_t n = std::uint64_t{index(id)} + (1u << first_bits);
    const unsigned top = static_cast<unsigned>(std::bit_width(n)) - 1;
    return {top - first_bits, static_cast<std::size_t>(n - (std::uint64_t{1} << top))};
  }

  std::array<std::atomic<T*>, 23> segments_{};
};

/// A sample, without its spread, behind a sequence lock: a reader never sees a half-written sample.
/// The fields are stored with release and loaded with acquire instead of standing between fences: a reader
/// that sees a field of a newer sample therefore also sees its odd sequence, and ThreadSanitizer, which knows
/// no fences, can follow. On x86 these are plain moves. Source: H.-J. Boehm, "Can seqlocks get along with
/// programming language memory models?", MSPC 2012.
class alignas(32) shared_sample {  // two to a cache line, none across two
 public:
  void store(const sample& s) noexcept {
    const std::uint32_t seq = sequence_.load(std::memory_order_relaxed);
    sequence_.store(seq + 1, std::memory_order_relaxed);
    mantissa_.store(s.value.mantissa, std::memory_order_release);
    read_at_.store(to_ns(s.read_at), std::memory_order_release);
    expires_at_.store(to_ns(s.expires_at), std::memory_order_release);
    detail_.store(pack(s), std::memory_order_release);
    sequence_.store(seq + 2, std::memory_order_release);
  }

  sample load() const noexcept {
    for (;;) {
      const std::uint32_t before = sequence_.load(std::memory_order_acquire);
      const std::int64_t mantissa = mantissa_.load(std::memory_order_acquire);
      const std::int64_t read_at = read_at_.load(std::memory_order_acquire);
      const std::int64_t expires_at = expires_at_.load(std::memory_order_acquire);
      const std::uint32_t detail = detail_.load(std::memory_order_acquire);
      if ((before & 1) == 0 && sequence_.load(std::memory_order_relaxed) == before)
        return unpack(mantissa, read_at, expires_at, detail);
    }
  }

 private:
  static std::uint32_t pack(const sample& s) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(s.value.exponent)) |
           static_cast<std::uint32_t>(s.reason) << 8 | static_cast<std::uint32_t>(s.partial) << 16 |
           static_cast<std::uint32_t>(s.link_down) << 17 | static_cast<std::uint32_t>(s.sure) << 18 |
           static_cast<std::uint32_t>(s.unknown_percent) << 20;
  }
  // Made in one go: a sample whose fields were set one by one and then copied costs twice as much, because a
  // wide load has to wait for the narrow stores before it.
  static sample unpack(std::int64_t mantissa, std::int64_t read_at, std::int64_t expires_at,
                       std::uint32_t detail) noexcept {
    return {.value = {mantissa, static_cast<std::int8_t>(detail & 0xff)},
            .read_at = from_ns(read_at),
            .expires_at = from_ns(expires_at),
            .reason = static_cast<absence>(detail >> 8 & 0xff),
            .partial = (detail >> 16 & 1) != 0,
            .link_down = (detail >> 17 & 1) != 0,
            .sure = static_cast<certainty>(detail >> 18 & 3),
            .unknown_percent = static_cast<std::uint8_t>(detail >> 20 & 0x7f)};
  }

  std::atomic<std::int64_t> mantissa_{0};
  std::atomic<std::int64_t> read_at_{0};
  std::atomic<std::int64_t> expires_at_{0};
  // A fresh cell reads as "not read yet".
  std::atomic<std::uint32_t> detail_{static_cast<std::uint32_t>(absence::not_read_yet) << 8};
  std::atomic<std::uint32_t> sequence_{0};
};

/// One column's samples for all nodes. Only the writer has their spread: readers do not need it, and the
/// cells are smaller without it.
class shared_column {
 public:
  explicit shared_column(column_spec spec) : spec_(std::move(spec)) {}
  const column_spec& spec() const noexcept { return spec_; }

  void store(node_id id, const sample& s) {
    cells_.grow(id).store(s);
    spreads_.grow(id) = s.spread;
  }
  /// Any thread; its spread is zero.
  sample load(node_id id) const noexcept {
    const shared_sample* cell = cells_.find(id);
    if (cell == nullptr) return {};
    return cell->load();
  }
  /// The writer's thread: the sample as it was stored.
  sample stored(node_id id) const noexcept {
    sample s = load(id);
    if (const duration* spread = spreads_.find(id)) s.spread = *spread;
    return s;
  }
  /// The range that its values can have, by METRICS.md; unlimited if the metric is none of ours. Any
  /// thread. While the table of old names is being replaced, one call may mix limits of the old and the new
  /// meaning.
  metrics::plausible_range plausible() const noexcept {
    const auto of = [](const std::atomic<double>& x) { return x.load(std::memory_order_relaxed); };
    return {of(least_), of(most_), of(apart_)};
  }
  void set_plausible(const metrics::plausible_range& r) noexcept {
    least_.store(r.least, std::memory_order_relaxed);
    most_.store(r.most, std::memory_order_relaxed);
    apart_.store(r.apart, std::memory_order_relaxed);
  }
  /// Prefetches the memory of `id`'s sample; for loops over many nodes. Any id is allowed.
  void prefetch(node_id id) const noexcept { __builtin_prefetch(cells_.find(id)); }

 private:
  column_spec spec_;
  node_array<shared_sample> cells_;
  node_array<duration> spreads_;  // the writer's
  std::atomic<double> least_{metrics::plausible_range{}.least}, most_{metrics::plausible_range{}.most},
      apart_{0};
};

/// A column in use, as its user gets it.
struct watched_values {
  column_id id{};
  std::shared_ptr<const shared_column> values;
};

}  // namespace binnacle::store
