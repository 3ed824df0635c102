#pragma once

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

/// How long a service account's token still lasts by its own `exp`, from one minute to a day, and never
/// longer than from its `iat`; ten minutes when it does not say. Worth something only for a token that the
/// API server has vouched for. Pure. Source: RFC 7519 4.1.4.
duration time_left(std::string_view token, std::chrono::system_clock::time_point now);

/// Asks the API server whose the agents' tokens are: a few at a time, however many agents come at once, the
/// rest in a bounded queue. While it cannot be asked, what it said of a token before holds until that token's
/// end, so that an agent whose link broke comes back. Include from .cpp files only. Threads: one loop.
class agent_tokens {
 public:
  struct answer {
    kube::token_answer review;
    instant ends{};  ///< when the token expires
  };
  using then = std::function<void(result<answer>)>;
  struct counters {
    std::uint64_t asked = 0;        ///< TokenReviews
    std::uint64_t remembered = 0;   ///< answered from memory
    std::uint64_t vouched = 0;      ///< answered from memory, because the API server was away
    std::uint64_t failed = 0;       ///< not answered
    std::uint64_t turned_away = 0;  ///< the queue was full
  };
  static constexpr long most_at_once = 16;
  static constexpr std::size_t most_waiting = 2'000;

  agent_tokens(boost::asio::io_context& on, std::shared_ptr<kube::client> api, std::string audience,
               logger log);
  ~agent_tokens();
  agent_tokens(const agent_tokens&) = delete;
  agent_tokens& operator=(const agent_tokens&) = delete;

  /// `tell` is called once, at once or later. Errors: nothing is known of the token now; the sentence says
  /// why.
  void ask(std::string token, then tell);

  counters counted() const noexcept;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace binnacle::callers
