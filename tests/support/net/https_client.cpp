#include "tests/support/net/https_client.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace binnacle::support {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("https_client: " + what); }

struct closes_fd {
  int fd = -1;
  ~closes_fd() {
    if (fd >= 0) ::close(fd);
  }
};

int open_socket(const https_client::options& o) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(o.host.c_str(), std::to_string(o.port).c_str(), &hints, &found) != 0)
    fail("no address for " + o.host);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> held(found, &freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  closes_fd guard{fd};
  const timeval limit{o.timeout_s, 0};
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!o.from.empty()) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    if (inet_pton(AF_INET, o.from.c_str(), &own.sin_addr) != 1 ||
        ::bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
      fail("cannot call from " + o.from);
  }
  if (::connect(fd, found->ai_addr, found->ai_addrlen) != 0)
    fail(std::string("connect: ") + std::strerror(errno));
  guard.fd = -1;
  return fd;
}

}  // namespace

struct https_client::impl {
  explicit impl(options o) : wanted(std::move(o)) {
    std::signal(SIGPIPE, SIG_IGN);  // for SSL_write to a peer that is gone
    if (wanted.pem.authority.empty()) return;
    tls::options t;
    t.side = tls::role::client;
    t.pem = wanted.pem;
    auto loaded = tls::context::load(t);
    if (loaded.has_error()) fail(loaded.error().message);
    context = std::move(*loaded);
  }
  ~impl() { close(); }

  void close() {
    if (ssl != nullptr) {
      SSL_free(ssl);
      ssl = nullptr;
    }
    if (fd >= 0) ::close(fd);
    fd = -1;
    input.clear();
  }

  void open() {
    close();
    fd = open_socket(wanted);
    last_said_close = false;
    ++made;
    if (!context) return;
    ssl = SSL_new(context->current().get());
    SSL_set_fd(ssl, fd);
    SSL_set1_host(ssl, wanted.server_name.c_str());
    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, wanted.server_name.data());
    ERR_clear_error();
    if (SSL_connect(ssl) != 1) {
      const std::string why = tls::last_error();
      close();
      fail("TLS handshake: " + why);
    }
  }

  void send(std::string_view text) {
    while (!text.empty()) {
      std::size_t n = 0;
      if (ssl != nullptr) {
        ERR_clear_error();
        if (SSL_write_ex(ssl, text.data(), text.size(), &n) != 1) fail("send: " + tls::last_error());
      } else {
        n = send_some(text);
      }
      text.remove_prefix(n);
    }
  }

  std::size_t send_some(std::string_view bytes) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) fail(std::string("send: ") + std::strerror(errno));
    return static_cast<std::size_t>(sent);
  }

  /// Reads more bytes; false if the peer has ended the connection.
  bool more() {
    const auto had = input.size();
    input.resize(had + (64u << 10));
    std::size_t n = 0;
    if (ssl != nullptr) {
      ERR_clear_error();
      const int ok = SSL_read_ex(ssl, input.data() + had, input.size() - had, &n);
      const int why = ok == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, ok);
      input.resize(had + n);
      if (ok == 1) return true;
      if (why == SSL_ERROR_ZERO_RETURN ||
          ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return false;
      if (why == SSL_ERROR_SYSCALL && errno == 0) return false;
      fail("receive: " + (why == SSL_ERROR_SYSCALL ? std::string(std::strerror(errno)) : tls::last_error()));
    }
    const ssize_t got = ::recv(fd, input.data() + had, input.size() - had, 0);
    const int reason = errno;
    input.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0) fail(std::string("receive: ") + std::strerror(reason));
    return got > 0;
  }

  options wanted;
  std::unique_ptr<tls::context> context;
  SSL* ssl = nullptr;
  int fd = -1;
  int made = 0;
  bool last_said_close = false;
  std::string input;
};

https_client::https_client(options o) : impl_(std::make_unique<impl>(std::move(o))) {}
https_client::~https_client() = default;
https_client::https_client(https_client&&) noexcept = default;

void https_client::connect() { impl_->open(); }
void https_client::disconnect() { impl_->close(); }
int https_client::connections() const { return impl_->made; }
void https_client::send(std::string_view raw) {
  if (impl_->fd < 0 || impl_->last_said_close) connect();
  impl_->send(raw);
}

void https_client::send_bare(std::string_view bytes) {
  while (!bytes.empty()) bytes.remove_prefix(impl_->send_some(bytes));
}

https_client::answer https_client::receive(bool to_head) {
  std::string& in = impl_->input;
  std::size_t end = 0;
  while ((end = in.find("\r\n\r\n")) == std::string::npos) {
    if (!impl_->more()) fail("the peer ended the connection instead of answering");
  }
  answer out;
  const std::string head = in.substr(0, end + 2);
  if (!head.starts_with("HTTP/1.1 ") || head.size() < 12) fail("this is no answer: " + head);
  out.status = static_cast<unsigned>(std::stoul(head.substr(9, 3)));
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const auto stop = head.find("\r\n", at);
    const auto colon = head.find(": ", at);
    if (colon == std::string::npos || colon > stop) fail("this is no header: " + head.substr(at, stop - at));
    std::string name = head.substr(at, colon - at);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    out.headers[name] = head.substr(colon + 2, stop - colon - 2);
    at = stop + 2;
  }
  in.erase(0, end + 4);
  std::size_t length = 0;
  if (const auto at = out.headers.find("content-length"); at != out.headers.end() && !to_head)
    length = std::stoul(at->second);
  while (in.size() < length) {
    if (!impl_->more()) fail("the peer ended the connection within an answer");
  }
  out.body = in.substr(0, length);
  in.erase(0, length);
  impl_->last_said_close = out.headers.contains("connection") && out.headers["connection"] == "close";
  return out;
}

bool https_client::ended_by_peer() {
  if (impl_->fd < 0) return true;
  const bool quiet = impl_->input.empty();
  try {
    return !impl_->more() && quiet;
  } catch (const std::runtime_error&) {
    return quiet && errno == ECONNRESET;
  }
}

https_client::answer https_client::request(const std::string& method, const std::string& target,
                                           std::string_view body, const header_list& headers) {
  std::string head = method + " " + target + " HTTP/1.1\r\nHost: " + impl_->wanted.server_name + "\r\n";
  for (const auto& [name, value] : headers) head += name + ": " + value + "\r\n";
  if (!body.empty() || method == "POST") head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  head += "\r\n";
  send(head);
  if (!body.empty()) send(body);
  answer out = receive(method == "HEAD");
  while (out.status == 100) out = receive(method == "HEAD");
  return out;
}

https_client::answer https_client::get(const std::string& target, const header_list& headers) {
  return request("GET", target, {}, headers);
}
https_client::answer https_client::post(const std::string& target, std::string_view body,
                                        const header_list& headers) {
  return request("POST", target, body, headers);
}

}  // namespace binnacle::support
