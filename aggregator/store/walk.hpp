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
  void restart() { started_ = false; }

 private:
  const view& nodes_;
  std::string last_;
  bool started_ = false;
};

}  // namespace binnacle::store
