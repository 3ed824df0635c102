#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/response_parser.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::kube {

/// What an API server answered instead of what was asked: a Status object, or only an HTTP status.
struct refusal {
  unsigned status = 0;
  std::string reason;   ///< "NotFound", "Expired", "Conflict"; may be empty
  std::string message;  ///< the server's sentence, made harmless and cut to 500 bytes
  std::optional<duration> retry_after;

  /// The version asked for is compacted: list again.
  bool expired() const noexcept { return status == 410 || reason == "Expired" || reason == "Gone"; }
  /// The server has just started, and does not know the version yet that another API server gave us.
  bool from_the_future() const noexcept;
  /// As an error whose code says what can be done about it; `what` says what was tried ("reading TASPolicy
  /// objects").
  error as_error(std::string_view what) const;
};

/// Nothing when the answer is a 2xx.
std::optional<refusal> refusal_of(const http::answer& a);
/// Of the Status object in a watch's ERROR event.
refusal refusal_of(const boost::json::object& status);

}  // namespace binnacle::kube
