#pragma once

#include "aggregator/kube/client/access.hpp"
#include "common/async/task.hpp"
#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/client/client.hpp"
#include "common/log/log.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace binnacle::kube {

/// Makes calls to one API server, with our credentials. A refusal by the server is returned as an answer (see
/// refusal_of()). Only a call that got 401 is repeated here, once, after the token was read again. Include
/// from .cpp files only. Threads: one loop.
class client {
 public:
  struct counters {
    std::uint64_t calls = 0;    ///< made
    std::uint64_t refused = 0;  ///< answered 4xx or 5xx
    std::uint64_t broken = 0;   ///< not answered
    /// Members of objects that were not read; see left_out(). Counted each time that the object comes.
    std::uint64_t members_left_out = 0;
  };

  /// Reads certificates. Errors: each names the file and the remedy; unsupported, if a proxy leads to the API
  /// server.
  static result<std::shared_ptr<client>> open(access to, logger log);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// Gets the whole answer. `what.target` begins with "/api". The client adds the Authorization header.
  async::task<result<http::answer>> ask(http::call what, async::deadline until);
  /// Gets the answer's head and a stream of its body, for a watch. `until` is the deadline of the head.
  async::task<result<http::answer_stream>> stream(http::call what, async::deadline until);

  /// An object that came has more labels or annotations than are read (json_reader): counts them, and logs a
  /// line now and then. `of`: the object, for people.
  void left_out(std::uint64_t members, std::string_view of, instant now);

  const access& where() const noexcept;
  const counters& stats() const noexcept;

 private:
  struct impl;
  explicit client(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::kube
