#pragma once

#include "aggregator/ops/report.hpp"
#include "common/async/task.hpp"
#include "common/error.hpp"
#include "common/http/router.hpp"
#include "common/http/server.hpp"
#include "common/log/log.hpp"
#include "common/tls/context.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace binnacle::aggregator {

/// The HTTP servers of the faces, on one address. They stop together, except for the server that was opened
/// last (health), which goes on saying "not ready" until the others have stopped. Include from .cpp files
/// only. Threads: one loop.
class face_servers {
 public:
  /// `on` must outlive it.
  face_servers(async::loop& on, std::string address, logger log);
  ~face_servers();
  face_servers(const face_servers&) = delete;
  face_servers& operator=(const face_servers&) = delete;

  /// Opens one more server. `most`: connections at a time. `tls`: null for plain HTTP. Errors: those of
  /// http::server::start().
  result<void> open(std::string name, std::int64_t port, std::size_t most, std::shared_ptr<tls::context> tls,
                    http::router routes);
  std::vector<ops::listener_report> listeners() const;

  /// Asks callers to connect to another replica next time.
  void retire();
  /// Running requests get the time `grace` to end. `done` is called on the loop when all servers are closed.
  void stop(std::chrono::milliseconds grace, const std::function<void()>& done);

 private:
  struct open_server {
    std::string name;
    bool has_tls;
    std::unique_ptr<http::server> server;
  };

  async::loop& loop_;
  const std::string address_;
  const logger log_;
  std::vector<open_server> all_;
  std::size_t still_open_ = 0;  // of those that stop first
};

}  // namespace binnacle::aggregator
