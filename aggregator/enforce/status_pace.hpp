#pragma once

#include "aggregator/enforce/policy_status.hpp"
#include "common/backoff.hpp"
#include "common/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

namespace binnacle::enforce {

/// How often statuses are written: a change soon, but not twice in a few seconds for one policy; ages seldom;
/// and a failure makes a pause. A flapping status cannot cost the API server more than that. Pure: time is
/// given.
class status_pace {
 public:
  static constexpr duration between_changes = std::chrono::seconds(5);      ///< of one policy
  static constexpr duration between_ages = std::chrono::seconds(20);        ///< of any two
  static constexpr duration after_refusal = std::chrono::seconds(30);       ///< of one policy
  static constexpr duration after_loss = std::chrono::minutes(5);           ///< of one policy
  static constexpr duration first_change = std::chrono::milliseconds(100);  ///< between any two

  explicit status_pace(std::uint64_t seed)
      : random_(seed),
        pauses_({std::chrono::milliseconds(400), std::chrono::milliseconds(1600), std::chrono::seconds(30)}) {
  }

  /// Whether the last write of this policy is long enough ago.
  bool is_due(const std::string& policy, instant now) const {
    const auto at = not_before_.find(policy);
    return at == not_before_.end() || now >= at->second;
  }
  /// When the next change of any policy may be written.
  instant next_change() const { return std::max(paused_until_, last_ ? *last_ + first_change : instant()); }

  bool may_write(const std::string& policy, urgency how, instant now) const {
    if (how == urgency::none || now < paused_until_ || !is_due(policy, now)) return false;
    if (how == urgency::change) return now >= next_change();
    return !last_age_ || now - *last_age_ >= between_ages;
  }
  /// A write of this policy's status begins. Follow it with wrote(), lost(), refused() or pause(). If the
  /// policy is forgotten meanwhile, that makes only the others wait.
  void begins(const std::string& policy, instant now) { not_before_[policy] = now; }
  void wrote(const std::string& policy, urgency how, instant now) {
    must_wait(policy, now + between_changes);
    last_ = now;
    if (how == urgency::refresh) last_age_ = now;
    pauses_.reset();
  }
  /// The API server took this policy's status, but kept another one. It will do the same with the next.
  void lost(const std::string& policy, urgency how, instant now) {
    wrote(policy, how, now);
    must_wait(policy, now + after_loss);
  }
  /// The API server refused what is in this policy's status. It may take the statuses of other policies.
  void refused(const std::string& policy, instant now) {
    must_wait(policy, now + after_refusal);
    last_ = now;
  }
  /// The API server is away, in trouble, or asks for a pause of this length: no status is written meanwhile.
  void pause(duration at_least, instant now) {
    paused_until_ = now + pauses_.next(random_, at_least);
    last_ = now;
  }
  /// The policy was changed, or is gone: what was written of it before does not count.
  void forget(const std::string& policy) { not_before_.erase(policy); }
  /// Policies of which something is remembered.
  std::size_t size() const noexcept { return not_before_.size(); }

 private:
  // A policy that is gone is forgotten once. An entry that is made for it afterwards would stay for good.
  void must_wait(const std::string& policy, instant until) {
    if (const auto at = not_before_.find(policy); at != not_before_.end()) at->second = until;
  }

  std::map<std::string, instant> not_before_;
  std::optional<instant> last_, last_age_;
  std::mt19937_64 random_;
  backoff pauses_;
  instant paused_until_{};
};

}  // namespace binnacle::enforce
