#pragma once

#include "aggregator/kube/events/event_recorder.hpp"
#include "common/clock.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::model_servers {

/// Faults in objects of the API server. Each is written once as an event on the object, and is in the status
/// while it lasts. Pure. The caller looks at all objects again and again, and add()s each fault that it
/// finds. A fault that was not added for `ends_after` is over. Bounds: `most` faults at once; further ones
/// are left out, and the sentences say so.
class complaints {
 public:
  static constexpr std::size_t most = 2'000;
  /// The values of nodes come some seconds after the nodes, so a fault is reported only after this time.
  static constexpr duration said_after = std::chrono::seconds(30);
  static constexpr duration ends_after = std::chrono::minutes(1);

  /// `why`: a clause without live values.
  void add(const kube::object_reference& about, std::string why, instant now);
  /// Forgets what is over.
  void end_old(instant now);

  /// Writes the events that are due. Each fault gets one event while it lasts; if `write` does not take it,
  /// it is tried again.
  template <class Write>
  void say(instant now, Write&& write) {
    for (auto& [what, c] : all_) {
      if (!c.said && now - c.since >= said_after) c.said = write(note_of(what));
    }
  }
  /// For the status: a sentence for each reason, with the names of its objects; ten at most.
  std::vector<std::string> sentences(instant now) const;

 private:
  using complaint = std::pair<kube::object_reference, std::string>;
  struct state {
    instant since{}, seen{};
    bool said = false;
  };
  static kube::note note_of(const complaint& what);

  std::map<complaint, state> all_;
  bool full_ = false;
};

}  // namespace binnacle::model_servers
