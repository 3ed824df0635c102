#pragma once

#include "aggregator/core/kept_learning.hpp"
#include "aggregator/predict/learning/learner.hpp"
#include "aggregator/predict/learning/meter_lag.hpp"
#include "aggregator/predict/model.hpp"
#include "aggregator/store/warehouse.hpp"
#include "common/clock.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::aggregator {

/// Learns what each node draws at which load, from the watts and the loads that agents send, while some
/// policy asks for it. Nodes with the same hardware and the same kind of meter learn together.
///
/// Loads are shares of all CPUs that are online. So their number (os_cpus) is part of the hardware: servers
/// with one model of CPU may have 64 or 128 of them, and SMT may be on or off. A node is not learned from
/// before it has said its number.
///
/// It learns here and not at the agents: means of ten seconds are all it needs, agents send these numbers
/// anyway, and the nodes of a kind meet here. So agents of any release are learned from, and there is no
/// state on a node that could be wrong.
///
/// If nothing was measured of a node, nor of any node with its hardware, its rated watts count, if it has any
/// (predict/rated.hpp). They also count before anything learned if the node has accelerators and its meter
/// measures more than its processors: the watts of the accelerators' jobs do not follow the CPUs' load.
///
/// What is left out, besides what predict::learner leaves out: means of windows that are not known well
/// enough, a value that was learned from already, and watts of which the load is not known. The last concerns
/// every meter but an energy counter, because it may lag: predict/meter_lag.hpp finds out how late it is.
/// Until that is known, watts count only if the load has stood still, for longer if the watts follow it in
/// none of the ways that are tried. What they taught is forgotten if the meter turns out to mean over longer
/// than the load stood still. A node whose hardware has changed begins anew, and, once a day, one whose watts
/// contradict each other: the hardware may have changed by less than the learner notices. What was learned by
/// another meter of the same machine waits until that one is back.
///
/// After a restart the scheduler may ask as soon as most agents are back, and a node without a model has no
/// score. So a node that goes on from a snapshot has a model in the next turn over it, and a node that goes
/// by its class has one a second later.
///
/// Time:  an argument. Call tick() at next_deadline() or later.
/// Cost:  ten turns a second, each over a tenth of the nodes: a microsecond or two for one node, and some
///        microseconds more when its model is estimated. Some 500 bytes a node, and 750 more if its meter
///        may lag.
class power_learning {
 public:
  /// `from` must outlive this.
  explicit power_learning(store::warehouse& from) : store_(from) {}

  /// A node's curve is learned from nothing again.
  struct restart {
    store::node_id node{};
    std::string why;  ///< a clause: "its meter (dcmi) stood still while its load moved"
  };
  struct news {
    /// Models that are new, or that differ enough from the last ones to matter.
    std::vector<std::pair<store::node_id, std::shared_ptr<const predict::model>>> models;
    std::vector<restart> restarts;
    /// Why a node's meter teaches nothing now, a clause: "the watts of its meter (dcmi) do not rise with
    /// its load", or that its watts are too late; empty: it teaches again, or nothing is learned now.
    std::vector<std::pair<store::node_id, std::string>> notes;
  };
  /// From now on it learns, or rests. What it has learned stays. While it rests, no meter is looked at, so
  /// the news takes back what was said of them.
  news learn(bool yes, instant now);
  news tick(instant now);
  instant next_deadline() const noexcept { return next_turn_; }

  /// Samples of all nodes since the start; of a meter that may lag, one for each meter_lag::step.
  const predict::learner::counters& counted() const noexcept { return counted_; }

  void forget(const std::vector<store::node_id>& gone);

  // Across a restart.
  /// Adds what a node has learned to a snapshot's words. False: nothing.
  bool save(store::node_id id, store::words& into) const;
  /// What save() wrote, of a node that has sent nothing yet. It counts once the node has said that its
  /// hardware and its meter are still the same. Otherwise the node begins anew, and a restart is reported. If
  /// two snapshots have learned of the same hardware and meter, the one with more samples counts; else the
  /// first.
  void recall(store::node_id id, store::word_reader from);

