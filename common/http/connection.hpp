#pragma once

#include "common/async/stream.hpp"
#include "common/async/task_group.hpp"
#include "common/async/turnstile.hpp"
#include "common/http/places.hpp"
#include "common/http/server.hpp"
#include "common/log/rare_warning.hpp"

#include <list>
#include <memory>

// Private to server.cpp and connection.cpp.
namespace binnacle::http {

class connection;

/// What all connections of a server share. The server and each of its coroutines own it together.
struct server_core {
  server_core(boost::asio::io_context& on, server_options o, router r, logger l)
      : loop(on),
        options(std::move(o)),
        routes(std::move(r)),
        log(std::move(l)),
        seats({options.max_connections, options.most_large_buffers, options.most_answer_bytes},
              options.first_byte_deadline),
        handshakes(on),
        pipelined(on),
        group(on, log),
        ending(on, log) {
    counters.most = options.max_connections;
  }

  boost::asio::io_context& loop;
  const server_options options;
  const router routes;
  const logger log;

  server_counters counters;
  std::list<connection*> open;
  places seats;  // of the connections of `open` that were not told to go
  bool stopping = false;
  bool retiring = false;  // goes on answering, but each connection ends after its next answer
  async::turnstile handshakes;
  async::turnstile pipelined;  // for requests that came together with an earlier one
  rare_warning tls_warning;    // for failed handshakes
  async::task_group group;     // the accept loop and the connections
  async::task_group ending;    // runs stop(), which waits for `group`
};

/// Serves one connection to its end.
async::task<void> serve(std::shared_ptr<server_core> core, async::tcp_socket socket);

/// The network that counts as the peer's address when places are shared.
network place_of(const async::tcp_socket& socket);

/// Closes a connection that may be replaced by a newcomer from this network; false if there is none.
bool make_room(server_core& core, const network& from);

/// Cuts the connections whose certificates the context denies by now.
void end_denied(server_core& core);

/// Closes the connections that wait for a request.
void close_idle(server_core& core);

}  // namespace binnacle::http
