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

/// Decides which of several replicas may write, by a Lease (coordination.k8s.io/v1). It says what to ask the
/// API server next, and takes the answers. Pure: time is given. Another holder's time stamps are never
/// compared with our clock: a Lease is over when we have seen it unchanged for its duration. An election
/// cannot rule out that two replicas write for a moment, so what the holder writes must do no harm then.
/// Source: client-go/tools/leaderelection, kubernetes.io/docs/concepts/architecture/leases.
class election {
 public:
  struct settings {
    std::string name_space;
    std::string name = "binnacle-aggregator";
    std::string identity;  ///< of this process: the pod's name and a part that differs at each start
    duration lease = std::chrono::seconds(15);  ///< after which others may take over
    duration renew = std::chrono::seconds(10);  ///< without a renewal for so long we stop by ourselves
    duration retry = std::chrono::seconds(5);   ///< between two renewals
    /// How often a waiting replica reads the Lease: so often that it takes over within 20 s after the holder
    /// died.
    duration look = std::chrono::seconds(4);
  };
  struct action {
    std::optional<http::call> call;  ///< none: wait
    duration within{};               ///< how long to wait, or the call's deadline
  };
  /// The longest deadline for the holder's writes. A write that begins while leads() is true ends before
  /// another replica can hold the Lease.
  static constexpr duration write_deadline = std::chrono::seconds(5);
  using wall = std::chrono::system_clock::time_point;

  explicit election(settings s);

  /// What to do now. After a call, call answered() or broke().
  action next(instant now, wall clock);
  void answered(const http::answer& a, instant now);
  void broke(const error& why, instant now);

  /// Whether we may write. Ask before every write: it becomes false by itself.
  bool leads(instant now) const noexcept { return renewed_ && now < *renewed_ + settings_.renew; }
  /// For how long we may still write without a renewal; meaningful while leads().
  duration time_left(instant now) const noexcept { return *renewed_ + settings_.renew - now; }
  /// The call that gives the Lease back, so that the next replica takes over at once. Make it when our
  /// writing has ended. None if we do not hold the Lease.
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
