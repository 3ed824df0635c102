#pragma once

#include "aggregator/predict/chords.hpp"
#include "aggregator/predict/model.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace binnacle::predict {

/// A node's model as prioritize reads it: its chords, and what the record of a decision says of it.
struct known_power {
  chords best;
  instant made{};
  std::uint16_t noise_permille = 0;
  std::uint8_t covered_percent = 0;
  model_source from = model_source::node;
};

/// The best chords of all nodes' models, for each table of models and each cap (a policy's maxLoad) that is
/// asked for. A node's chords
/// are made at the first question after its model has changed, and looked up from then on.
/// Bounds: `most_caps`; the cap that was asked for least recently gives way.
class chord_table {
  struct entry {
    std::shared_ptr<const model> of;
    std::optional<known_power> made;
  };
  struct of_cap {
    double max_load;
    const model_table* models;
    std::vector<entry> nodes;
  };

 public:
  static constexpr std::size_t most_caps = 16;

  /// The chords for one cap. Valid until the models change, or most_caps other ones were asked for.
  class view {
   public:
    /// Null: the node has no model.
    const known_power* find(std::uint32_t node) {
      const model* now = models_->find(node);
      if (now == nullptr) return nullptr;
      entry& e = in_->nodes[node];
      if (e.of.get() != now) renew(e, node);
      return &*e.made;
    }
    /// Has the memory of it fetched; for loops over many nodes. Any id.
    void prefetch(std::uint32_t node) const noexcept {
      if (node >= in_->nodes.size()) return;
      const char* at = reinterpret_cast<const char*>(&in_->nodes[node]);
      for (std::size_t i = 0; i < sizeof(entry); i += 64) __builtin_prefetch(at + i);
    }

   private:
    friend class chord_table;
    view(of_cap& in, const model_table& models) : in_(&in), models_(&models) {}
    void renew(entry& e, std::uint32_t node);
    of_cap* in_;
    const model_table* models_;
  };
  /// `models` must outlive this.
  view up_to(double max_load, const model_table& models);

 private:
  std::list<of_cap> caps_;  // the one asked for last in front
};

}  // namespace binnacle::predict
