#pragma once

#include "common/clock.hpp"
#include "common/doubling.hpp"
#include "common/error.hpp"
#include "common/http/call.hpp"
#include "common/http/response_parser.hpp"
#include "common/rate_limit.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace binnacle::kube {

/// The object that an event is about.
struct object_reference {
  std::string kind, api_version, name_space, name, uid;
  friend auto operator<=>(const object_reference&, const object_reference&) = default;
};

/// A message about an object, shown by kubectl describe. Notes that are equal in all members become one event
/// with a count, so the text should hold no live values.
struct note {
  object_reference about;
  bool warning = false;
  std::string reason;  ///< CamelCase
  std::string action;  ///< what was done or tried, CamelCase
  std::string text;    ///< one sentence; cut to 1024 bytes
  friend auto operator<=>(const note&, const note&) = default;
};

/// Events (events.k8s.io/v1) on their way to the API server. A repeat raises the count of the first one, a
/// flood is thinned out, and nobody waits for them: what does not fit is dropped and counted. The namespaces
/// of the objects take turns, and the one with the most gives way when there is no room, so a flood in one
/// namespace keeps no event of another one waiting. Within a namespace warnings are written first. Pure: it
/// says what to write, and takes the answers. Source: client-go/tools/events, Kubernetes API conventions.
class event_recorder {
 public:
  struct settings {
    std::string controller = "binnacle-aggregator";
    std::string instance;                       ///< of this process
    std::size_t most_waiting = 256;             ///< further ones are dropped
    int burst = 25;                             ///< writes at once,
    duration refill = std::chrono::seconds(2);  ///< and one more after each of these
  };
  struct counters {
    std::uint64_t recorded = 0, written = 0, dropped = 0, failed = 0;
  };
  using wall = std::chrono::system_clock::time_point;

  explicit event_recorder(settings s);

  void record(note n, instant now, wall clock);

  /// The write that is due, if any. Call answered() or broke() after it. One write at a time.
  std::optional<http::call> next(instant now, wall clock);
  void answered(const http::answer& a, instant now);
  void broke(const error& why, instant now);
  /// When next() will have a write, if record() is not called before; none: never.
  std::optional<instant> wakes(instant now) const;

  const counters& stats() const noexcept { return counters_; }

 private:
  struct series {
    std::string event_name;  // empty: not written yet
    std::uint64_t count = 0;
    std::uint64_t written = 0;
    instant last{};
    wall last_wall{};
    instant written_at{};
    bool waiting = false;  // in a line
  };
  /// The events about the objects of a namespace.
  struct space {
    std::map<note, series> known;
    std::deque<note> warnings, others;  // those that wait; each is known
    std::size_t waiting() const noexcept { return warnings.size() + others.size(); }
  };

  series* find(const note& n);
  space& next_space();
  void enqueue(space& here, const note& n, series& s);
  void drop_newest(space& from);
  bool make_room(const space& for_whom);
  void forget_quiet(instant now);
  http::call create(const note& n, series& s, wall clock);
  http::call count_up(const note& n, const series& s) const;

  const settings settings_;
  std::map<std::string, space> spaces_;  // by namespace; "": of objects without one
  std::size_t known_ = 0, waiting_ = 0;  // in all of them
  std::string last_space_;               // which had the last turn
  std::optional<note> under_way_;
  std::uint64_t counting_ = 0;  // the count that is being written
  rate_limit writes_;
  doubling pauses_{std::chrono::seconds(10), std::chrono::minutes(2)};  // after a failure
  instant paused_until_{};
  counters counters_;
};

}  // namespace binnacle::kube
