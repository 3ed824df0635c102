#pragma once

#include "aggregator/store/types.hpp"
#include "common/deadline_heap.hpp"

#include <compare>
#include <cstdint>

namespace binnacle::policy {

enum class due : std::uint8_t {
  expiry,     ///< an input's value at a node becomes absent
  cool_down,  ///< a waiting node may get its label
  grace,      ///< a strategy has waited long enough for values that never came
  give_up,    ///< a strategy has waited long enough for values of one node that never came
};

struct deadline {
  instant at{};
  due what = due::expiry;
  std::uint32_t owner = 0;  ///< serial number of the input or strategy
  store::node_id node{};
  friend auto operator<=>(const deadline&, const deadline&) = default;
};

using deadlines = deadline_heap<deadline>;

}  // namespace binnacle::policy
