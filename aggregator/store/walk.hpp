#pragma once

#include "aggregator/store/view.hpp"

#include <string>

namespace binnacle::store {

/// A walk over all nodes that goes on correctly if nodes come or go between two slices: it keeps a name, not
/// an iterator.
class walk {
 public:
  explicit walk(const view& nodes) : nodes_(nodes) {}
  /// The next node in name order, or null after the last.
  const node_view* next() {
    const auto at = started_ ? nodes_.nodes().upper_bound(last_) : nodes_.nodes().begin();
    started_ = true;
    if (at == nodes_.nodes().end()) return nullptr;
    last_ = at->first;
    return at->second;
  }
  /// Shows `each` the next nodes in name order until it returns false or none is left. True unless none is
  /// left. It looks for its place only once, so it is faster than next(); no node may come or go meanwhile.
  template <class Each>
  bool go_on(Each&& each) {
    const auto& all = nodes_.nodes();
    auto at = started_ ? all.upper_bound(last_) : all.begin();
    started_ = true;
    for (; at != all.end(); ++at) {
      if (each(*at->second)) continue;
      last_ = at->first;
      return true;
    }
    if (!all.empty()) last_ = all.rbegin()->first;
    return false;
  }
  void restart() { started_ = false; }

 private:
  const view& nodes_;
  std::string last_;
  bool started_ = false;
};

}  // namespace binnacle::store
