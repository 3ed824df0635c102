#pragma once

#include "aggregator/model_servers/counters.hpp"
#include "aggregator/model_servers/endpoint_provider.hpp"
#include "common/backoff.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/response_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::model_servers {

/// Decides which endpoint provider is asked when, and keeps what they said. Pure: time and answers are given.
///
/// A provider is asked when an object names it, and again every 15 minutes. If that fails, it is asked again
/// after a random time that grows from 5 seconds to 5 minutes, after 404 only in 15 minutes. Meanwhile its
/// last answer counts for an hour. Those that have waited for the longest time go first. One conversation at
/// a time is held with a server, and most_calls with all servers together. Bounds: `most` providers. One that
/// no object names for 10 minutes is dropped; if there is no room for another one, the one that was named
/// least recently is, unless that is less than 30 s ago.
class endpoint_providers {
 public:
  static constexpr std::size_t most = 20'000;
  static constexpr std::size_t most_calls = 8;
  static constexpr duration asked_again_after = std::chrono::minutes(15);
  static constexpr duration counts_for = std::chrono::hours(1);
  static constexpr duration dropped_after = std::chrono::minutes(10);
  static constexpr duration dropped_early_after = std::chrono::seconds(30);

  explicit endpoint_providers(std::uint64_t seed) : random_(seed) {}

  /// The model that it names, without a Secret; null: not known. Notes that an object names the provider:
  /// call it again and again while that is so. The pointer is valid until the next call that is not const.
  const served_model* want(const endpoint_provider& p, instant now);

  /// What is wrong with a provider.
  struct fault {
    std::string what;  ///< a clause, the same for all providers with this fault; empty: nothing is wrong
    std::string why;   ///< of this one, where `what` does not say it all
  };
  fault fault_of(const endpoint_provider& p) const;

  /// A call to be made now. answered() must be called for each of them.
  struct call {
    endpoint_provider about;
    std::string system;  ///< whose model is asked for; empty: which systems there are

    std::string target() const;
  };
  /// The calls that begin a conversation. `may`: whether the provider can be asked now, since the password
  /// that its server wants is known.
  std::vector<call> next(instant now, const std::function<bool(const endpoint_provider&)>& may);
  /// Takes the answer. Returns the next call of this conversation, to be made at once.
  std::optional<call> answered(const call& c, const result<http::answer>& got, instant now);

  /// The password in this Secret has changed: the pauses after refusals end.
  void ask_at_once(std::string_view secret, instant now);

  const provider_counters& counted() const noexcept { return counted_; }
  std::size_t size() const noexcept { return known_.size(); }

 private:
  struct entry {
    std::optional<served_model> model;
    instant answered_at{}, wanted_at{}, due{};
    fault wrong;
    backoff pauses{{std::chrono::seconds(5), std::chrono::seconds(10), std::chrono::minutes(5)}};
  };
  bool make_room(instant now);
  void leave_alone(entry& e, provider_outcome what, fault wrong, bool for_long, instant now);
  void count(provider_outcome o) noexcept { ++counted_[static_cast<std::size_t>(o)]; }

  std::map<endpoint_provider, entry> known_;
  std::set<std::string> busy_;  // servers
  std::mt19937_64 random_;
  provider_counters counted_{};
  bool full_ = false;  // a provider was refused
  instant room_at_{};  // none can be dropped before
};

}  // namespace binnacle::model_servers
