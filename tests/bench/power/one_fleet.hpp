#pragma once

#include "common/error.hpp"
#include "tests/bench/power/servers.hpp"

#include <string>
#include <vector>

namespace binnacle::bench {

/// A fleet and the pods that it gets.
struct one_fleet {
  std::vector<server> kinds;
  std::size_t each = 4;                  ///< times its count of each kind
  double load = 0.5;                     ///< the share of the fleet's cores that the pods ask for
  double max_load = 1;                   ///< the share of a server's cores that pods may take
  double pod_cores = 4;                  ///< of pods that stay
  std::vector<double> come_and_go = {};  ///< cores of pods that do not stay; empty: they stay
};

/// {"servers":[…],"pods":N,"spread":W,"waoV2":W,"marginal":W,"chord":W,"optimum":W}: the fleet's watts by
/// each rule.
/// - Of pods that stay, the watts are the means of five runs, which differ in how ties are broken.
/// - Of pods that come and go, they are means over time, of four runs. There is no "pods" then, and "refused"
///   has the share of the pods that found no room, by rule.
///
/// Errors: invalid_input, a sentence, if pods can never find room, or if cores of pods that come and go are
/// no multiples of the fewest: the optimum is counted in these.
result<std::string> filled_once(const one_fleet& w);

}  // namespace binnacle::bench
