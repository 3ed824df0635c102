#pragma once

#include "aggregator/predict/curve.hpp"
#include "aggregator/predict/statistics.hpp"
#include "common/clock.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::predict {

/// Where a curve comes from.
enum class model_source : std::uint8_t {
  node,            ///< what the node's own meter said, and its class's where the node has not measured
  hardware_class,  ///< other nodes with the same hardware; the node itself has no meter, or has not measured
                   ///< yet
  server,          ///< a model server that the node's objects or labels name
  rated,           ///< rated_line(): nobody has measured such a node, or only with its accelerators
};
std::string_view to_string(model_source s) noexcept;  ///< "node", "class", "server", "rated"

/// What is known of one node's watts. Immutable once made.
struct model {
  curve power;
  model_source from = model_source::node;
  statistics measured;  ///< by the node itself
  double covered = 0;   ///< share of all loads at which it measured often enough, 0..1
  double noise = 0;     ///< learner::noise()
  std::uint32_t samples = 0, outliers = 0;
  bool meter_stuck = false;
  std::uint32_t others = 0;  ///< nodes with the same hardware whose measurements count, too
  std::string hardware;      ///< which nodes are alike
  std::string meter;         ///< what measures the watts ("dcmi", "rapl"…); empty: nothing
  instant made{};
  std::uint32_t restarts = 0;   ///< how often the node began to learn again
  std::string restarted_for{};  ///< the reason of the last time, a clause; empty: never
  /// The loads 0..1 between which somebody has measured, the node or one like it: beyond them the curve is a
  /// guess from servers in general.
  double known_from = 0, known_to = 1;
  std::string server{};  ///< the URL of the model server that gave the curve; else empty
  /// For a curve of a model server: bit i is set if nobody measures the model's input i after CPU, so that a
  /// typical value stood for it.
  std::uint8_t inputs_assumed = 0;

  /// Neither the node nor one like it was ever idle, so what it draws then is not known.
  bool idle_guessed() const noexcept { return known_from > 0; }
};

/// What the record of a decision says of a model, in a word: thousands of them are copied for one decision.
struct model_note {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t made_s = none;  ///< seconds of the clock; none: there is no model
  std::uint16_t noise_permille = 0;
  std::uint8_t covered_percent = 0;  ///< how much of its range of loads the node has measured itself
  model_source from : 7 = model_source::node;
  bool idle_guessed : 1 = false;  ///< neither this node nor a similar one was ever seen idle

  bool exists() const noexcept { return made_s != none; }
};
static_assert(sizeof(model_note) == 8);
model_note note_of(const model& m) noexcept;

/// The models of all nodes, by the number of the node. Belongs to the thread that reads them.
class model_table {
 public:
  /// Null: none.
  const model* find(std::uint32_t node) const noexcept {
    return node < models_.size() ? models_[node].get() : nullptr;
  }
  std::shared_ptr<const model> share(std::uint32_t node) const {
    return node < models_.size() ? models_[node] : nullptr;
  }
  std::size_t size() const noexcept { return models_.size(); }
  /// A larger number after each change; 0: nothing was ever set.
  std::uint64_t version() const noexcept { return version_; }
  /// Calls `visit` for each node that was set after that version; one that was set twice may come twice.
  /// False, without a call: the table no longer knows which these were, and each node may be among them.
  template <class Visit>
  bool each_set_since(std::uint64_t version, Visit visit) const {
    if (version_ - version > changes_known) return false;
    for (std::uint64_t v = version; v < version_; ++v) visit(changed_[v % changes_known]);
    return true;
  }
  void clear() {
    version_ += changes_known + 1;  // nobody knows any more what was set before
    models_.clear();
  }
  /// Null takes it away.
  void set(std::uint32_t node, std::shared_ptr<const model> m) {
    if (node >= models_.size()) {
      if (m == nullptr) return;
      models_.resize(node + 1);
    }
    models_[node] = std::move(m);
    changed_[version_++ % changes_known] = node;
  }

  /// Of so many changes the table knows which nodes they were: more than a fleet of 5,000 makes between two
  /// decisions, unless all models are set at once.
  static constexpr std::size_t changes_known = 1024;

 private:
  std::vector<std::shared_ptr<const model>> models_;
  std::uint64_t version_ = 0;
  std::array<std::uint32_t, changes_known> changed_{};  // by the version before, modulo changes_known
};

/// Tables of models, the best first: the first table that has a model of a node counts. Null: not asked for.
struct model_sources {
  std::array<const model_table*, 3> tables{};

  /// The table that a node's model is in; null: none has one.
  const model_table* table_of(std::uint32_t node) const noexcept {
    for (const model_table* t : tables) {
      if (t != nullptr && t->find(node) != nullptr) return t;
    }
    return nullptr;
  }
  std::shared_ptr<const model> share(std::uint32_t node) const {
    const model_table* in = table_of(node);
    return in == nullptr ? nullptr : in->share(node);
  }
  friend bool operator==(const model_sources&, const model_sources&) = default;
};

}  // namespace binnacle::predict
