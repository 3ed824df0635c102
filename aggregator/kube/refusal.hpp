#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/http/response_parser.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace binnacle::kube {

/// An API server's refusal: a Status object, or only an HTTP status.
struct refusal {
  unsigned status = 0;
  std::string reason;   ///< "NotFound", "Expired", "Conflict"; may be empty
  std::string message;  ///< the server's sentence, made harmless and cut to 500 bytes
  std::optional<duration> retry_after;

  /// The server no longer has the version that was asked for: list again.
  bool expired() const noexcept { return status == 410 || reason == "Expired" || reason == "Gone"; }
  /// The server does not know the version yet, because it has just started and another API server gave us
  /// that version.
  bool from_the_future() const noexcept;
  /// The refusal as an error, with a remedy; its code says what can be done. `what` is what we tried
  /// ("reading TASPolicy objects").
  error as_error(std::string_view what) const;
};

/// The refusal in an answer; nothing if the answer is a 2xx.
std::optional<refusal> refusal_of(const http::answer& a);
/// The refusal in the Status object of a watch's ERROR event.
refusal refusal_of(const boost::json::object& status);

}  // namespace binnacle::kube
