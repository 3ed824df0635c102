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

/// A link holds a secret in its fragment, which a browser sends to nobody. The page trades it, once, for a
/// key that it keeps for its tab and shows with every request. No cookie is used: cookies do not know ports,
/// so another server on this machine could read them. Pure.
class door {
 public:
  static constexpr std::size_t most_links = 16;  ///< unused ones; the oldest goes first
  static constexpr std::size_t most_keys = 64;   ///< likewise
  static constexpr std::chrono::minutes link_life{10};

  /// `secret` gives a new secret of at least 128 bits as letters and digits.
  explicit door(std::function<std::string()> secret) : secret_(std::move(secret)) {}
  /// The port on loopback that the server got. Until then every request is refused.
  void serve_at(std::uint16_t port) noexcept { port_ = port; }

  /// What goes into a new link.
  std::string new_link(instant now);
  /// The key for a link's secret; nothing if that is unknown, used or older than link_life.
  std::optional<std::string> open(std::string_view link, instant now);

  /// Why a request is not served: it is for another host (DNS rebinding), comes from another site, or, for
  /// everything but the page's own files, has no key. `is_file`: it asks for one of those.
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

/// 32 letters and digits from the kernel's generator. Errors: std::runtime_error when it has none.
std::string random_secret();

/// Adds what tells a browser to run and load nothing but our files, and to show the page in no frame.
http::response secured(http::response answer);
/// A refusal with these headers.
http::response refused(unsigned status, std::string_view sentence);

}  // namespace binnacle::cli::dashboard
