#pragma once

#include "aggregator/config.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/sender/sender.hpp"
#include "common/async/task.hpp"
#include "common/async/task_group.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace binnacle::aggregator {

/// Gives the fleet's readings to the time-series databases that the settings name: by remote write, by OTLP,
/// by both or by none. Threads: the faces loop; encoding and sending have threads of their own.
class senders {
 public:
  struct report {
    sender::protocol by;
    sender::counters numbers;
  };

  /// `nodes` must outlive it.
  explicit senders(const policy::view& nodes) : nodes_(nodes) {}

  /// Begins to write. `leads`: whether this replica is the one that writes labels; settings may leave writing
  /// to that one. Errors: certificates that cannot be loaded.
  result<void> start(const settings& s, async::loop& on, async::task_group& tasks,
                     const std::function<bool()>& leads, const logger& log);
  std::vector<report> counted() const;

 private:
  struct writer {
    sender::protocol by;
    std::unique_ptr<sender::sender> it;
  };
  async::task<void> keep_writing(async::loop& on, sender::sender& to, duration interval,
                                 std::function<bool()> may) const;

  const policy::view& nodes_;
  std::vector<writer> writers_;
};

}  // namespace binnacle::aggregator
