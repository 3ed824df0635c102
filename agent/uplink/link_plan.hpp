#pragma once

#include "common/wire/replicas.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

/// Which links to dial so that there is one to each replica of the aggregator, also when one address (a load
/// balancer's) leads to many replicas, or several addresses to one. A slot is one dialler and its link: the
/// first slots belong to the configured addresses, further ones dial the same addresses while replicas are
/// missing. Where a configured address is a name with many addresses (a headless Service has one for each
/// replica), each slot takes one of its own. Pure.
///
/// A replica is missing if the others count more than there are links to, or if the name has an address that
/// nobody has met: when replicas are added, those that are there still give the old number.
///
/// A second session to a replica supersedes the first there (the newest wins), so the slot that reached a
/// known replica keeps it, and the older slot lets go and rests until somebody is missing again.
class link_plan {
 public:
  static constexpr std::size_t most_slots = wire::max_replicas;

  explicit link_plan(std::size_t addresses) : addresses_(addresses), slots_(addresses), names_(addresses) {}

  std::size_t slots() const noexcept { return slots_.size(); }
  std::size_t address_of(std::size_t slot) const noexcept { return slot % addresses_; }
  bool may_dial(std::size_t slot) const noexcept;
  /// What a configured address, by its number, resolves to now, in any order. True if that is news. May raise
  /// slots().
  bool resolved(std::size_t name, std::vector<std::string> addresses);
  /// An address has come that `slot` may dial and nobody has tried: there is no reason to wait for it.
  bool has_new_address(std::size_t slot) const noexcept;
  /// `slot` begins to dial. Until choose() it counts for one of the addresses that nobody has met. A new one
  /// is new no more: the dial's own look-up may not give it, if name servers know different things.
  void dials(std::size_t slot);
  /// `slot` dials though no replica is known to be missing, for an address that nobody has met.
  bool only_meets(std::size_t slot) const noexcept { return !misses_one(slot); }
  /// Which of the addresses that a slot's name has now it is to try, and in which order. First come the free
  /// addresses: no slot is connected there, and they did not lead to a replica that has a link. The one that
  /// was tried longest ago comes first. One of the other addresses comes last if there is no free one, and
  /// sometimes while dials bring no further replica. The free one may be dead (an IPv6 address that nobody
  /// serves), and the other may be a load balancer that leads to another replica this time. An address that
  /// is known to lead to several replicas is always free. A slot that only_meets() is given no address where
  /// it would take over a link, perhaps none at all.
  std::vector<std::size_t> choose(std::size_t slot, const std::vector<std::string>& addresses);

  /// A session of `slot` was welcomed. Gives the slot whose link to that replica is now superseded, if any.
  /// May raise slots().
  std::optional<std::size_t> welcomed(std::size_t slot, const std::string& replica_id, std::size_t replicas);
  /// The connection or session of `slot` ended.
  void lost(std::size_t slot) noexcept;
  /// The connection of `slot` is to this address.
  void reached(std::size_t slot, const std::string& address) { slots_[slot].at = address; }
  /// The address that `slot` dials or has a connection to; empty: none.
  const std::string& at(std::size_t slot) const noexcept { return slots_[slot].at; }
  /// Another slot is at the replica that this one was at last, or dials: if a newer session took the replica
  /// over, it may be that one's.
  bool may_be_replaced_by_us(std::size_t slot) const noexcept;

  /// Replicas there is a link to.
  std::size_t connected() const noexcept;

 private:
  struct slot_state {
    bool up = false;
    bool choosing = false;     // dials, and has no address yet
    std::string at;            // address dialled or connected to; empty: none
    std::string leads_to;      // replica the last session of this slot met
    std::size_t replicas = 0;  // how many there are, as that replica says
  };
  struct address_state {
    std::string led_to;       // the replica that was met there last; empty: none yet
    std::uint64_t tried = 0;  // the how-manieth choice took it last
    bool offered = false;     // a dial began because it was new
    bool balances = false;    // it led two slots to two replicas at one time
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
  std::map<std::string, address_state> known_;   // of the addresses that were chosen from last
  std::uint64_t choices_ = 0;
  std::uint64_t fruitless_ = 0;  // dials since the last that brought a link to one more replica
};

}  // namespace binnacle::agent
