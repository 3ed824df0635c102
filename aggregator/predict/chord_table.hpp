#pragma once

#include "aggregator/predict/chords.hpp"
#include "aggregator/predict/last_watts.hpp"
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
  model_note about;
};

/// The best chords of all nodes, for each cap (a policy's maxLoad) and each choice of models that is asked
/// for. Which model of a node counts is settled when models have changed, not for each candidate: a candidate
/// costs a look at two places in memory: its row here, a line of the cache, and the points of its curve.
/// Beside each row lies the last answer about the node (last_watts), 64 bytes.
/// Bounds: `most_kept` choices; the one whose last use is oldest is dropped.
class chord_table {
  struct alignas(64) row {
    std::optional<known_power> known;
  };
  static_assert(sizeof(row) == 64, "a line of the cache");
  struct kept {
    double max_load;
    model_sources by;
    std::array<std::uint64_t, std::tuple_size_v<decltype(model_sources::tables)>> versions{};
    std::vector<std::shared_ptr<const model>> of;  // which model each row was made of
    std::vector<row> rows;                         // by node
    std::vector<last_watts> last;                  // by node; an answer goes with the row it was made of
    asked_last question;
  };

 public:
  static constexpr std::size_t most_kept = 16;

  /// Valid until a model changes, or most_kept other ones were asked for.
  class known_nodes {
   public:
    /// Null: the node has no model.
    const known_power* find(std::uint32_t node) const noexcept {
      return node < rows_.size() && rows_[node].known ? &*rows_[node].known : nullptr;
    }
    /// Where that lies in memory: what a loop over many nodes fetches ahead. Any id is allowed.
    const void* place_of(std::uint32_t node) const noexcept {
      return node < rows_.size() ? &rows_[node] : nullptr;
    }
    /// asked_last::number() of what is asked of these nodes.
    std::uint64_t number(const pod_question& q) const { return question_->number(q); }
    /// Where the last answer about a node is kept, which goes when its model changes. Null: the table does
    /// not know the node.
    last_watts* last(std::uint32_t node) const noexcept {
      return node < rows_.size() ? last_ + node : nullptr;
    }

   private:
    friend class chord_table;
    explicit known_nodes(kept& k) : rows_(k.rows), last_(k.last.data()), question_(&k.question) {}
    std::span<const row> rows_;
    last_watts* last_;
    asked_last* question_;
  };
  /// Costs some microseconds for each model that has changed since the last call. If a table does not know
  /// any more which have, a look at each node besides. The tables must outlive this.
  known_nodes up_to(double max_load, const model_sources& by);

 private:
  static void catch_up(kept& k);
  static void catch_up(kept& k, std::uint32_t node);
  std::list<kept> kept_;  // the one asked for last in front
};

}  // namespace binnacle::predict
