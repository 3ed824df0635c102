#pragma once

#include "common/wire/replicas.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

/// Plans which links to dial, so that there is one link to each replica of the aggregator. One address (a
/// load balancer's) may lead to many replicas, and several addresses may lead to one. A slot is a dialler and
/// its link. The first slots belong to the configured addresses; further slots dial the same addresses while
/// replicas are missing. If a configured address is a name with many addresses (a headless Service has one
/// for each replica), each slot takes one of them. Pure.
///
/// A replica is missing if the connected replicas say that there are more replicas than links, or if the name
/// has an address behind which no replica was met. (When replicas are added, the old ones still give the old
/// number.)
///
/// A second session to a replica supersedes the first one there (the newest wins). So the slot that reached a
/// known replica keeps it. The older slot gives it up, and rests until a replica is missing again.
class link_plan {
 public:
  static constexpr std::size_t most_slots = wire::max_replicas;

  explicit link_plan(std::size_t addresses) : addresses_(addresses), slots_(addresses), names_(addresses) {}

  std::size_t slots() const noexcept { return slots_.size(); }
  std::size_t address_of(std::size_t slot) const noexcept { return slot % addresses_; }
  bool may_dial(std::size_t slot) const noexcept;
  /// Says what the configured address number `name` resolves to now, in any order. True if that has changed.
  /// May raise slots().
  bool resolved(std::size_t name, std::vector<std::string> addresses);
  /// Whether there is a new address that `slot` may dial and nobody has tried. Then there is no reason to
  /// wait.
  bool has_new_address(std::size_t slot) const noexcept;
  /// `slot` begins to dial. Until choose() is called it counts for one of the addresses that nobody has met.
  /// A new address is no longer new: the dial's own look-up may not return it, if name servers know different
  /// things.
  void dials(std::size_t slot);
  /// Whether `slot` dials only because of an address that nobody has met, while no replica is known to be
  /// missing.
  bool only_meets(std::size_t slot) const noexcept { return !misses_one(slot); }
  /// Which of the addresses that the slot's name has now the slot should try, and in which order. Free
  /// addresses come first: no slot is connected there, and they did not lead to a replica that has a link.
  /// Among them the one that was tried longest ago comes first. One of the other addresses comes last if
  /// there is no free address, and sometimes while dials find no further replica. The reason: the free
  /// address may be dead (an IPv6 address that nobody serves), and the other may be a load balancer that
  /// leads to another replica this time. An address that is known to lead to several replicas is always free.
  /// A slot for which only_meets() is true gets no address where it would take over a link, so perhaps it
  /// gets none.
  std::vector<std::size_t> choose(std::size_t slot, const std::vector<std::string>& addresses);

  /// A session of `slot` was welcomed. Returns the slot whose link to the same replica is now superseded, if
  /// any. May raise slots().
  std::optional<std::size_t> welcomed(std::size_t slot, const std::string& replica_id, std::size_t replicas);
  /// The connection or session of `slot` ended.
  void lost(std::size_t slot) noexcept;
  /// `slot` has connected to this address.
  void reached(std::size_t slot, const std::string& address) { slots_[slot].at = address; }
  /// The address that `slot` dials or is connected to. Empty if there is none.
  const std::string& at(std::size_t slot) const noexcept { return slots_[slot].at; }
  /// Whether another slot is connected to the replica that this slot had last, or is dialling. If a newer
  /// session took the replica over, it may be that slot's.
  bool may_be_replaced_by_us(std::size_t slot) const noexcept;

  /// How many replicas have a link.
  std::size_t connected() const noexcept;

 private:
  struct slot_state {
    bool up = false;
    bool choosing = false;     // it dials, and has no address yet
    std::string at;            // address dialled or connected to; empty: none
    std::string leads_to;      // the replica of this slot's last session
    std::size_t replicas = 0;  // how many replicas there are, as that replica says
  };
  struct address_state {
    std::string led_to;       // the replica that was met there last; empty: none yet
    std::uint64_t tried = 0;  // number of the last choice that took it; 0: none
    bool offered = false;     // a dial began because it was new
    bool balances = false;    // at one time it led two slots to two replicas
  };
  std::size_t wanted() const noexcept;
  bool misses_one(std::size_t slot) const noexcept;
  bool is_taken(std::size_t slot, const std::string& address) const;
  bool is_unmet(std::size_t slot, const std::string& address) const;
  bool is_new(const std::string& address) const;
  std::size_t unmet(std::size_t name, std::size_t but) const noexcept;
  void grow();

  std::size_t addresses_;
  std::vector<slot_state> slots_;
  std::vector<std::vector<std::string>> names_;  // what each configured address resolved to last, sorted
  std::map<std::string, address_state> known_;   // addresses among which slots chose
  std::uint64_t choices_ = 0;
  std::uint64_t fruitless_ = 0;  // dials since the last one that brought a link to a further replica
};

}  // namespace binnacle::agent
