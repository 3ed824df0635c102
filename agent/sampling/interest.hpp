#pragma once

#include "common/clock.hpp"
#include "common/wire/messages.hpp"

#include <map>
#include <string>

namespace binnacle::agent {

/// Which families the aggregators want read more often, over all links. Pure.
class interest_book {
 public:
  /// The wishes of a lost link last this long. A restarted aggregator asks for the same again, and finds
  /// values as fresh as before.
  static constexpr duration grace = std::chrono::minutes(2);

  /// What the aggregator behind `link` wants; replaces what that link wanted before.
  void set(std::size_t link, const wire::interest& wanted);
  /// The link is lost. Its wishes end after `grace`, unless set() is called before.
  void lost(std::size_t link, instant now);
  /// Forgets the wishes whose grace is over. True if there were any.
  bool expire(instant now);
  /// When expire() must be called next; instant::max() for never.
  instant next_deadline() const noexcept;

  /// Every wanted family, sorted by name, with the shortest period over all links.
  wire::interest wanted() const;

 private:
  struct wishes {
    std::map<std::string, std::uint32_t> periods_ms;  // by family
    instant until = instant::max();
  };
  std::map<std::size_t, wishes> by_link_;
};

}  // namespace binnacle::agent
