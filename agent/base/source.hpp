#pragma once

#include "agent/base/board.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::async {
class task_group;
}

namespace binnacle::agent {

/// What `binnacle-agent --probe` and the start-up log print of a source: each part that works, and for each
/// that does not, why and what would mend it.
struct finding {
  enum class grade : unsigned char { works, limited, absent, broken };
  grade how = grade::works;
  std::string what;    ///< "package-0 (zones: package, core, dram)"
  std::string why;     ///< empty when it works
  std::string remedy;  ///< empty when it works
};

/// How often something happened that a person may want to know of: a helper was killed, an answer was
/// malformed.
struct event_count {
  std::string_view event;  ///< a label value: static text
  std::uint64_t count = 0;
};

/// How often a source that works is looked at again.
inline constexpr duration regular_look = std::chrono::minutes(5);

/// One kernel interface, device or folder. Every source takes the root folder it reads below, so that tests
/// and containers (/host/sys) need no special case. A source that cannot read one thing marks that series
/// absent with a reason and goes on.
/// Threads: the agent's loop. read() must not block for longer than a few milliseconds. What takes longer
/// lives in another process, or is waited for in the background: see start().
class source {
 public:
  virtual ~source() = default;

  virtual std::string_view name() const noexcept = 0;
  virtual duration period() const noexcept = 0;
  /// The shortest period at which others may have it read (interest). Its own by default: what a read costs
  /// somebody else (an exporter, a BMC) is not for an aggregator to decide.
  virtual duration least_period() const noexcept { return period(); }

  /// Looks at what is there without keeping it. Never fails: bad news are findings.
  virtual std::vector<finding> probe() = 0;

  /// True for a source that waits for others (an exporter's answer, a helper process). Its probe() may block
  /// for a few seconds, so it is asked by --probe alone, not when the agent starts.
  virtual bool waits() const noexcept { return false; }
  /// Called once, before the first discover(): such a source spawns its coroutines `beside` the sampler. They
  /// wait, keep the newest data in the source, and call `arrived`; read() follows at once and takes the data
  /// to the board, each group with its own read time. The coroutines own what they use
  /// (shared_ptr), since they may outlive the source by a moment when the agent ends.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it keeps the function
  virtual void start(async::task_group& /*beside*/, std::function<void()> /*arrived*/) {}

  /// Finds what there is to read and adds its groups and series to the board; called at start and, with
  /// back-off, again after read() failed or every regular_look, since zones, disks and interfaces come and
  /// go. Keeps what is still there.
  virtual result<void> discover(board& out) = 0;

  /// What is degraded now although the last read succeeded, in one sentence; empty when all is well. While it
  /// is not empty, discover() is called again with back-off.
  virtual std::string limitation() const { return {}; }

  /// What happened since the start, for binnacle_agent_source_events_total.
  virtual std::vector<event_count> events() const { return {}; }

  /// Reads everything once. Failures of single series are absences on the board; an error means the whole
  /// source failed (its message goes to the source's status, its series to absent).
  virtual result<void> read(board& out) = 0;

  /// Which of this source's families policies watch, and how often they are wanted (the shortest wish over
  /// all links). Called when that changes. The source's ticks follow by themselves, so only a source that
  /// pays for each single series has to implement this.
  virtual void set_interest(const wire::interest& wanted) { (void)wanted; }
};

}  // namespace binnacle::agent
