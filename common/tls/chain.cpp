#include "common/tls/chain.hpp"

#include "common/tls/certificate.hpp"
#include "common/tls/context.hpp"
#include "common/tls/pem.hpp"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace binnacle::tls {
namespace {

void free_chain(STACK_OF(X509) * chain) { sk_X509_pop_free(chain, X509_free); }

}  // namespace

result<void> add_authorities(X509_STORE* store, const std::string& text, std::string_view name) {
  auto found = certificates_in(text);
  if (found.has_error())
    return error{errc::invalid_input, fmt::format("authority {} holds {}", name, found.error().message)};
  for (const auto& ca : *found) {
    if (X509_STORE_add_cert(store, ca.get()) != 1)
      return error{errc::invalid_input, fmt::format("authority {} cannot be used: {}", name, last_error())};
  }
  // An intermediate certificate that is trusted is an anchor by itself, as in Go's verifier: cert-manager's
  // ca.crt may be one.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

struct shown_chain::impl {
  certificate_ptr own{nullptr, &X509_free};
  std::unique_ptr<STACK_OF(X509), decltype(&free_chain)> others{nullptr, &free_chain};
};

shown_chain::shown_chain(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
shown_chain::~shown_chain() = default;

bool shown_chain::has_key_of(const SSL_CTX* context) const {
  return tls::has_key_of(impl_->own.get(), context);
}

std::shared_ptr<const shown_chain> shown_chain::of(SSL* connection) {
  auto made = std::make_unique<impl>();
  made->own.reset(SSL_get1_peer_certificate(connection));
  if (!made->own) return nullptr;
  if (STACK_OF(X509)* shown = SSL_get_peer_cert_chain(connection); shown != nullptr)
    made->others.reset(X509_chain_up_ref(shown));
  return std::shared_ptr<const shown_chain>(new shown_chain(std::move(made)));
}

struct authorities::impl {
  std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store{X509_STORE_new(), &X509_STORE_free};
};

authorities::authorities(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
authorities::~authorities() = default;

result<std::shared_ptr<const authorities>> authorities::read(const std::string& pem, std::string_view name) {
  ERR_clear_error();
  auto made = std::make_unique<impl>();
  if (auto trusted = add_authorities(made->store.get(), pem, name); trusted.has_error())
    return trusted.error();
  return std::shared_ptr<const authorities>(new authorities(std::move(made)));
}

result<identity> authorities::verify(const shown_chain& shown) const {
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                              &X509_STORE_CTX_free);
  X509* own = shown.impl_->own.get();
  if (!check || X509_STORE_CTX_init(check.get(), impl_->store.get(), own, shown.impl_->others.get()) != 1)
    return error{errc::internal, "OpenSSL could not check a certificate: " + last_error()};
  X509_STORE_CTX_set_purpose(check.get(), X509_PURPOSE_SSL_CLIENT);
  if (X509_verify_cert(check.get()) != 1) {
    ERR_clear_error();
    return error{errc::permission, X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()))};
  }
  return identity_of(own);
}

}  // namespace binnacle::tls
