#include "aggregator/state/state_keeper.hpp"

#include "aggregator/snapshot/kept_state.hpp"
#include "common/async/timers.hpp"

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>

namespace binnacle::aggregator {
namespace {

using async::task;
using async::within;

// A kill may lose this much of `for` and coolDown. A snapshot may take a fiftieth of the loop's time, in
// pieces of some tenths of a millisecond.
constexpr std::chrono::seconds state_period(5);
constexpr std::size_t nodes_at_once = 32;
// A part of the five seconds that an asking replica waits for one answer.
constexpr std::chrono::seconds wait_for_file(2);
static_assert(policy::largest_snapshot <= most_snapshot_bytes / 2, "what is written can be read again");

snapshot stamped(core::draft d) {
  const clocks now = clocks_now();
  d.all.boot_id = now.boot_id;
  d.all.taken = now.boot;
  d.all.taken_wall = now.wall;
  return std::move(d.all);
}

}  // namespace

state_keeper::state_keeper(core& of, std::string path, std::vector<endpoint> replicas, logger log)
    : core_(of), path_(std::move(path)), replicas_(std::move(replicas)), log_(std::move(log)) {}
state_keeper::~state_keeper() = default;

replicas::outcome state_keeper::ask_replicas(std::shared_ptr<SSL_CTX> shown) {
  replicas::question q;
  q.at = replicas_;
  q.context = std::move(shown);
  replicas::outcome out;
  const auto keep = [&out](const std::exception_ptr&, replicas::outcome told) { out = std::move(told); };
  boost::asio::co_spawn(asking_, replicas::ask_replicas(std::move(q)), keep);
  async::run(asking_, log_);
  return out;
}

void state_keeper::stop_asking() { asking_.stop(); }

std::optional<snapshot> state_keeper::state_of_file(const clocks& now) const {
  if (path_.empty()) return std::nullopt;
  auto read = read_state(path_);
  if (read.has_error()) {
    if (read.error().code == errc::not_found) {
      log_.info("{}: this is its first start", read.error().message);
    } else {
      log_.warning("{}; windows, `for`, maxNodes, coolDown and what was learned of watts begin again",
                   read.error().message);
    }
    return std::nullopt;
  }
  const auto age = age_of(*read, now);
  if (!age) {
    log_.warning(
        "state file {}: by this machine's clock it was written in the future, so its age is not known; "
        "windows, `for`, clearBelow, maxNodes and coolDown begin again: set the clock before the aggregator "
        "starts",
        path_);
  } else if (*age > snapshot::oldest) {
    log_.info("state file {}: it is {} old, too old to go on from", path_, human(*age));
    return std::nullopt;
  }
  return std::move(*read);
}

void state_keeper::begin(replicas::outcome told) {
  for (const std::string& why : told.troubles) log_.info("no state from another replica: {}", why);
  const clocks now = clocks_now();
  std::optional<snapshot> own = state_of_file(now);
  using enum beginning::origin;
  began_ = {.is_decided = true,
            .from = told.state ? replica
                    : own      ? file
                               : nothing,
            .is_young = !(own && age_of(*own, now)) && (!told.state || told.is_young),
            .asked = told.asked,
            .refused = told.refused,
            .failed = told.failed};
  std::vector<std::string> whose;
  if (told.state) whose.push_back("replica " + told.from);
  if (own) whose.push_back("state file " + path_);
  std::vector<kept_state> states = states_to_go_on_from(std::move(told.state), std::move(own), now);
  if (states.empty()) return;
  std::vector<std::string> ages;
  for (const kept_state& s : states)
    ages.push_back(s.is_dated ? human(now.boot - (s.all.taken + s.shift)) + " old" : "of unknown age");
  const std::vector<std::size_t> nodes = core_.recall(std::move(states), now.boot);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    log_.info("this replica goes on from the state of {}: {}, {} nodes", whose[i], ages[i], nodes[i]);
}

void state_keeper::start(async::task_group& tasks) {
  if (path_.empty()) return;
  file_.emplace(path_);
  tasks.keep("state", [this] { return keep_writing(); });
}

task<void> state_keeper::keep_writing() {
  for (duration pause = state_period;;) {
    co_await async::sleep_for(pause);
    pause = state_period;
    if (core_.remembers_more() || is_taking()) continue;
    const std::shared_ptr<const void> held = begin_taking();
    duration took{};
    snapshot s = co_await copy_core(took);
    if (!s.nodes.empty()) file_->keep(std::move(s));
    pause = std::max<duration>(state_period, 50 * took);
  }
}

void state_keeper::keep_last() {
  if (!file_ || core_.remembers_more()) return;
  core::draft d = core_.begin_snapshot();
  (void)core_.add_nodes(d, core_.store().ids_given());
  if (!d.all.nodes.empty()) file_->keep(stamped(std::move(d)));
}

/// `took`: the time that the loop spent on it.
task<snapshot> state_keeper::copy_core(duration& took) {
  core::draft d = core_.begin_snapshot();
  for (bool all = false; !all;) {
    const instant before = boot_clock::now();
    all = core_.add_nodes(d, nodes_at_once);
    took += boot_clock::now() - before;
    co_await async::sleep_for(duration::zero());  // agents' values come first
  }
  co_return stamped(std::move(d));
}

std::shared_ptr<const void> state_keeper::begin_taking() {
  auto held = std::make_shared<const int>();
  taken_ = held;
  return held;
}

/// Does not give a state that says less than what the other replica may get elsewhere, or has in its own
/// file.
task<void> state_keeper::give(replicas::given_state then) {
  const async::deadline until = within(wait_for_file);
  while (is_taking() && std::chrono::steady_clock::now() < until)
    co_await async::sleep_for(std::chrono::milliseconds(20));
  const auto refuse_for_now = [&then](std::string why) {
    then(error{errc::overloaded, std::move(why)}, nullptr);
  };
  if (is_taking()) {
    refuse_for_now("this replica is writing its state file: try again in a second");
  } else if (!core_.policies_read()) {
    refuse_for_now("this replica has not read all policies yet, so its state says less than it will");
  } else {
    std::shared_ptr<const void> held = begin_taking();
    duration took{};
    snapshot s = co_await copy_core(took);
    if (s.nodes.empty()) {
      then(error{errc::not_found, "this replica knows no node yet"}, nullptr);
    } else {
      then(std::move(s), std::move(held));
    }
  }
}

}  // namespace binnacle::aggregator
