#include "common/http/base64.hpp"

#include <openssl/evp.h>

#include <memory>

namespace binnacle::http {

std::string to_base64(std::string_view text) {
  std::string out((text.size() + 2) / 3 * 4 + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

result<std::string> from_base64(const std::string& text) {
  const std::unique_ptr<EVP_ENCODE_CTX, decltype(&EVP_ENCODE_CTX_free)> context(EVP_ENCODE_CTX_new(),
                                                                                &EVP_ENCODE_CTX_free);
  std::string out(text.size(), '\0');
  int size = 0;
  int rest = 0;
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  EVP_DecodeInit(context.get());
  if (EVP_DecodeUpdate(context.get(), to, &size, reinterpret_cast<const unsigned char*>(text.data()),
                       static_cast<int>(text.size())) < 0 ||
      EVP_DecodeFinal(context.get(), to + size, &rest) < 0 || size + rest == 0)
    return error{errc::invalid_input, "is not base64 text"};
  out.resize(static_cast<std::size_t>(size) + static_cast<std::size_t>(rest));
  return out;
}

result<std::string> from_base64url(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) c = c == '-' ? '+' : c == '_' ? '/' : c;
  plain.append((4 - plain.size() % 4) % 4, '=');
  return from_base64(plain);
}

}  // namespace binnacle::http
