#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"

#include <functional>
#include <optional>
#include <string>

namespace binnacle::kube {

/// A bearer token that somebody else renews (a projected service account token, an exec plug-in). It is read
/// again when it may have changed. If that fails, the old token stays in use, because only the server decides
/// whether it is valid. Pure: time and token are given.
class token_cache {
 public:
  /// How long a token read from a file counts as fresh. The kubelet replaces it at 80 % of its life of an
  /// hour, so a minute is early enough. Source: kubernetes.io, "Service account token volume projection".
  static constexpr duration file_freshness = std::chrono::seconds(60);

  /// The token may have changed: read it, then call one of the next three.
  bool is_due(instant now) const noexcept { return !fresh_until_ || now >= *fresh_until_; }
  /// Takes the new token, without the white space around it. Errors: invalid_input (empty, or not allowed in
  /// a header).
  result<void> took(std::string token, instant fresh_until);
  /// There is no token; other credentials are used, which are good until `fresh_until`.
  void keep(instant fresh_until) { fresh_until_ = fresh_until; }
  /// The token could not be read: the old one stays, and is read again after a few seconds.
  void failed(instant now) { fresh_until_ = now + std::chrono::seconds(5); }
  /// The server answered 401.
  void refused() { fresh_until_.reset(); }

  /// Empty when there never was one.
  const std::string& value() const noexcept { return value_; }

 private:
  std::string value_;
  std::optional<instant> fresh_until_;
};

}  // namespace binnacle::kube
