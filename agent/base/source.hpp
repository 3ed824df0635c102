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

/// What `binnacle-agent --probe` and the start-up log print about a part of a source: that it works, or why
/// it does not and what would mend it.
struct finding {
  enum class grade : unsigned char { works, limited, absent, broken };
  grade how = grade::works;
  std::string what;    ///< "package-0 (zones: package, core, dram)"
  std::string why;     ///< empty when it works
  std::string remedy;  ///< empty when it works
};

/// How often something happened that an operator may want to know, for example that a helper was killed or an
/// answer was malformed.
struct event_count {
  std::string_view event;  ///< a label value: static text
  std::uint64_t count = 0;
};

/// How often discover() runs again for a source that works.
inline constexpr duration regular_look = std::chrono::minutes(5);

/// Reads one kernel interface, device or folder. Every source is given the root folder below which it reads,
/// so tests and containers (/host/sys) need no special case. If a source cannot read one thing, it marks that
/// series absent with a reason and goes on.
/// Threads: the agent's loop. read() must not block for longer than a few milliseconds. Anything slower runs
/// in another process or is waited for in the background: see start().
class source {
 public:
  virtual ~source() = default;

  virtual std::string_view name() const noexcept = 0;
  virtual duration period() const noexcept = 0;
  /// The shortest period at which an aggregator's interest may have the source read. The default is the
  /// source's own period: a read may cost somebody else something (an exporter, a BMC), and an aggregator
  /// must not decide about that.
  virtual duration least_period() const noexcept { return period(); }

  /// Looks at what is there without keeping anything. Never fails: problems are reported as findings.
  virtual std::vector<finding> probe() = 0;

  /// True for a source that waits for others (an exporter's answer, a helper process). Its probe() may block
  /// for a few seconds, so only --probe calls it, not the agent's start.
  virtual bool waits() const noexcept { return false; }
  /// For a source that waits for others; called once, before the first discover(). The source spawns its
  /// coroutines in `beside`. They wait, keep the newest data in the source, and call `arrived`. read()
  /// follows at once and puts the data on the board, each group with its own read time. The coroutines own
  /// what they use (shared_ptr), since they may outlive the source for a moment when the agent ends.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it keeps the function
  virtual void start(async::task_group& /*beside*/, std::function<void()> /*arrived*/) {}

  /// Finds what there is to read, and adds its groups and series to the board. Called at the start, every
  /// regular_look (zones, disks and interfaces come and go), and with back-off after read() failed. Keeps
  /// everything that is still there.
  virtual result<void> discover(board& out) = 0;

  /// What does not work although the last read succeeded, in one sentence; empty if everything works. While
  /// it is not empty, discover() is called again with back-off.
  virtual std::string limitation() const { return {}; }

  /// Counts of what happened since the start, for binnacle_agent_source_events_total.
  virtual std::vector<event_count> events() const { return {}; }

  /// Reads everything once. If single series fail, they become absent on the board. An error means that the
  /// whole source failed: its message becomes the source's status, and its series become absent.
  virtual result<void> read(board& out) = 0;

  /// Which families of this source policies watch, and how often they are wanted (the shortest period over
  /// all links). Called when that changes. The sampler changes the source's ticks by itself, so only a source
  /// for which each single series has a cost has to implement this.
  virtual void set_interest(const wire::interest& wanted) { (void)wanted; }
};

}  // namespace binnacle::agent
