#pragma once

#include "aggregator/policy/published/view.hpp"
#include "aggregator/sender/sender.hpp"
#include "aggregator/settings/config.hpp"
#include "common/async/task.hpp"
#include "common/async/task_group.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::aggregator {

/// Gives the fleet's readings to the time-series databases that the settings name: by remote write, by OTLP,
/// by both or by none. Threads: the faces loop; encoding and sending have threads of their own.
class senders {
 public:
  using uid_reader = std::function<std::string(std::string_view node)>;

  /// `nodes` must outlive it.
  explicit senders(const policy::view& nodes) : nodes_(nodes) {}

  /// Begins to write. `leads` says whether this replica is the one that writes labels; by the settings only
  /// that one may have to write. `uid_of` returns the uid of a node's Node object, empty if it is not known.
  /// Errors: certificates that cannot be loaded.
  result<void> start(const settings& s, async::loop& on, async::task_group& tasks,
                     const std::function<bool()>& leads, uid_reader uid_of, const logger& log);
  std::vector<sender::report> counted() const;

 private:
  struct writer {
    sender::protocol by;
    std::unique_ptr<sender::sender> it;
  };
  async::task<void> keep_writing(async::loop& on, writer& to, duration interval,
                                 std::function<bool()> may) const;

  const policy::view& nodes_;
  uid_reader uid_of_;
  std::deque<writer> writers_;  // a task holds on to its own
};

}  // namespace binnacle::aggregator
