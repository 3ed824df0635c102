#include "cli/dashboard/door.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace binnacle::cli::dashboard {
namespace {

/// Compares in a time that does not reveal how many characters are equal.
bool equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// The case of the scheme's name does not matter (RFC 9110 11.1).
std::string_view bearer(const http::request& r) {
  const std::string* given = r.header("authorization");
  constexpr std::string_view scheme = "bearer ";
  if (given == nullptr || given->size() <= scheme.size()) return {};
  const bool right = std::equal(scheme.begin(), scheme.end(), given->begin(), [](char want, char c) {
    return want == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  });
  return right ? std::string_view(*given).substr(scheme.size()) : std::string_view();
}

}  // namespace

std::string door::origin() const { return fmt::format("http://127.0.0.1:{}", port_); }

std::string door::new_link(instant now) {
  if (links_.size() == most_links) links_.pop_front();
  links_.push_back({secret_(), now});
  return links_.back().secret;
}

std::optional<std::string> door::open(std::string_view given, instant now) {
  std::erase_if(links_, [&](const link& l) { return now - l.made > link_life; });
  const auto found = std::ranges::find_if(links_, [&](const link& l) { return equal(l.secret, given); });
  if (found == links_.end()) return std::nullopt;
  links_.erase(found);
  if (keys_.size() == most_keys) keys_.pop_front();
  keys_.push_back(secret_());
  return keys_.back();
}

std::optional<http::response> door::refusal(const http::request& r, bool is_file) const {
  const std::string* host = r.header("host");
  const std::string by_number = fmt::format("127.0.0.1:{}", port_);
  const std::string by_name = fmt::format("localhost:{}", port_);
  // DNS rebinding: an attacker's name may resolve to this address. A browser would then treat our page as
  // part of the attacker's site.
  if (port_ == 0 || host == nullptr || (*host != by_number && *host != by_name))
    return refused(403, fmt::format("this page is served as http://{} only", by_number));
  const std::string* origin = r.header("origin");
  if (origin != nullptr && *origin != "http://" + *host)
    return refused(403, "another site may not ask this server");
  // The browser itself says where a request comes from. A link in a mail or on another site may still open
  // the page.
  const std::string* site = r.header("sec-fetch-site");
  const std::string* mode = r.header("sec-fetch-mode");
  const bool is_visit = is_file && mode != nullptr && *mode == "navigate";
  if (site != nullptr && *site != "same-origin" && *site != "none" && !is_visit)
    return refused(403, "another site may not ask this server");
  if (is_file) return std::nullopt;
  const std::string_view key = bearer(r);
  if (std::ranges::any_of(keys_, [&](const std::string& k) { return equal(k, key); })) return std::nullopt;
  return refused(401, "this page has no key: open the link that `binnacle dashboard` prints");
}

std::string random_secret() {
  std::array<unsigned char, 40> bytes{};
  std::string out;
  constexpr std::string_view signs = "abcdefghijkmnopqrstuvwxyz0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";
  while (out.size() < 32) {
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
      throw std::runtime_error("the system has no random numbers for the dashboard's link");
    for (const unsigned char b : bytes) {
      // Larger bytes are skipped: with them the first characters would come up more often than the others.
      if (b < 256 / signs.size() * signs.size() && out.size() < 32) out += signs[b % signs.size()];
    }
  }
  return out;
}

http::response secured(http::response answer) {
  answer.headers.emplace_back("Content-Security-Policy",
                              "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                              "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                              "frame-ancestors 'none'; require-trusted-types-for 'script'");
  answer.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  answer.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  answer.headers.emplace_back("Referrer-Policy", "no-referrer");
  answer.headers.emplace_back("Cache-Control", "no-store");
  return answer;
}

http::response refused(unsigned status, std::string_view sentence) {
  return secured(http::response::failure(status, sentence));
}

}  // namespace binnacle::cli::dashboard
