// TLS over a non-blocking socket, and why OpenSSL is used directly.
//
// asio::ssl::stream costs 80 kB for an idle connection, and a write that is cancelled may leave half a record
// behind, after which the connection is lost. Here an idle connection costs 25 kB, and bytes go these ways:
//
//   socket ── recv() in our BIO ──→ OpenSSL ──→ read()
//   write() ──→ OpenSSL ──→ our BIO appends to outbox_ ──→ the caller sends it (async::stream)
//
// Reads come straight from the socket, because a buffer in between would cost memory for each connection.
// Writes always succeed into the outbox. So OpenSSL never asks to write again with the same arguments
// (SSL_ERROR_WANT_WRITE), which would forbid a reader and a writer to take turns.
//
// The peer is not trusted before the handshake, and hardly after it. What it can make us do is bounded:
// - One call takes at most turn_size bytes from the socket. Then it says want_turn: other connections run.
// - After the handshake, messages of the handshake (key updates, session tickets) are rationed. SSL_read does
//   not return for records without data, so a flood of them would keep one call busy for as long as they
//   come. They are counted in OpenSSL's message callback, which is the only place that sees each of them.
// - A client's hello and its certificates are looked at before OpenSSL reads them, in the same callback
//   (costly_certificates.hpp). OpenSSL asks nobody whether it may go on. So a message that it must not read
//   is overwritten, and OpenSSL refuses what it finds there.
// - The outbox is bounded. A peer that asks for key updates and never reads makes it grow by an answer each.
// Beyond a bound the connection has failed for good. has_failed_ keeps later calls away from OpenSSL, which
// must not be used after a fatal error.

#include "common/tls/engine.hpp"

#include "common/clock.hpp"
#include "common/system/os_error.hpp"
#include "common/tls/costly_certificates.hpp"

#include <climits>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <sys/socket.h>
#include <utility>

namespace binnacle::tls {

/// The BIO between OpenSSL and an engine: reads come from the socket, writes go to the outbox.
struct socket_bio {
  static constexpr std::size_t message_header = 4;  // of a message of the handshake: its type and length

