#include "tests/support/net/pki.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cctype>
#include <fstream>
#include <stdexcept>
#include <stdlib.h>

namespace binnacle::support {
namespace {

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using certificate_ptr = std::unique_ptr<X509, decltype(&X509_free)>;

key_ptr new_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

template <class Write>
std::string pem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
  write(out.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

void add_extension(X509* to, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (made == nullptr) throw std::runtime_error("no such extension value: " + value);
  X509_add_ext(to, made, -1);
  X509_EXTENSION_free(made);
}

std::string alternative_names(const wanted& what) {
  std::string out;
  for (const auto& name : what.dns_names) {
    const bool address =
        name.find(':') != std::string::npos || (std::isdigit(static_cast<unsigned char>(name.front())) != 0);
    out += (out.empty() ? "" : ",") + std::string(address ? "IP:" : "DNS:") + name;
  }
  for (const auto& uri : what.uris) out += (out.empty() ? "URI:" : ",URI:") + uri;
  return out;
}

certificate_ptr make(const wanted& what, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key, bool ca) {
  static long serial = 0;
  certificate_ptr out(X509_new(), &X509_free);
  X509_set_version(out.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(out.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(out.get()), what.valid_from);
  X509_gmtime_adj(X509_getm_notAfter(out.get()), what.valid_to);
  X509_set_pubkey(out.get(), key);
  X509_NAME* subject = X509_get_subject_name(out.get());
  const auto add = [subject](const char* field, const std::string& value) {
    X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.c_str()), -1, -1, 0);
  };
  for (const auto& o : what.organizations) add("O", o);
  if (!what.common_name.empty()) add("CN", what.common_name);
  X509_set_issuer_name(out.get(), issuer != nullptr ? X509_get_subject_name(issuer) : subject);
  add_extension(out.get(), NID_basic_constraints, ca ? "critical,CA:TRUE" : "CA:FALSE");
  if (!what.extended_key_usage.empty()) add_extension(out.get(), NID_ext_key_usage, what.extended_key_usage);
  if (const auto names = alternative_names(what); !names.empty())
    add_extension(out.get(), NID_subject_alt_name, names);
  X509_sign(out.get(), issuer_key != nullptr ? issuer_key : key, EVP_sha256());
  return out;
}

}  // namespace

struct authority::impl {
  key_ptr key = new_key();
  certificate_ptr certificate{nullptr, &X509_free};
};

authority::authority(const temp_folder& dir, std::string name)
    : impl_(std::make_unique<impl>()), dir_(dir), path_(dir / (name + "-ca.crt")) {
  wanted self;
  self.common_name = name;
  impl_->certificate = make(self, impl_->key.get(), nullptr, nullptr, true);
  write_file(path_, pem([this](BIO* out) { PEM_write_bio_X509(out, impl_->certificate.get()); }));
}
authority::~authority() = default;

tls::files authority::issue(const std::string& file, const wanted& what) {
  const key_ptr key = new_key();
  const auto made = make(what, key.get(), impl_->certificate.get(), impl_->key.get(), false);
  tls::files out{dir_ / (file + ".crt"), dir_ / (file + ".key"), path_};
  write_file(out.certificate, pem([&made](BIO* to) { PEM_write_bio_X509(to, made.get()); }));
  write_file(out.key, pem([&key](BIO* to) {
               PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
             }));
  return out;
}

tls::files authority::issue_server(const std::string& file) {
  wanted what;
  what.common_name = "localhost";
  what.dns_names = {"localhost", "127.0.0.1", "::1"};
  what.extended_key_usage = "serverAuth";
  return issue(file, what);
}

}  // namespace binnacle::support
