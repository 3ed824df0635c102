#pragma once

#include "aggregator/store/view.hpp"
#include "common/http/sliced.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

/// The labels of Node objects, by which people group a fleet: rack, zone, pool.
namespace binnacle::ops {

using each_label = std::function<void(std::string_view key, std::string_view value)>;
/// Calls `each` for every label of the node's object; not at all if there is no such object.
using label_reader = std::function<void(std::string_view node, const each_label& each)>;

inline constexpr std::size_t most_label_keys = 256;    ///< in one answer
inline constexpr std::size_t most_label_values = 200;  ///< of one key, in one answer

/// {"keys":[{"key":"topology.kubernetes.io/zone","nodes":5000,"values":3}],"omitted":false}: which labels the
/// Node objects of the nodes that have an agent carry, in the order of the keys. `values` is the number of
/// different values. It is left out if there are more than most_label_values, because nobody groups nodes by
/// such a key. `omitted` is true if there are more keys than most_label_keys. `nodes` must outlive it.
std::unique_ptr<http::slices> label_keys(const store::view& nodes, label_reader labels);

/// {"key":"…","values":[{"value":"a","nodes":["n1","n2"]}],"omitted":0}: which nodes carry which value of
/// `key`, in the order of the values. `omitted` counts the nodes whose value is not among the first
/// most_label_values values found. `nodes` must outlive it.
std::unique_ptr<http::slices> label_values(const store::view& nodes, label_reader labels, std::string key);

}  // namespace binnacle::ops
