#pragma once

#include "common/clock.hpp"
#include "common/wire/messages.hpp"

#include <map>
#include <string>

namespace binnacle::agent {

/// What the aggregators want read often, over all links. Pure.
class interest_book {
 public:
  /// A link that is gone keeps its wishes for this long: a restarted aggregator asks for the same again, and
  /// the values it finds then are as fresh as before.
  static constexpr duration grace = std::chrono::minutes(2);

  /// What the aggregator behind `link` wants; replaces what that link wanted before.
  void set(std::size_t link, const wire::interest& wanted);
  /// The link is gone: its wishes end `grace` later, unless set() comes before.
  void lost(std::size_t link, instant now);
  /// Forgets the wishes whose time is over. True if there were any.
  bool expire(instant now);
  /// When expire() has something to do next; instant::max() for never.
  instant next_deadline() const noexcept;

  /// Every family wanted, in order of name, with the shortest period over all links.
  wire::interest wanted() const;

 private:
  struct wishes {
    std::map<std::string, std::uint32_t> periods_ms;  // by family
    instant until = instant::max();
  };
  std::map<std::size_t, wishes> by_link_;
};

}  // namespace binnacle::agent
