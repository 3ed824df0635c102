#pragma once

#include "aggregator/store/column_set.hpp"
#include "aggregator/store/counters.hpp"
#include "aggregator/store/coverage.hpp"
#include "aggregator/store/row.hpp"
#include "aggregator/store/types.hpp"
#include "aggregator/store/view.hpp"
#include "aggregator/store/window.hpp"
#include "aggregator/store/words.hpp"
#include "common/deadline_heap.hpp"
#include "common/error.hpp"
#include "common/wire/messages.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace binnacle::store {

struct warehouse_limits {
  catalog_limits per_node;
  std::size_t nodes = 20'000;
  std::size_t series = 5'000'000;  ///< of all nodes together
};

/// All nodes with their cells, and the columns in use: the single writer of what the faces read. Pure: time
/// is an argument, the only outputs are rows, shared columns and calls of the sink. Threads: the ingest loop;
/// rows and shared columns may be read anywhere. Cost: a batch of 40 values 0.1 µs, and
/// 0.04 µs for each column it touches (0.3 µs with a window; tests/bench/bench_store.cpp). No allocation once
/// the windows are full.
class warehouse {
 public:
  /// Called for every column sample made by set_names(), set_catalog(), apply(), expire() and the link calls,
  /// also when only its age changed. It must not call back into the warehouse.
  using sink = std::function<void(column_id, node_id, const sample&)>;

  /// `names` must live until the next set_names(), or as long as the warehouse.
  explicit warehouse(warehouse_limits limits = {}, sink on_sample = {},
                     const metrics::alias_table& names = metrics::alias_table::built_in());

  /// Replaces the sink. The policy engine needs the warehouse and is its sink, so one is made before the
  /// other.
  void set_sink(sink on_sample) { sink_ = std::move(on_sample); }

  /// The id of a node; a new name gets a new id. Errors: overloaded when there are too many nodes, or when
  /// too many have come and gone, because ids are never used again.
  result<node_id> node(std::string_view name);
  std::optional<node_id> find(std::string_view name) const noexcept;
  const std::string& name(node_id id) const noexcept { return nodes_[index(id)].name; }
  /// Ids given out so far, and how many there are: one for each name, and one more when a forgotten node
  /// comes back.
  std::size_t ids_given() const noexcept { return nodes_.size(); }
  std::size_t most_ids() const noexcept { return limits_.nodes * most_lives; }
  /// Nodes known now.
  std::size_t node_count() const noexcept { return by_name_.size(); }
  bool known(node_id id) const noexcept { return !nodes_[index(id)].name.empty(); }
  /// Null until the node's first catalog.
  std::shared_ptr<const row> cells(node_id id) const noexcept { return nodes_[index(id)].cells; }

  /// Replaces the table of old names. Columns whose name means something else now start again: their windows
  /// are empty, and each node's sample is made from what its row holds.
  void set_names(const metrics::alias_table& names, instant now);

  struct catalog_outcome {
    std::shared_ptr<const row> cells;
    bool changed = false;  ///< another row than before: the faces must be told
    std::size_t refused_series = 0, refused_names = 0;
    std::vector<std::string> refusals;  ///< one sentence each, the first few
  };
  /// Takes a node's catalog. Series that the old catalog had, too, keep their values and ages.
  /// Errors: invalid_input (the catalog as a whole is out of bounds), overloaded (too many series in all).
  /// The old one stays.
  result<catalog_outcome> set_catalog(node_id id, prepared_catalog announced, instant now);
  result<catalog_outcome> set_catalog(node_id id, wire::catalog announced, instant now) {
    return set_catalog(id, preparation(id)(std::move(announced)), now);
  }
  /// Returns a function that prepares a catalog of that node. It may run on any thread, at any later time.
  std::function<prepared_catalog(wire::catalog)> preparation(node_id id) const;

