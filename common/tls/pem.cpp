#include "common/tls/pem.hpp"

#include "common/tls/context.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

namespace binnacle::tls {

bio_ptr bio_over(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

int no_passphrase(char*, int, int, void*) { return 0; }

result<std::vector<certificate_ptr>> certificates_in(const std::string& text) {
  ERR_clear_error();
  const bio_ptr from = bio_over(text);
  std::vector<certificate_ptr> out;
  while (X509* next = PEM_read_bio_X509(from.get(), nullptr, &no_passphrase, nullptr))
    out.emplace_back(next, &X509_free);
  const bool clean_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (out.empty() || !clean_end) {
    return error{errc::invalid_input, (out.empty() && clean_end ? "no PEM certificate: "
                                                                : "a PEM certificate that cannot be read: ") +
                                          last_error()};
  }
  ERR_clear_error();
  return out;
}

}  // namespace binnacle::tls
