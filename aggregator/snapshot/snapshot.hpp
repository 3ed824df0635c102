#pragma once

#include "aggregator/policy/engine/memory.hpp"
#include "aggregator/policy/text/kept_policy.hpp"
#include "aggregator/store/types.hpp"
#include "aggregator/store/words.hpp"
#include "common/clock.hpp"
#include "common/crowd.hpp"
#include "common/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// The state of a core that must outlive its process: what is known of each column and strategy at each node
/// (README.md). A value; may cross threads.
struct snapshot {
  /// One that is older is not used: what is known of a fleet an hour ago says little of it now.
  static constexpr std::chrono::hours oldest{1};
  struct column {
    store::column_spec spec;
    std::string meaning;  ///< warehouse::meaning()
  };
  /// An address from which an agent of the node was welcomed (core/node_tenants).
  struct tenant {
    network address;
    std::string boot;  ///< the boot id of the machine there
    instant last{};    ///< when its last session ended, or the snapshot was taken
    friend bool operator==(const tenant&, const tenant&) = default;
  };
  static constexpr std::size_t most_tenants = 4;
  /// From when until when a node's agent was connected, short pauses not counted (core/node_contact).
  struct contact {
    instant since{}, until{};
    friend bool operator==(const contact&, const contact&) = default;
  };
  /// A longer contact says no more of what counts now (kept_state).
  static constexpr duration longest_contact = std::chrono::hours(1);
  struct node {
    std::string name;
    store::words words;                         ///< snapshot.capnp says how they lie
    std::map<std::string, std::string> labels;  ///< standalone: what the node carries
    std::vector<tenant> tenants = {};           ///< at most most_tenants, in the order in which they came
    std::optional<contact> heard = {};          ///< none: its agent has never been connected
    std::string uid = {};                       ///< of the Node object; empty: there is none, or not known
  };

  std::string boot_id;  ///< whose boot time the instants are
  instant taken{};
  std::chrono::system_clock::time_point taken_wall{};
  std::vector<column> columns;
  std::vector<policy::strategy_mark> strategies;
  std::vector<policy::kept_policy> policies;  ///< no more than most_kept_policies, each version once
  std::vector<node> nodes;
  /// False: an older release wrote it, which noted no contacts. decode() then gives each node that has values
  /// a long contact until the snapshot was taken.
  bool says_heard = true;
  /// Windows, samples and states of strategies at nodes, and versions of policies, for which there was no
  /// room. Not in the bytes.
  std::uint64_t left_out = 0;
};

/// A bound of the memory that it takes, and of its bytes before they are packed.
std::size_t size_of(const snapshot::node& n) noexcept;
std::size_t size_of(const snapshot::column& c) noexcept;
std::size_t size_of(const policy::strategy_mark& m) noexcept;

/// The clocks of the process that reads a snapshot.
struct clocks {
  std::string boot_id;
  instant boot{};
  std::chrono::system_clock::time_point wall{};
};

/// How old the snapshot is, by the boot time if that is the same, else by the wall clock; never negative.
/// None: the wall clock has not reached the time of the snapshot yet, so it was set back since.
std::optional<duration> age_of(const snapshot& s, const clocks& now) noexcept;
/// What brings the snapshot's instants to this process's boot time, so that ages go on: 0 within one boot. A
/// snapshot of unknown age counts as taken now.
/// Check age_of() first: the shift of a very old snapshot may be larger than a word_reader allows.
duration shift_of(const snapshot& s, const clocks& now) noexcept;

/// Gives the bytes of a snapshot to `take`, piece by piece: Cap'n Proto, packed. Frees each part that it has
/// given, so it needs at most a MiB more memory than the snapshot. Cost: some 20 ns a word.
void encode(snapshot s, const std::function<void(std::span<const std::byte>)>& take);
/// All bytes at once, for a small snapshot.
std::vector<std::byte> encode(snapshot s);
/// Reads what encode() wrote. Errors: invalid_input (no snapshot, another version, out of bounds). The words
/// of a node are checked by the code that reads them. A policy that is not right is left out.
result<snapshot> decode(std::span<const std::byte> bytes);

/// decode() reads no more. Two versions of each of a thousand policies.
inline constexpr std::size_t most_kept_policies = 2'000;
/// decode() takes no larger one, by size_of() and before packing.
inline constexpr std::size_t most_snapshot_bytes = std::size_t{256} << 20;

}  // namespace binnacle::aggregator
