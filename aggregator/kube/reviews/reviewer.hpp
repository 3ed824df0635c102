#pragma once

#include "aggregator/kube/client/client.hpp"
#include "aggregator/kube/reviews/reviews.hpp"
#include "common/async/task.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::kube {

/// Asks the API server who a token's holder is and what a user may do, remembers its answers for ten
/// seconds, and tries again (500 ms, then half as long again each time) while the server has trouble. Include
/// from .cpp files only. Threads: one loop.
class reviewer {
 public:
  struct counters {
    std::uint64_t asked = 0, remembered = 0, failed = 0, turned_away = 0;
  };
  /// Questions under way at once; more are refused (overloaded) instead of piling up.
  static constexpr std::size_t most_at_once = 256;

  explicit reviewer(std::shared_ptr<client> api);
  ~reviewer();

  /// The answer that token() would give from memory; nothing if it would have to ask.
  std::optional<token_answer> remembered(std::string_view bearer, const std::vector<std::string>& audiences);
  /// An error means that nothing is known and the caller must refuse the request; its sentence says why.
  async::task<result<token_answer>> token(std::string bearer, std::vector<std::string> audiences,
                                          async::deadline until);
  async::task<result<access_answer>> access(access_question question, async::deadline until);

  const counters& stats() const noexcept;

 private:
  struct impl;
  std::shared_ptr<impl> impl_;  // running questions share it
};

}  // namespace binnacle::kube
