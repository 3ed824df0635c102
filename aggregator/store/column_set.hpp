#pragma once

#include "aggregator/store/announced_families.hpp"
#include "aggregator/store/derive.hpp"
#include "aggregator/store/shape.hpp"
#include "aggregator/store/shared_column.hpp"
#include "aggregator/store/types.hpp"
#include "common/metrics/alias_table.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::store {

/// What a column's plans are compiled from, besides the shape. Each time the name gets another meaning,
/// `serial` becomes a number that was never used before; 0: there is no such column.
struct plan_wish {
  std::uint64_t serial = 0;
  std::string metric;
  metrics::resolved name;
};

/// A plan with the families that it reads.
struct ready_plan {
  std::uint64_t serial = 0;
  std::shared_ptr<const plan> what;
  std::vector<std::string> families;
};

/// Plans of one shape that another thread than the loop's compiled, by column id.
struct ready_plans {
  std::vector<ready_plan> by_column;
};
/// Any thread. Cost: for each column a look at each series that it reads.
std::shared_ptr<const ready_plans> make_plans(const shape& s, const std::vector<plan_wish>& wanted);

/// A column that somebody uses.
struct column {
  std::uint64_t serial = 0;  ///< plan_wish
  column_spec spec;
  metrics::resolved name;
  duration length{};  ///< the window in force: the spec's, else the alias's; zero: the value itself
  statistic stat = statistic::avg;
  std::size_t users = 0;
  std::set<std::string, std::less<>> families;  ///< what it reads at the nodes seen so far, and by METRICS.md
  duration stale_after{};  ///< the longest stale-after of its members, at the nodes seen so far; zero: none
  std::shared_ptr<shared_column> values;
};

/// All nodes of one shape: the plans of the columns in use, and which columns a group of series touches. Kept
/// side by side so that a batch looks up nothing by name.
struct kind {
  std::shared_ptr<const shape> what;
  std::vector<std::shared_ptr<const plan>> plans;  ///< by column id; null: free
  /// By column id: a number that is the same for all columns with one plan (windows of one metric), so that
  /// their members are looked at once; `alone` for the others.
  std::vector<std::uint32_t> twins;
  static constexpr std::uint32_t alone = ~std::uint32_t{0};
  std::vector<std::vector<std::uint32_t>> columns_of;  ///< by group: column ids
  std::unique_ptr<const announced_families::held> families;
};

/// A column wants the nodes to read a family this often. The pointers are good until the columns change.
struct reading_wish {
  const column_spec* column = nullptr;
  std::string_view family;
  std::chrono::milliseconds period{};
};

/// The columns in use and their plans for every kind of node. Threads: the ingest loop.
class column_set {
 public:
  /// `names` must live until the next set_names(), or as long as this.
  explicit column_set(const metrics::alias_table& names) : names_(&names) {}
  /// Replaces the table of old names. Returns the columns whose name means something else now; they have new
  /// plans.
  std::vector<column_id> set_names(const metrics::alias_table& names);

  /// One more user of the column; makes it and its plans at first use. `made` says whether it is new (and
  /// empty).
  struct added {
    column_id id{};
    bool made = false;
  };
  added add(const column_spec& spec);
  /// One user less. True when it was the last one; then the id may be used for another column.
  bool remove(column_id id);

  const column& at(column_id id) const noexcept { return *columns_[index(id)]; }
  /// Ids run from 0 to size() - 1; some may be free.
  std::size_t size() const noexcept { return columns_.size(); }
  bool used(column_id id) const noexcept {
    return index(id) < columns_.size() && columns_[index(id)] != nullptr;
  }
  /// How many plans were compiled on this thread, because make_plans() had not made them.
  std::uint64_t compiled() const noexcept { return compiled_; }
  std::size_t in_use() const noexcept { return by_spec_.size(); }

  /// The kind of that shape, with a plan for every column in use. A plan of `ready` is taken if it still
  /// fits; `ready` may be null.
  std::shared_ptr<const kind> kind_of(std::shared_ptr<const shape> s, const ready_plans* ready);
  /// What make_plans() needs for the columns in use now, by id.
  std::shared_ptr<const std::vector<plan_wish>> plan_wishes() const;
  std::size_t kinds() const noexcept { return kinds_.size(); }

  /// The families of the kinds that nodes are of now (announced_families.hpp).
  std::vector<std::string_view> families() const { return families_.names(); }

  /// For each column in use and each family that it reads at some node: how often it wants the family read.
  /// Only families that a node can have.
  std::vector<reading_wish> wishes() const;
  /// If this number has changed, wishes() may have changed.
  std::uint64_t interest_version() const noexcept { return interest_version_; }

 private:
  void name(column& c, metrics::resolved meant);
  void attach(kind& k, std::uint32_t id, const ready_plans* ready = nullptr);
  std::optional<std::uint32_t> twin_of(const kind& k, std::uint32_t id) const;
  static void detach(kind& k, std::uint32_t id);

  const metrics::alias_table* names_;
  std::vector<std::unique_ptr<column>> columns_;  // null: free
  std::map<column_spec, std::uint32_t> by_spec_;
  std::vector<std::uint32_t> free_;
  std::uint64_t interest_version_ = 0;
  std::uint64_t last_serial_ = 0;
  std::uint64_t compiled_ = 0;
  mutable std::shared_ptr<const std::vector<plan_wish>> plan_wishes_;  // null: must be made again
  // The nodes own their kind; an entry of a shape that no node has is dropped at the next sweep.
  std::unordered_map<const shape*, std::weak_ptr<kind>> kinds_;
  std::size_t sweep_at_ = 64;
  announced_families families_;
};

}  // namespace binnacle::store
