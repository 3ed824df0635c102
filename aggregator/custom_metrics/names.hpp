#pragma once

#include "aggregator/store/view.hpp"
#include "common/metrics/alias_table.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::custom_metrics {

/// The metric names that nodes can be asked for: the families a node agent can emit, every family and flat
/// name that some node has announced, these names without a leading "node_", and the aliases that resolve to
/// one of them. Never empty. A call costs nothing while catalogs and aliases stay the same. Otherwise it
/// looks at each node, and at the names of each catalog that is new or gone. Pods that come and go change
/// no names. Use one list for one view.
class name_list {
 public:
  /// At most this many are listed; what is left out (the last in byte order) can still be asked for by name.
  static constexpr std::size_t most = 5'000;

  /// `names` must outlive the list.
  explicit name_list(const metrics::names_in_force& names = metrics::names_in_force::built_in());

  /// In byte order, each once. The reference is valid until the next call.
  const std::vector<std::string>& of(const store::view& nodes);
  /// Whether some node had a metric of that name at the last call of of(), or there is an alias of that name.
  bool knows(std::string_view name) const;
  /// Changes whenever the list does.
  std::uint64_t revision() const noexcept { return revision_; }

 private:
  using parts = std::vector<std::shared_ptr<const store::shape::name_parts>>;  // by address, each once; kept
                                                                               // so that no address is reused

  void begin();
  void count(const store::shape::name_parts& n, int step);
  void count(std::string_view name, int step);
  void count_family(std::string_view name, int step);

  const metrics::names_in_force& in_force_;
  std::shared_ptr<const metrics::alias_table> table_;  // what everything below was made with
  std::unordered_multimap<std::string_view, const metrics::alias*> aliases_;  // by family
  std::uint64_t as_of_ = 0;  // store::view::catalogs() at the last look
  parts seen_;
  std::map<std::string, int, std::less<>> uses_;  // by how many of seen_, if any
  std::vector<std::string> names_;
  bool changed_ = true;
  std::uint64_t revision_ = 0;
};

}  // namespace binnacle::custom_metrics
