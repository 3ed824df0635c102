#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

/// Which links to dial so that there is one to each replica of the aggregator, also when one address (a load
/// balancer's) leads to many replicas, or several addresses to one. A slot is one dialler and its link: the
/// first slots belong to the configured addresses, further ones dial the same addresses while replicas are
/// missing. Pure.
///
/// A second session to a replica supersedes the first there (the newest wins), so the slot that reached a
/// known replica keeps it, and the older slot lets go and rests until somebody is missing again.
class link_plan {
 public:
  static constexpr std::size_t most_slots = 16;

  explicit link_plan(std::size_t addresses) : addresses_(addresses), slots_(addresses) {}

  std::size_t slots() const noexcept { return slots_.size(); }
  std::size_t address_of(std::size_t slot) const noexcept { return slot % addresses_; }
  bool may_dial(std::size_t slot) const noexcept;

  /// A session of `slot` was welcomed. Gives the slot whose link to that replica is now superseded, if any.
  /// May raise slots().
  std::optional<std::size_t> welcomed(std::size_t slot, const std::string& replica_id, std::size_t replicas);
  /// The session of `slot` ended.
  void lost(std::size_t slot) noexcept;

  /// Replicas there is a link to.
  std::size_t connected() const noexcept;

 private:
  struct slot_state {
    bool up = false;
    std::string leads_to;      // replica the last session of this slot met
    std::size_t replicas = 0;  // how many there are, as that replica says
  };
  std::size_t wanted() const noexcept;

  std::size_t addresses_;
  std::vector<slot_state> slots_;
};

}  // namespace binnacle::agent
