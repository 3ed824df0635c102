#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/sampling/interest.hpp"
#include "agent/sampling/read_budget.hpp"
#include "agent/sampling/schedule.hpp"
#include "agent/sampling/stuck_sensors.hpp"
#include "common/doubling.hpp"
#include "common/log/line_throttle.hpp"
#include "common/log/log.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::agent {

struct sampler_options {
  /// The largest share of one core that reading a source more often than its own period may cost.
  double share = 0.005;
  on_frozen frozen = on_frozen::flag;
};

/// Reads each source when it is due, and keeps the health of each source on the board. If a source fails or
/// throws, no other stops: its series become absent, and the sampler looks for it again with back-off until
/// it is back. What policies watch is read more often, within a budget. It has no timer of its own:
/// main's sample_loop() calls it. Threads: the agent's loop.
class sampler {
 public:
  sampler(board& out, logger log, clocks time = {}, sampler_options options = {});

  void add(std::unique_ptr<source> s);

  /// Starts the ticks of all sources at `now`, and discovers what there is to read.
  void start(instant now);
  /// Reads the sources that are due. True if there were any.
  bool run(instant now);
  /// The source of this name has new data. The next run() reads it, even if its tick is not due.
  void arrived(std::string_view source);
  /// When run() must be called next; instant::max() if there are no sources.
  instant next_deadline() const noexcept;

  /// What the aggregator behind `link` wants read more often. It replaces what that link wanted before. The
  /// shortest period over all links counts, as far as each source and the budget allow. Families that no
  /// source here has are ignored.
  void set_interest(std::size_t link, const wire::interest& wanted, instant now);
  /// The link is lost. What it wanted is still read for interest_book::grace.
  void lose_interest(std::size_t link, instant now);

  struct health {
    std::string source;
    bool up = false;
    duration last_read{};  ///< how long the last read took
    duration period{};     ///< in force now
    std::uint64_t missed = 0;
    std::size_t stuck = 0;  ///< how many of its sensors are stuck
    std::vector<event_count> events;
  };
  std::vector<health> report() const;

 private:
  struct entry {
    std::unique_ptr<source> from;
    schedule ticks;
    read_budget budget;
    duration asked;               // the period that interests ask for, before the budget
    wire::interest wanted;        // the wishes for its families
    std::string refused_by_look;  // series that discover() could not announce
    std::string slowed;           // how the budget lengthened that period, in one sentence
    bool found = false;           // discover() has succeeded
    bool up = false;
    bool arrived = false;
    instant look_at{};                                                   // when discover() is due again
    doubling pauses{std::chrono::seconds(1), std::chrono::seconds(60)};  // pauses before further looks
    duration last_read{};
    std::uint64_t missed = 0;
    std::optional<bool> told_ok;  // what the log said last
    std::string told;
    std::size_t told_more = 0;                         // how many further problems that message counted
    line_throttle lines{1, std::chrono::seconds(60)};  // for changes in a source that works in part
    line_throttle period_lines{4, std::chrono::seconds(60)};  // for changes of the period
  };

  void look(entry& e, instant now);
  void read(entry& e, instant now);
  void failed(entry& e, const error& why, instant now);
  void say(entry& e, bool ok, const std::string& message, instant now);
  void apply_interest(instant now);
  void set_period(entry& e, instant now);
  std::string refusal_since(std::uint64_t refusals) const;

  board& out_;
  logger log_;
  clocks time_;
  std::vector<entry> entries_;
  double share_;
  stuck_sensors stuck_;
  interest_book wishes_;
  std::uint64_t applied_to_ = 0;  // the board's version when wishes_ were last given to the sources
};

}  // namespace binnacle::agent
