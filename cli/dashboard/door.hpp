#pragma once

#include "common/clock.hpp"
#include "common/http/message.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Who may see the dashboard. The page carries the rights of whoever started it, so it is for that person's
/// browser alone: not for other users of the machine, and not for other sites open in that browser.
namespace binnacle::cli::dashboard {

/// A link holds a secret in its fragment, which a browser does not send to any server. The page trades the
/// secret, once, for a key; it keeps the key for its tab and shows it with every request. No cookie is used:
/// cookies do not know ports, so another server on this machine could read them. Pure.
class door {
 public:
  static constexpr std::size_t most_links = 16;  ///< that nobody has used yet; the oldest goes first
  static constexpr std::size_t most_keys = 64;   ///< of pages; the oldest goes first
  static constexpr std::chrono::minutes link_life{10};

  /// `secret` must return a new secret of at least 128 bits, made of letters and digits.
  explicit door(std::function<std::string()> secret) : secret_(std::move(secret)) {}
  /// Sets the port on loopback that the server got. Until then every request is refused.
  void serve_at(std::uint16_t port) noexcept { port_ = port; }

  /// Makes the secret of a new link.
  std::string new_link(instant now);
  /// The key for a link's secret; nothing if the secret is unknown, used, or older than link_life.
  std::optional<std::string> open(std::string_view link, instant now);

  /// The response that refuses a request, or nothing if it may be served. Refused: a request for another host
  /// (DNS rebinding), one from another site, and one without a key. The page's own files (`is_file`) need no
  /// key.
  std::optional<http::response> refusal(const http::request& r, bool is_file) const;

  /// "http://127.0.0.1:8000"
  std::string origin() const;

 private:
  struct link {
    std::string secret;
    instant made;
  };
  std::uint16_t port_ = 0;
  std::function<std::string()> secret_;
  std::deque<link> links_;
  std::deque<std::string> keys_;
};

/// 32 letters and digits from the system's random generator. Errors: std::runtime_error if it fails.
std::string random_secret();

/// Adds the headers that let a browser run and load only our files, and show the page in no frame.
http::response secured(http::response answer);
/// A refusal with the same headers.
http::response refused(unsigned status, std::string_view sentence);

}  // namespace binnacle::cli::dashboard
