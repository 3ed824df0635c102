#pragma once

#include "common/tls/context.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binnacle::support {

/// A small blocking HTTP/1.1 client with keep-alive, over TLS or plain TCP, for tests and the demo's drivers.
/// Every error is a std::runtime_error, and nothing waits longer than `timeout_s`. Only one thread at a time
/// may use it.
class https_client {
 public:
  struct options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    tls::files pem;  ///< authority empty: plain HTTP; certificate empty: no client certificate
    std::string server_name = "localhost";
    int timeout_s = 10;
    std::string from;  ///< the address to call from ("127.0.0.2"); empty: the kernel's choice
  };
  struct answer {
    unsigned status = 0;
    std::map<std::string, std::string> headers;  ///< names lower-cased
    std::string body;
  };
  using header_list = std::vector<std::pair<std::string, std::string>>;

  explicit https_client(options o);
  ~https_client();
  https_client(https_client&&) noexcept;

  /// Connects if there is no connection. After an answer with "Connection: close" the next call makes a new
  /// one. Never retries.
  answer get(const std::string& target, const header_list& headers = {});
  answer post(const std::string& target, std::string_view body, const header_list& headers = {});
  answer request(const std::string& method, const std::string& target, std::string_view body = {},
                 const header_list& headers = {});

  /// get() in parts, for tests of requests that break the rules.
  void connect();
  void send(std::string_view raw);
  /// Sends bytes on the connection as they are, past TLS.
  void send_bare(std::string_view bytes);
  answer receive(bool to_head = false);
  /// Waits until the peer ends the connection; true if no further byte comes before that.
  bool ended_by_peer();
  void disconnect();
  /// How many connections were made so far: 1 while keep-alive works.
  int connections() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace binnacle::support
