#pragma once

#include "aggregator/predict/chords.hpp"
#include "aggregator/predict/model.hpp"

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace binnacle::predict {

/// A node's model as prioritize reads it: its chords, and what the record of a decision says of it.
struct known_power {
  chords best;
  instant made{};
  std::uint16_t noise_permille = 0;
  std::uint8_t covered_percent = 0;
  model_source from = model_source::node;
  bool idle_guessed = false;
};

/// The best chords of all nodes, for each cap (a policy's maxLoad) and each choice of models that is asked
/// for. Which model of a node counts is settled when models have changed, not for each candidate: a candidate
/// costs one look at one piece of memory.
/// Bounds: `most_kept` choices; the one whose last use is oldest is dropped.
class chord_table {
  using row = std::optional<known_power>;
  struct kept {
    double max_load;
    model_sources by;
    std::array<std::uint64_t, std::tuple_size_v<decltype(model_sources::tables)>> versions{};
    std::vector<std::shared_ptr<const model>> of;  // which model each row was made of
    std::vector<row> rows;                         // by node
  };

 public:
  static constexpr std::size_t most_kept = 16;

  /// Valid until a model changes, or most_kept other ones were asked for.
  class known_nodes {
   public:
    /// Null: the node has no model.
    const known_power* find(std::uint32_t node) const noexcept {
      return node < rows_.size() && rows_[node] ? &*rows_[node] : nullptr;
    }
    /// Prefetches the node's memory; for loops over many nodes. Any id is allowed.
    void prefetch(std::uint32_t node) const noexcept {
      if (node >= rows_.size()) return;
      const char* at = reinterpret_cast<const char*>(&rows_[node]);
      for (std::size_t i = 0; i < sizeof(row); i += 64) __builtin_prefetch(at + i);
    }

   private:
    friend class chord_table;
    explicit known_nodes(std::span<const row> rows) : rows_(rows) {}
    std::span<const row> rows_;
  };
  /// Costs some microseconds for a thousand nodes if a model has changed since the last call, and as much
  /// for each model that has. The tables must outlive this.
  known_nodes up_to(double max_load, const model_sources& by);

 private:
  static void catch_up(kept& k);
  std::list<kept> kept_;  // the one asked for last in front
};

}  // namespace binnacle::predict
