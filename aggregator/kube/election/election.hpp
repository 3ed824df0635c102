#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/call.hpp"
#include "common/http/response_parser.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace binnacle::kube {

/// Who of several replicas may write, by a Lease (coordination.k8s.io/v1): says what to ask the API server
/// next and takes what came of it. Pure: time is given. Another holder's time stamps are never compared with
/// our clock: a lease is over when we have seen it unchanged for its duration. An election is no fence: what
/// the holder writes must be harmless when two write for a moment.
/// Source: client-go/tools/leaderelection, kubernetes.io/docs/concepts/architecture/leases.
class election {
 public:
  struct settings {
    std::string name_space;
    std::string name = "binnacle-aggregator";
    std::string identity;  ///< of this process: pod name and something that no second start has
    duration lease = std::chrono::seconds(15);  ///< after which others may take over
    duration renew = std::chrono::seconds(10);  ///< without a renewal for so long we stop by ourselves
    duration retry = std::chrono::seconds(5);   ///< between two renewals
    /// Between two looks of a replica that waits: so short that a holder that died is followed within 20 s.
    duration look = std::chrono::seconds(4);
  };
  struct action {
    std::optional<http::call> call;  ///< none: wait
    duration within{};               ///< how long to wait, or the call's deadline
  };
  /// The longest deadline of what the holder writes: begun while leads(), it is over before another may hold
  /// the Lease.
  static constexpr duration write_deadline = std::chrono::seconds(5);
  using wall = std::chrono::system_clock::time_point;

  explicit election(settings s);

  /// What to do now; then answered() or broke() for a call.
  action next(instant now, wall clock);
  void answered(const http::answer& a, instant now);
  void broke(const error& why, instant now);

  /// Whether we may write. Ask before every write: it becomes false by itself.
  bool leads(instant now) const noexcept { return renewed_ && now < *renewed_ + settings_.renew; }
  /// How long we may, if nothing happens; meaningful while leads().
  duration time_left(instant now) const noexcept { return *renewed_ + settings_.renew - now; }
  /// Gives the lease back, when our writing has ended: the next takes over at once. None when we have none.
  std::optional<http::call> release(instant now, wall clock);

  /// Who holds it, as last seen; empty: nobody.
  const std::string& holder() const noexcept { return seen_.holder; }
  std::int64_t transitions() const noexcept { return seen_.transitions; }
  const std::string& trouble() const noexcept { return trouble_; }

 private:
  enum class step : unsigned char { look, create, take, renew };
  struct record {
    std::string holder;
    std::string version;
    std::string acquired;  // as written
    std::string renewed;
    std::int64_t seconds = 0;
    std::int64_t transitions = 0;
    bool operator==(const record&) const = default;
  };

  http::call write(step how, wall clock);
  std::string body(step how, wall clock) const;
  void look_at(const http::answer& a, instant now);
  void lost(std::string why, duration at_least, instant now);
  bool expired(instant now) const noexcept;

  const settings settings_;
  step step_ = step::look;
  bool look_first_ = true;  // before anything is written
  record seen_;
  instant seen_changed_{};
  instant due_{};
  instant asked_{};
  std::optional<instant> renewed_;  // we held it, as of when that call began
  std::string trouble_;
};

}  // namespace binnacle::kube