  static engine& of(BIO* bio) { return *static_cast<engine*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* to, int room) {
    engine& e = of(bio);
    BIO_clear_retry_flags(bio);
    if (e.turn_left_ == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const ssize_t got = ::recv(e.socket_, to, std::min(static_cast<std::size_t>(room), e.turn_left_), 0);
    if (got >= 0) {
      e.turn_left_ -= static_cast<std::size_t>(got);
      e.received_ += static_cast<std::uint64_t>(got);
      return static_cast<int>(got);
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      BIO_set_retry_read(bio);
    } else {
      e.socket_errno_ = errno;
    }
    return -1;
  }

  static int write(BIO* bio, const char* from, int size) {
    engine& e = of(bio);
    if (e.outbox_.size() + static_cast<std::size_t>(size) > engine::most_outbox) {
      e.refuse("the peer does not read what it is sent");
      return -1;
    }
    e.outbox_.append(from, static_cast<std::size_t>(size));
    return size;
  }

  static void message(int is_ours, int, int content, const void* text, std::size_t size, SSL* ssl,
                      void* held) {
    engine& e = *static_cast<engine*>(held);
    if (is_ours != 0 || content != SSL3_RT_HANDSHAKE || e.overloaded_) return;
    if (e.shaken_) return count_message(e, ssl);
    auto* const bytes = static_cast<unsigned char*>(const_cast<void*>(text));
    if (e.side_ == role::server && size > message_header) look_at(e, {bytes, size}, ssl);
  }

  static void look_at(engine& e, std::span<unsigned char> message, SSL* ssl) {
    std::string why;
    if (message[0] == SSL3_MT_CLIENT_HELLO && message.size() > engine::most_hello) {
      why = fmt::format("the peer's ClientHello has {} bytes; at most {} are read", message.size(),
                        engine::most_hello);
    } else if (message[0] == SSL3_MT_CERTIFICATE) {
      why = too_costly(message, SSL_version(ssl) >= TLS1_3_VERSION);
    }
    if (why.empty()) return;
    e.refuse(std::move(why));
    // The buffer is OpenSSL's own, and no lengths in it are right any more.
    std::ranges::fill(message.subspan(message_header), 0xff);
  }

  // SSL_read returns only when it has data, so records without data keep it busy as long as they come.
  // Therefore they are counted here, where OpenSSL reports each message.
  static void count_message(engine& e, SSL* ssl) {
    if (e.messages_.take(boot_clock::now())) return;
    e.refuse(fmt::format(
        "the peer sent more than {} key updates, or other messages of the handshake, within as many seconds",
        engine::most_messages));
    // Makes SSL_read end at the next record: nothing else that the peer sent is looked at.
    SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* method() {
    static BIO_METHOD* const made = [] {
      BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "binnacle socket");
      BIO_meth_set_read(m, &read);
      BIO_meth_set_write(m, &write);
      BIO_meth_set_ctrl(m, &control);
      return m;
    }();
    return made;
  }
};

engine::engine(std::shared_ptr<SSL_CTX> context, role side, int socket, std::string server_name)
    : context_(std::move(context)), side_(side), server_name_(std::move(server_name)), socket_(socket) {
  ssl_ = SSL_new(context_.get());
  BIO* bio = BIO_new(socket_bio::method());
  if (ssl_ == nullptr || bio == nullptr)
    throw failure({errc::internal, "OpenSSL gave no connection: out of memory"});
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_msg_callback(ssl_, &socket_bio::message);
  SSL_set_msg_callback_arg(ssl_, this);
  if (side_ == role::server) {
    SSL_set_accept_state(ssl_);
    return;
  }
  SSL_set_connect_state(ssl_);
  if (server_name_.empty()) return;
  X509_VERIFY_PARAM* check = SSL_get0_param(ssl_);
  if (X509_VERIFY_PARAM_set1_ip_asc(check, server_name_.c_str()) == 1)
    return;  // an address: no SNI (RFC 6066)
  ERR_clear_error();
  X509_VERIFY_PARAM_set_hostflags(check, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // Without this check a certificate for any name would be accepted.
  if (X509_VERIFY_PARAM_set1_host(check, server_name_.data(), server_name_.size()) != 1) {
    SSL_free(std::exchange(ssl_, nullptr));
    throw failure(
        {errc::internal, "the name that a server's certificate must have cannot be set: " + last_error()});
  }
  SSL_ctrl(ssl_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, server_name_.data());
}

engine::~engine() { SSL_free(ssl_); }

engine::step engine::handshake() {
  ERR_clear_error();
  turn_left_ = turn_size;
  const step made = step_of(SSL_do_handshake(ssl_), "the TLS handshake");
  shaken_ = shaken_ || made == step::done;
  return made;
}

engine::step engine::read(char* to, std::size_t room, std::size_t& got) {
  got = 0;
  if (has_failed_) return step::failed;
  ERR_clear_error();
  turn_left_ = turn_size;
  return step_of(SSL_read_ex(ssl_, to, room, &got), "reading");
}

bool engine::was_refused() {
  if (!has_failed_) {
    ERR_clear_error();
    turn_left_ = turn_size;
    char next = 0;
    std::size_t got = 0;
    (void)step_of(SSL_peek_ex(ssl_, &next, 1, &got), "reading");
  }
  return has_failed_ && why_.code == errc::permission;
}

engine::step engine::write(std::string_view text) {
  if (has_failed_) return step::failed;
  if (text.empty()) return step::done;
  ERR_clear_error();
  std::size_t written = 0;
  return step_of(SSL_write_ex(ssl_, text.data(), text.size(), &written), "writing");
}

void engine::shutdown() {
  if (has_failed_ || SSL_in_init(ssl_) == 1) return;
  ERR_clear_error();
  SSL_shutdown(ssl_);
  ERR_clear_error();
}

bool engine::buffered() const noexcept { return SSL_has_pending(ssl_) == 1; }

std::string_view engine::alpn() const noexcept {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

void engine::refuse(std::string sentence) {
  overloaded_ = true;
  why_ = {errc::overloaded, std::move(sentence)};
}

engine::step engine::step_of(int returned, std::string_view doing) {
  if (overloaded_) {
    has_failed_ = true;
    ERR_clear_error();
    return step::failed;
  }
  if (returned == 1) return step::done;
  const int reason = SSL_get_error(ssl_, returned);
  if (reason == SSL_ERROR_WANT_READ) return turn_left_ == 0 ? step::want_turn : step::want_read;
  if (reason == SSL_ERROR_ZERO_RETURN) return step::closed;
  has_failed_ = true;
  spoke_http_ = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
  why_ = explain(reason, doing);
  ERR_clear_error();
  return step::failed;
}

namespace {

/// A sentence with the remedy for each usual fault of a certificate.
std::string verification_sentence(SSL* ssl, long checked, const std::string& server_name) {
  const X509* peer = SSL_get0_peer_certificate(ssl);
  std::string subject = "of the peer";
  if (peer != nullptr) {
    char* text = X509_NAME_oneline(X509_get_subject_name(peer), nullptr, 0);
    subject = fmt::format("\"{}\"", text);
    OPENSSL_free(text);
  }
  std::string remedy;
  switch (checked) {
    case X509_V_ERR_CERT_HAS_EXPIRED: remedy = "; issue a new one"; break;
    case X509_V_ERR_CERT_NOT_YET_VALID: remedy = "; compare the clocks of both machines"; break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      remedy = fmt::format("; it must carry \"{}\" as a subject alternative name", server_name);
      break;
    case X509_V_ERR_INVALID_PURPOSE:
      remedy = "; its extended key usage does not allow this side of a connection";
      break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      remedy = "; the CA that signed it is not in the authority file";
      break;
    case X509_V_ERR_CERT_REVOKED:
      return fmt::format(
          "the certificate {} was refused: its serial number, or that of its issuer, is denied", subject);
    case X509_V_ERR_APPLICATION_VERIFICATION:
      return fmt::format(
          "the certificate {} was refused: its key differs from this replica's; give all replicas the same "
          "--cert and --key",
          subject);
    default: break;
  }
  return fmt::format("the certificate {} was refused: {}{}", subject, X509_verify_cert_error_string(checked),
                     remedy);
}

/// What an alert of the peer says about our certificate; empty for alerts about other things.
std::string_view certificate_alert(int reason) {
  switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_NO_CERTIFICATE: return "it requires a client certificate and we gave none";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "our certificate is not signed by a CA that it trusts: have it issued by that CA";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "our certificate has expired by its clock: renew it, or compare the clocks";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      return "it does not accept our certificate (one that is not valid yet, or not for clients): compare "
             "its dates with the clocks, and look at its extended key usage";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
      return "it denies the serial number of our certificate: have another one issued";
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED: return "it denied access";
    default: return {};
  }
}

}  // namespace

error engine::explain(int reason, std::string_view doing) const {
  if (reason == SSL_ERROR_SYSCALL) {
    if (socket_errno_ == 0)
      return {errc::disconnected, fmt::format("{} failed: the peer closed the connection", doing)};
    return {errc::disconnected, fmt::format("{} failed: {}", doing, describe(socket_errno_))};
  }
  const int why = ERR_GET_REASON(ERR_peek_error());
  const long checked = SSL_get_verify_result(ssl_);
  if (why == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    return {errc::disconnected, fmt::format("{} failed: the peer closed the connection", doing)};
  }
  if (why == SSL_R_CERTIFICATE_VERIFY_FAILED && checked != X509_V_OK) {
    return {errc::permission, verification_sentence(ssl_, checked, server_name_)};
  }
  if (why == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    return {errc::permission, "the peer gave no client certificate, which this server requires"};
  }
  if (const auto alert = certificate_alert(why); !alert.empty()) {
    return {errc::permission, fmt::format("the peer refused us: {}", alert)};
  }
  if (spoke_http_) return {errc::protocol, "the peer speaks plain HTTP to a TLS port; it must use https://"};
  if (why == SSL_R_WRONG_VERSION_NUMBER) {
    return {errc::protocol,
            "the peer does not speak TLS: is this the right port, and does the other side use TLS?"};
  }
  const char* text = ERR_reason_error_string(ERR_peek_error());
  return {errc::protocol, fmt::format("{} failed: {}", doing, text != nullptr ? text : "no reason given")};
}

}  // namespace binnacle::tls
