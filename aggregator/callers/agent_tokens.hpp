#pragma once

#include "aggregator/callers/counters.hpp"
#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/reviews/reviews.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/log/log.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace binnacle::callers {

/// How long a service account's token is still valid by its own `exp`: at least one minute, at most a day,
/// and never longer than the time from its `iat` to its `exp`. Ten minutes if it has no `exp`. The text of a
/// token can be forged, so use this only for a token that the API server has confirmed. Pure. Source: RFC
/// 7519 4.1.4.
duration time_left(std::string_view token, std::chrono::system_clock::time_point now);

/// Asks the API server to whom the agents' tokens belong. It asks about a few tokens at a time, however many
/// agents come at once; the others wait in a bounded queue. While the API server cannot be reached, its last
/// answer about a token holds until the token expires, so that an agent whose connection broke can come back.
/// Include from .cpp files only. Threads: one loop.
class agent_tokens {
 public:
  struct answer {
    kube::token_answer review;
    instant ends{};  ///< when the token expires
  };
  using then = std::function<void(result<answer>)>;
  static constexpr long most_at_once = 16;
  static constexpr std::size_t most_waiting = 2'000;

  agent_tokens(boost::asio::io_context& on, std::shared_ptr<kube::client> api, std::string audience,
               logger log);
  ~agent_tokens();
  agent_tokens(const agent_tokens&) = delete;
  agent_tokens& operator=(const agent_tokens&) = delete;

  /// `tell` is called once, immediately or later. An error means that nothing is known of the token now; its
  /// sentence says why.
  void ask(std::string token, then tell);

  token_counters counted() const noexcept;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::callers
