// An attacker who has a node's key. Once a second it announces a catalog that is within all bounds: 4,999
// power meters of 31 labels, and a counter for each of them whose labels stand in the other order. One more
// series has a new label each time, so that every catalog is a new one. It goes on until it is killed.
//   other-order PORT CERTIFICATE KEY NODE
#include "common/clock.hpp"
#include "common/wire/agent_session.hpp"

#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <netinet/in.h>
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace binnacle;

constexpr int many = 4'999;
constexpr unsigned char protocol[] =
    "\x0a"
    "binnacle/1";

/// Labels that differ only in their last letters.
metrics::label_set more_labels() {
  metrics::label_set out;
  for (int i = 10; i < 40; ++i) out.emplace_back(std::string(42, 'x') + std::to_string(i), "v");
  return out;
}

wire::catalog catalog(std::uint32_t version) {
  static const metrics::label_set more = more_labels();
  wire::catalog c;
  c.version = version;
  c.groups.push_back({"rapl", "", 1000, 10'000});
  for (int i = 0; i < many; ++i) {
    wire::series_info power;
    power.family = "rapl_power_watts";
    power.labels = {{"package", std::to_string(i)}};
    power.labels.insert(power.labels.end(), more.begin(), more.end());
    power.exponent = -1;
    c.series.push_back(std::move(power));
  }
  for (int i = 0; i < many; ++i) {
    wire::series_info energy;
    energy.family = "rapl_energy_joules_total";
    energy.labels = {{"zone", "package"}, {"package", std::to_string(i)}};
    energy.labels.insert(energy.labels.end(), more.rbegin(), more.rend());
    energy.type = metrics::kind::counter;
    c.series.push_back(std::move(energy));
  }
  wire::series_info changing;
  changing.family = "changing";
  changing.labels = {{"version", std::to_string(version)}};
  c.series.push_back(std::move(changing));
  return c;
}

bool announced(wire::agent_session& session, std::uint32_t version, instant now) {
  const wire::catalog c = catalog(version);
  wire::batch all{.full = true};
  all.reads.push_back({0, to_ns(now)});
  for (std::uint32_t i = 0; i < c.series.size(); ++i) all.values.push_back({i, 300});
  for (const auto& done : {session.send(c, now), session.send(all, now)}) {
    if (done.has_value()) continue;
    std::fprintf(stderr, "not sent: %s\n", done.error().message.c_str());
    return false;
  }
  return true;
}

int connected(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(port));
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{0, 50'000};  // it comes back for the next catalog
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0) return fd;
  ::close(fd);
  return -1;
}

/// Waits for the peer as long as the socket does, also in the handshake.
bool goes_on(SSL* ssl, int done) { return done > 0 || SSL_get_error(ssl, done) == SSL_ERROR_WANT_READ; }

void attack(SSL* ssl, const std::string& node) {
  int done = 0;
  while ((done = SSL_connect(ssl)) != 1) {
    if (!goes_on(ssl, done)) return;
  }
  wire::agent_session session{{}};
  wire::hello h;
  h.node = node;
  h.boot_id = "boot";
  if (session.start(h, boot_clock::now()).has_error()) return;
  std::uint32_t version = 0;
  instant due = instant::max();
  wire::bytes out, in(std::size_t{64} << 10);
  for (;;) {
    const instant now = boot_clock::now();
    for (auto e = session.next(now); e != wire::agent_session::event::nothing; e = session.next(now)) {
      if (e == wire::agent_session::event::ended) {
        std::fprintf(stderr, "ended: %s\n", session.ended() ? session.ended()->message.c_str() : "");
        return;
      }
      if (e == wire::agent_session::event::welcomed) due = now;
    }
    if (now >= due) {
      if (!announced(session, ++version, now)) return;
      due = now + std::chrono::milliseconds(1'050);
    }
    session.take_output(out);
    if (!out.empty() && SSL_write(ssl, out.data(), static_cast<int>(out.size())) <= 0) return;
    done = SSL_read(ssl, in.data(), static_cast<int>(in.size()));
    if (!goes_on(ssl, done)) return;
    if (done > 0) session.feed({in.data(), static_cast<std::size_t>(done)});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: other-order PORT CERTIFICATE KEY NODE\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_alpn_protos(context.get(), protocol, sizeof protocol - 1);
  if (SSL_CTX_use_certificate_chain_file(context.get(), argv[2]) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), argv[3], SSL_FILETYPE_PEM) != 1) {
    std::fprintf(stderr, "no certificate\n");
    return 1;
  }
  for (;;) {
    if (const int fd = connected(std::atoi(argv[1])); fd >= 0) {
      const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), &SSL_free);
      SSL_set_fd(ssl.get(), fd);
      attack(ssl.get(), argv[4]);
      ::close(fd);
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}
