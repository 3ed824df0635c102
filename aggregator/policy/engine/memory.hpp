#pragma once

#include "aggregator/policy/policy.hpp"
#include "aggregator/store/words.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the engine takes along through a restart: its part of a snapshot.
namespace binnacle::policy {

/// A strategy in a snapshot. The state of its nodes counts for a strategy of the same object only.
struct strategy_mark {
  policy_key key;
  std::string uid = {};  ///< policy::uid; empty also if an older release wrote it
  strategy_kind kind = strategy_kind::dontschedule;
  std::uint64_t content = 0;          ///< content_of()
  std::optional<instant> last_given;  ///< when a label of it went on last: coolDown
  std::uint32_t serial = 0;           ///< names the run in the engine that wrote it; means nothing to another
  bool disowned = false;              ///< it could give no labels: those under its name were another policy's
};

/// A number that is equal for strategies with the same content.
std::uint64_t content_of(const policy_key& key, const strategy& s);

/// What a snapshot says of one strategy.
struct remembered_strategy {
  std::uint64_t content = 0;  ///< content_of()
  /// As the policy in force had it then; none: that is not known. A strategy of another content needs it.
  std::optional<strategy> definition = {};
  instant taken{};  ///< when the snapshot was taken, in this process's time
  std::optional<instant> last_given = {};
  /// What strategy_run::save() wrote of the node; none: nothing. Empty: only `disowned` is known.
  std::function<std::optional<store::word_reader>(store::node_id)> of = {};
  /// Labels of this kind under the policy's name, if nodes carry any, are those of another object.
  bool disowned = false;
};

/// Finds what a snapshot says of a strategy of that object; none: nothing.
using engine_memory =
    std::function<std::optional<remembered_strategy>(const policy_key&, std::string_view uid, strategy_kind)>;

}  // namespace binnacle::policy
