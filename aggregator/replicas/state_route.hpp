#pragma once

#include "aggregator/replicas/counters.hpp"
#include "aggregator/replicas/given_state.hpp"
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

/// A header in the answer of a replica that began without a state a short while ago. The state of an older
/// replica goes before it.
inline constexpr std::string_view young_header = "binnacle-state-is-young";

/// How good the state is that a replica can give.
enum class worth : std::uint8_t { nothing, young, full };

/// What the route needs. Everything is called on the loop of the routes.
struct state_sources {
  /// Whether the request comes from a replica.
  std::function<bool(const http::request&)> is_replica;
  /// What the state of this replica is worth now.
  std::function<worth()> worth_now;
  /// Takes a snapshot and gives it to `then`, on any thread; or an error, whose sentence says why there is no
  /// useful snapshot. `overloaded`: there will be one in a moment.
  std::function<void(given_state then)> take;
  /// Runs work on the loop of the routes; callable on any thread.
  std::function<void(std::function<void()>)> post;
};

/// Gives the state of this replica to another one (README.md). It makes one snapshot at a time, and encodes
/// it on a thread of its own. Threads: the loop of the routes.
class state_route {
 public:
  explicit state_route(state_sources sources);
  /// Waits for the thread that encodes, if there is one.
  ~state_route();
  state_route(const state_route&) = delete;
  state_route& operator=(const state_route&) = delete;

  /// Must outlive `routes`.
  void mount(http::router& routes);
  /// Whether a request is for this route. The route itself checks who the caller is.
  static bool is_for(const http::request& r);
  const route_counters& counted() const noexcept;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::replicas