  /// Takes a batch: cells first, then read times, then every column they touch. `offset` brings the agent's
  /// boot time to ours. Errors: protocol, and nothing of the batch is applied: no catalog yet, another
  /// catalog's version, a series or group that it does not have.
  result<void> apply(node_id id, const wire::batch& b, duration offset, instant now);

  /// The node's link went up or down at `now`. Values stay until they expire; expired ones then say
  /// `disconnected` instead of `stale`.
  void set_linked(node_id id, bool linked, instant now);

  struct gone_node {
    node_id id{};
    std::string name;
  };
  /// Forgets the nodes whose link has been down for `idle`, except those that `keep` names: their cells,
  /// windows and samples. The sink is not called. A node that comes back gets another id. Cost: a look at
  /// each node.
  std::vector<gone_node> forget_idle(duration idle, instant now,
                                     const std::function<bool(const std::string&)>& keep = {});

  /// When expire() has something to do; instant::max() for never.
  instant next_deadline() const noexcept { return deadlines_.next().value_or(instant::max()); }
  std::size_t deadlines_under_way() const noexcept { return deadlines_.size(); }
  /// Derives again every maximum, minimum and mean over several groups of which one has expired: the value
  /// goes on with the other groups. All other values simply end at their expires_at. Call at or after
  /// next_deadline().
  void expire(instant now);

  /// One more user of a column. A new one is filled at once from what the rows hold (no calls of the sink).
  watched_values watch(const column_spec& spec, instant now);
  /// One user less. After the last one the column is no longer derived, and its id may be used again.
  void unwatch(column_id id);
  const column_spec& spec(column_id id) const noexcept { return columns_.at(id).spec; }
  /// The longest stale-after that nodes have announced so far for the column's members; nodes that have left
  /// count, too. Zero: none was announced.
  duration stale_after(column_id id) const { return columns_.at(id).stale_after; }
  std::size_t columns_in_use() const noexcept { return columns_.in_use(); }
  /// The families that columns in use read, and how often they want them to be read.
  std::vector<reading_wish> wishes() const { return columns_.wishes(); }
  /// Differs from before whenever wishes() may: after watch() and unwatch(), and when a node brings
  /// families not seen yet.
  std::uint64_t interest_version() const noexcept { return columns_.interest_version(); }

  /// Appends what is known of a column at a node to a snapshot: its sample, and its window if it has one. A
  /// remembered window (set_memory()) that has had no new value yet is saved, too. Returns false and writes
  /// nothing if nothing is known yet.
  /// Without `with_window` only the sample is saved.
  bool save(column_id column, node_id node, words& into, bool with_window = true) const;
  /// What save() writes at most without a window.
  static constexpr std::size_t words_of_sample = 11;
  /// What a snapshot says of a column at a node, as save() wrote it; none: nothing, or the column's name
  /// meant something else then (meaning()).
  using memory =
      std::function<std::optional<word_reader>(const column_spec&, std::string_view meaning, node_id)>;
  /// From now on, as long as nothing has been read of a column at a node, the snapshot's value counts until
  /// it expires. Windows continue from the snapshot's. An empty `m` ends that.
  void set_memory(memory m) { memory_ = std::move(m); }
  /// What the column's name means by the aliases in force, and its window: equal texts, equal numbers.
  std::string meaning(column_id id) const;
  bool in_use(column_id id) const noexcept { return columns_.used(id); }
  /// Ids of the columns in use.
  std::vector<column_id> columns() const;

  /// The families that nodes announce now, in byte order (announced_families.hpp); good until the next
  /// catalog comes or a node is forgotten.
  std::vector<std::string_view> families() const { return columns_.families(); }

  std::size_t series_count() const noexcept { return series_; }
  /// Plans of columns that were compiled on this thread: for a new column one for each kind of node, for a
  /// new catalog none, unless columns have changed since preparation().
  std::uint64_t plans_compiled() const noexcept { return columns_.compiled(); }
  std::size_t kinds() const noexcept { return columns_.kinds(); }
  const warehouse_counters& counters() const noexcept { return counters_; }

