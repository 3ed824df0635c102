#pragma once

#include "aggregator/snapshot/snapshot.hpp"
#include "common/error.hpp"
#include "common/http/router.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace binnacle::replicas {

/// Where replicas ask each other for their state, on the ops port.
inline constexpr std::string_view state_path = "/replicas/v1/state";

/// A header of an answer from a replica that began with nothing a short while ago. Its state serves one that
/// has nothing, and is no match for a file or for the state of an older replica.
inline constexpr std::string_view young_header = "binnacle-state-is-young";

/// What a replica has to give.
enum class worth : std::uint8_t { nothing, young, full };

/// A snapshot for a replica. While `held` lives no other one is taken, so that there are never two.
using given_state = std::function<void(result<aggregator::snapshot> state, std::shared_ptr<const void> held)>;

/// What the route stands on. Everything is called on the loop of the routes.
struct state_sources {
  /// Whether the request comes from a replica.
  std::function<bool(const http::request&)> is_replica;
  /// What the state of this replica is worth now.
  std::function<worth()> worth_now;
  /// Takes a snapshot and gives it to `then`, on any thread, or why there is none that is worth having, as a
  /// sentence.
  std::function<void(given_state then)> take;
  /// Runs work on the loop of the routes; callable on any thread.
  std::function<void(std::function<void()>)> post;
};

/// Gives the state of this replica to another one (README.md). One snapshot is made at a time, and encoded on
/// a thread of its own. Threads: the loop of the routes.
class state_route {
 public:
  struct counters {
    std::uint64_t given = 0;
    std::uint64_t strangers = 0;  ///< refused: no replica
    std::uint64_t too_early = 0;  ///< refused: there was no state yet, or none worth having
    std::uint64_t busy = 0;       ///< refused: another replica was being answered
  };

  explicit state_route(state_sources sources);
  /// Waits for the thread that encodes, if there is one.
  ~state_route();
  state_route(const state_route&) = delete;
  state_route& operator=(const state_route&) = delete;

  /// Must outlive `routes`.
  void mount(http::router& routes);
  /// Whether a request is for this route, which checks by itself who asks.
  static bool is_for(const http::request& r);
  const counters& counted() const noexcept;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::replicas
