#pragma once

#include "agent/ipmi/protocol/protocol.hpp"
#include "agent/sources/bmc/bmc_snapshot.hpp"
#include "agent/sources/bmc/helper_process.hpp"
#include "agent/sources/bmc/supervisor.hpp"
#include "common/clock.hpp"
#include "common/log/log.hpp"
#include "common/system/descriptor.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace binnacle::ipmi {
class line_buffer;
}
namespace binnacle::async {
class event;
class task_group;
}  // namespace binnacle::async

namespace binnacle::agent {

struct link_options {
  std::string socket;      ///< of a sidecar; empty: the helper is our child, started by `command`
  helper_command command;  ///< the child
  ipmi::wanted_sensors select;
  supervisor::settings supervision;
};

/// The agent's end of the conversation with the helper binnacle-ipmi. As the supervisor decides, it starts or
/// dials the helper, reads its lines and sends ours. Nothing in here waits for the BMC. Threads: the agent's
/// loop.
class helper_link : public std::enable_shared_from_this<helper_link> {
 public:
  /// How long a reading that a policy waits for is held back, so that others go with it. A round of a BMC's
  /// sensors takes milliseconds, and each call of `arrived` costs a batch on every link. A reading that no
  /// policy waits for stays in the snapshot until the next call of `arrived` or the source's next tick.
  static constexpr duration gathering = std::chrono::milliseconds(20);

  helper_link(link_options o, logger log);
  ~helper_link();

  /// Starts the coroutines in `tasks`, which must outlive the loop's run. `arrived` is called when there are
  /// readings that should not wait (see gathering). `inventory` is called when the BMC has other sensors than
  /// before.
  void start(async::task_group& tasks, std::function<void()> arrived, std::function<void()> inventory);
  /// Does not call `arrived` and `inventory` any more.
  void forget();
  /// Says that there may be a BMC: starts the helper, unless it was started before.
  void allow();
  void credentials_changed();
  void set_interest(std::map<std::string, std::uint32_t> period_ms);

  bmc_snapshot& view() noexcept { return view_; }
  const supervisor& minder() const noexcept { return minder_; }

 private:
  struct connection;
  struct coroutines;
  void act();
  void open();
  void close();
  void reap();
  void say(const ipmi::from_agent& message);
  void adopt(descriptor channel);
  result<void> hear(ipmi::line_buffer& lines, std::string_view bytes);
  result<void> hear_one(const ipmi::from_helper& message);
  void tell_by(instant when);
  void wake();

  const link_options options_;
  const logger log_;
  supervisor minder_;
  bmc_snapshot view_;
  ipmi::interest interest_;
  std::function<void()> arrived_, inventory_;
  async::task_group* tasks_ = nullptr;
  std::shared_ptr<async::event> wake_;
  std::optional<helper_process> child_;
  std::shared_ptr<connection> present_;
  instant kill_at_{};                 // when a child without a connection is killed
  instant tell_at_ = instant::max();  // when arrived_ is to be called
};

}  // namespace binnacle::agent