 private:
  /// An id that is no longer used costs a cell in each column, and each strategy's state of a node. This many
  /// are enough for a fleet that is replaced every day for half a month.
  static constexpr std::size_t most_lives = 16;

  /// A window of one column at one node.
  struct window_state {
    std::variant<mean_window, point_window> points;
    std::int8_t exponent = 0;  // of the values in it
    coverage covered;
    bool hole = false;                   // an absence since the newest point
    sample last;                         // the statistic at the newest point
    certainty doubt = certainty::exact;  // of the points that are not exact
    instant doubtful_until{};            // when the newest of them leaves the window
  };
  struct node_state {
    std::string name;               // empty: forgotten
    instant left = instant::max();  // since when the link is down; max: it is up, or never was
    std::shared_ptr<row> cells;
    std::shared_ptr<const kind> what;
    std::uint32_t catalog_version = 0;
    std::vector<std::unique_ptr<window_state>> windows;  // by column id
  };

  node_id id_of(const node_state& n) const noexcept {
    return node_id{static_cast<std::uint32_t>(&n - nodes_.data())};
  }
  result<void> check(const node_state& n, const wire::batch& b) const;
  void store_cells(node_state& n, const wire::batch& b);
  void store_read_times(node_state& n, const wire::batch& b, duration offset, instant now);
  void absent_when_not_in(const wire::batch& full, node_state& n);
  void touch(std::uint16_t group);
  void next_stamp();
  void derive_touched(node_id id, instant now);
  const sample& evaluate_once(const node_state& n, std::uint32_t id, instant now);
  sample derive(node_state& n, std::uint32_t id, instant now);
  sample derive(node_state& n, std::uint32_t id, sample raw, instant now);  // of what evaluate() gave
  sample derive_window(node_state& n, std::uint32_t id, const plan& p, sample raw, instant now);
  std::optional<sample> remembered(node_id node, std::uint32_t id, instant now) const;
  std::optional<window_state> remembered_window(node_id node, std::uint32_t id,
                                                std::int8_t counter_exponent) const;
  static window_state new_window(const column& col, std::int8_t exponent, std::int8_t counter_exponent);
  window_state& window_of(node_state& n, std::uint32_t id, std::int8_t exponent, const plan& p);
  void publish(std::uint32_t column, node_id id, const sample& s);
  void arm(std::uint32_t column, node_id id, const sample& s);

  warehouse_limits limits_;
  sink sink_;
  memory memory_;
  shape_pool shapes_;
  column_set columns_;
  std::vector<node_state> nodes_;
  boost::unordered_flat_map<std::string, std::uint32_t, text_hash, std::equal_to<>> by_name_;
  std::size_t series_ = 0;
  warehouse_counters counters_;

  // One deadline for a column at a node, renewed when it is reached and not with every batch. One that is
  // not in armed_ was overtaken by an earlier one.
  struct deadline {
    instant at{};
    node_id node{};
    std::uint32_t column = 0;
    friend auto operator<=>(const deadline&, const deadline&) = default;
  };
  static std::uint64_t key(node_id node, std::uint32_t column) noexcept {
    return std::uint64_t{index(node)} << 32 | column;
  }
  bool awaited(const deadline& d) const {
    const auto armed = armed_.find(key(d.node, d.column));
    return armed != armed_.end() && armed->second == d.at;
  }
  deadline_heap<deadline> deadlines_;
  boost::unordered_flat_map<std::uint64_t, instant> armed_;

  // Scratch: what this batch touched, by stamp so that nothing needs clearing.
  std::uint32_t stamp_ = 0;
  std::vector<std::uint32_t> group_stamp_, column_stamp_;
  std::vector<std::uint16_t> touched_;
  struct evaluated {
    std::uint32_t stamp = 0;
    sample raw;
  };
  std::vector<evaluated> evaluated_;  // by kind::twins
  sample raw_;                        // of a column without twins
};

}  // namespace binnacle::store