  static constexpr std::size_t slices = 10;
  static constexpr duration between_turns = std::chrono::milliseconds(100);
  /// How many samples a node that has a model gets, at most, before its model is estimated again.
  static constexpr unsigned rounds_between_estimates = 10;
  /// A meter that lags usually gives the mean of up to a minute (agent/sources/host). While it is not known
  /// how late it is, its watts belong to the present load only after the load has stayed within `still` for
  /// so long.
  static constexpr duration settle = std::chrono::seconds(60);
  /// The same for a meter whose watts follow the load with no lag that is tried: its mean may be longer.
  static constexpr duration settle_longer = std::chrono::minutes(10);
  static constexpr double still = 0.05;  ///< to either side, of the mean load
  /// If a node's meter may lag, was of no use for so long, and taught at no more than so many of all loads,
  /// that is said of it.
  static constexpr std::chrono::minutes useless{30};
  static constexpr double taught_hardly = 0.1;
  /// A node whose watts contradict each other begins anew, but not again within this time. Until then its
  /// meter counts as one that does not follow it.
  static constexpr duration contradicts_again_after = std::chrono::hours(24);
  /// For how long a meter that lags may say the same before it counts as stuck.
  static constexpr std::chrono::seconds repeats_of_lagging{90};
  /// Of how much time at a load the samples of a meter that lags count; as many minutes as of other meters.
  static constexpr std::chrono::minutes remembered_of_lagging{10};
  /// If a node changes its meter, what was learned by the former meters is kept for this many of them.
  static constexpr std::size_t most_resting = 2;
  /// For how long a node must say another number of CPUs before it counts as another machine.
  static constexpr duration cpus_settle = std::chrono::minutes(1);
  /// Curves that differ by less are the same.
  static constexpr double same_watts = 0.005;
  static constexpr duration told_again_after = std::chrono::minutes(1);

 private:
  struct node_state {
    predict::learner own;
    std::string machine;                      // store::machine_of() and the number of CPUs
    std::string meter;                        // label source of host_power_watts
    std::shared_ptr<const store::row> cells;  // the row of `by` and `about`
    // The series of `cells` that named meter and hardware when they were looked at last, and its CPUs then.
    const store::shape::series *by = nullptr, *about = nullptr;
    double cpus = 0;
    bool measures_accelerators = false;       // its meter does
    std::optional<instant> other_cpus_since;  // it says another number of CPUs, and nothing else has changed
    instant quiet_until{};  // nothing is learned until then, after a change of machine or meter
    // Of a meter that may lag.
    struct late_meter {
      predict::meter_lag lag;
      instant looked_at{};   // when it was told the load and the watts
      double still_at = -1;  // the load since `moved_at` has been near this one
      instant moved_at{};
      std::uint32_t waits = 0;  // looks in a row at which the load of the watts was not known
      // All that the node has learned by it was taught before its mean was known to be short; for so many
      // looks in a row it has not been short.
      bool doubtful = false;
      std::uint32_t against = 0;
    };
    std::unique_ptr<late_meter> late;
    // By other meters of this machine, the newest last.
    struct resting {
      std::string meter;
      predict::learner learned;
    };
    std::vector<resting> others;
    instant learned_at{};  // when the last sample's watts were read
    std::shared_ptr<const predict::model> told;
    // What was wrong with its meter when it was looked at last.
    enum class trouble : std::uint8_t { none, stands_still, too_late } of_meter = trouble::none;
    bool followed = false;  // what `own` has learned rose with the load, over half of all loads
    std::optional<instant> contradicted_at;  // this machine's watts did, so it began anew
    std::uint32_t restarts = 0;
    std::string restarted_for;
    // From a snapshot; kept until the node has said what its hardware and its meter are.
    std::unique_ptr<const kept_learning> kept;
    bool unpooled = false;  // its class did not know yet what it goes on from when its model was estimated
  };
  struct kind {
    predict::statistics all;  // what its nodes know together
    std::uint32_t nodes = 0;  // that have measured
  };

  bool meet(node_state& n, store::node_id id, const store::row& cells, instant now);
  static void back_to_its_cpus(node_state& n, instant now);
  void go_on(node_state& n, store::node_id id);
  void begun_again(node_state& n, store::node_id id, std::string why);
  void take(node_state& n, store::node_id id, instant now);
  void estimate(node_state& n, store::node_id id, instant now, news& out) const;
  void forget_contradictions(node_state& n, store::node_id id, instant now);
  void look_at_meter(node_state& n, store::node_id id, instant now, news& out);
  bool change_meter(node_state& n, std::string meter);
  static void doubt(node_state& n, bool teaches);
  static std::optional<double> load_of(node_state& n, double load, double watts, instant now);
  void pool();
  static const predict::statistics& believed(const node_state& n);
  static bool meter_stands_still(const node_state& n);
  static bool meter_is_too_late(const node_state& n);
  std::shared_ptr<const predict::model> model_of(const node_state& n, instant now) const;
  std::shared_ptr<const predict::model> rated_model(const node_state& n, double cores, instant now) const;
  static std::string class_of(const node_state& n) { return n.machine + ", by " + n.meter; }

  store::warehouse& store_;
  std::optional<store::watched_values> power_, load_;
  instant next_turn_ = instant::max();
  std::uint32_t turn_ = 0;
  predict::learner::counters counted_{};
  std::vector<restart> restarts_;                   // of this turn
  std::vector<std::unique_ptr<node_state>> nodes_;  // by id
  std::map<std::string, kind, std::less<>> kinds_;  // by hardware and meter
  bool has_unpooled_ = false;                       // a node has gone on from a snapshot since pool()
  // A node without a meter takes the kind of its hardware whose meter most nodes have.
  std::map<std::string, std::string, std::less<>> usual_kind_;
};

}  // namespace binnacle::aggregator
