#include "common/tls/context.hpp"
#include "common/tls/engine.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/net/pki.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

/// A server's TLS engine against any peer. The first byte of the input chooses. If it is even, the rest comes
/// instead of a handshake, in pieces. If it is odd, a handshake comes first, and then each byte is an action
/// of the client: it writes, updates its keys, damages a record, sends bytes that are no record, or closes.
namespace fuzz_tls_records {

namespace {

using namespace binnacle;
using step = tls::engine::step;

void hold(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "fuzz_tls_records: %s\n", what);
  std::abort();
}

/// Made once, since the fuzzing does not concern the certificates.
struct identities {
  support::temp_folder dir;
  support::authority ca{dir, "ca"};
  std::unique_ptr<tls::context> server, client;

  identities() {
    tls::options serving{tls::role::server, ca.issue_server(), tls::client_certificate::required, true, {}};
    support::wanted who;
    who.common_name = "n1";
    tls::options calling{tls::role::client, ca.issue("n1", who), tls::client_certificate::none, true, {}};
    server = tls::context::load(serving).value();
    client = tls::context::load(calling).value();
  }
};
identities& ours() {
  static identities made;
  return made;
}

struct pair {
  pair() {
    hold(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0, "no socket pair");
    server = std::make_unique<tls::engine>(ours().server->current(), tls::role::server, fds[0]);
  }
  ~pair() {
    for (const int fd : fds) {
      if (fd >= 0) ::close(fd);
    }
  }

  /// Returns false if the socket is full or closed.
  static bool send(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void leave() {
    if (fds[1] >= 0) ::close(fds[1]);
    fds[1] = -1;
  }

  /// Checks what must hold after each call of the server's engine.
  step after(step made, std::uint64_t received_before) {
    hold(server->received() - received_before <= tls::engine::turn_size + 16'384 + 5,
         "one call took more than a turn");
    // The outbox may exceed its bound by one answer to a message, or one alert.
    hold(server->outbox().size() <= tls::engine::most_outbox + 1'024, "the outbox is beyond its bound");
    if (made == step::failed) {
      hold(!server->why().message.empty(), "it failed without a sentence");
      failed = true;
    }
    hold(!failed || made == step::failed, "a connection that failed went on");
    return made;
  }

  std::array<int, 2> fds{-1, -1};
  std::unique_ptr<tls::engine> server;
  bool failed = false;
};

void instead_of_a_handshake(std::string_view bytes) {
  pair p;
  std::size_t piece = 1;
  for (int calls = 0; calls < 4'096; ++calls) {
    const std::string_view now = bytes.substr(0, piece);
    bytes.remove_prefix(now.size());
    piece = piece % 700 + 97;
    if (now.empty()) p.leave();
    if (!now.empty() && !pair::send(p.fds[1], now)) return;
    const auto before = p.server->received();
    step made = p.after(p.server->handshake(), before);
    for (int turns = 0; made == step::want_turn; ++turns) {
      hold(turns < 64, "turns without end");
      const auto taken = p.server->received();
      made = p.after(p.server->handshake(), taken);
    }
    hold(made != step::done, "a handshake without a client");
    if (made != step::want_read || now.empty()) return;
  }
}

class after_a_handshake {
 public:
  after_a_handshake() : client_(ours().client->current(), tls::role::client, p_.fds[1], "localhost") {
    step here = step::want_read, there = step::want_read;
    for (int round = 0; round < 6 && (here != step::done || there != step::done); ++round) {
      if (here != step::done) here = client_.handshake();
      flush();
      if (there != step::done) there = p_.server->handshake();
      pair::send(p_.fds[0], p_.server->outbox());
      p_.server->outbox().clear();
    }
    hold(here == step::done && there == step::done, "no handshake between two that are in order");
  }

  void run(std::span<const std::uint8_t> deeds) {
    for (const std::uint8_t deed : deeds) {
      if (!act(deed) || !read()) break;
    }
    p_.leave();
    read();
  }

 private:
  bool act(std::uint8_t deed) {
    const std::size_t size = std::size_t{1} + (deed >> 3) * 500;
    switch (deed & 7) {
      case 0:
      case 1: {
        const std::string text(size, static_cast<char>('a' + deed % 26));
        if (client_.write(text) != step::done) return false;
        if (!damaged_) sent_ += text;
        break;
      }
      case 2: SSL_key_update(client_.native(), SSL_KEY_UPDATE_NOT_REQUESTED); break;
      case 3:
      case 4: SSL_key_update(client_.native(), SSL_KEY_UPDATE_REQUESTED); break;
      case 5:  // a record that was changed after encryption
        if (client_.write("damaged") != step::done) return false;
        if (!client_.outbox().empty()) client_.outbox().back() ^= 1;
        damaged_ = true;
        break;
      case 6:  // a header with this type and length, and no body
        client_.outbox() +=
            std::string{static_cast<char>(20 + (deed >> 3) % 5), 3, 3, 0, static_cast<char>(deed)};
        damaged_ = true;
        break;
      case 7: client_.shutdown(); break;
    }
    if ((deed & 7) >= 2 && (deed & 7) <= 4) (void)client_.handshake();  // writes the message
    return flush();
  }
  bool flush() {
    const bool all = pair::send(p_.fds[1], client_.outbox());
    client_.outbox().clear();
    return all;
  }

  /// Reads everything that has come. Returns false when the connection is over.
  bool read() {
    std::array<char, 2'000> room;
    for (int calls = 0;; ++calls) {
      hold(calls < 4'096, "calls without end");
      std::size_t got = 0;
      const auto before = p_.server->received();
      const step made = p_.after(p_.server->read(room.data(), room.size(), got), before);
      if (made == step::done) {
        hold(got > 0 && got <= room.size(), "a read of nothing, or of too much");
        const std::string_view text(room.data(), got);
        hold(sent_.compare(read_, got, text) == 0, "what was read is not what was sent");
        read_ += got;
        continue;
      }
      if (made == step::want_turn) continue;
      return made == step::want_read;
    }
  }

  pair p_;
  tls::engine client_;
  std::string sent_;
  std::size_t read_ = 0;
  bool damaged_ = false;
};

}  // namespace

FUZZ_TARGET(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span rest(data + 1, std::min<std::size_t>(size - 1, 100'000));
  if (data[0] % 2 == 0) {
    instead_of_a_handshake({reinterpret_cast<const char*>(rest.data()), rest.size()});
  } else {
    after_a_handshake().run(rest.first(std::min<std::size_t>(rest.size(), 400)));
  }
  return 0;
}

}  // namespace fuzz_tls_records
