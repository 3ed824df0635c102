#pragma once

#include "aggregator/kube/client/access.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/http/client/client.hpp"
#include "common/log/log.hpp"

#include <cstdint>
#include <memory>

namespace binnacle::kube {

/// Calls to one API server, with our credentials. An answer that is a refusal is an answer (refusal_of());
/// nothing is tried again here but a call that met 401, once, with a token read again. Include from .cpp
/// files only. Threads: one loop.
class client {
 public:
  struct counters {
    std::uint64_t calls = 0;    ///< made
    std::uint64_t refused = 0;  ///< answered 4xx or 5xx
    std::uint64_t broken = 0;   ///< not answered
  };

  /// Reads certificates. Errors: each names the file and the remedy.
  static result<std::shared_ptr<client>> open(access to, logger log);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// The whole answer. `what.target` begins with "/api"; the Authorization header is ours to add.
  async::task<result<http::answer>> ask(http::call what, async::deadline until);
  /// The answer's head, for a watch; `until` is the head's deadline.
  async::task<result<http::answer_stream>> stream(http::call what, async::deadline until);

  const access& where() const noexcept;
  const counters& stats() const noexcept;

 private:
  struct impl;
  explicit client(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::kube
