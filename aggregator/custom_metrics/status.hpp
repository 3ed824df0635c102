#pragma once

#include "common/http/message.hpp"

#include <string>
#include <string_view>

/// Refusals as Kubernetes clients read them: metav1.Status objects whose code is the HTTP status.
namespace binnacle::custom_metrics {

/// A Status with `details`, ready-made JSON ("" leaves the key out: metric-not-found answers carry none).
http::response status(unsigned code, std::string_view reason, std::string_view message,
                      std::string_view details_json = {});

/// The answer when the HTTP server itself refuses: the bytes were not a request, were too many or came too
/// late.
http::response failure(unsigned code, std::string_view sentence);

http::response not_found(std::string_view message);    ///< 404 NotFound
http::response path_not_found();                       ///< 404, the sentence for a path of no known shape
http::response bad_request(std::string_view message);  ///< 400 BadRequest
http::response method_not_allowed();                   ///< 405 with Allow: GET, HEAD
http::response not_acceptable();                       ///< 406
http::response unauthorized();                         ///< 401, with what to present

}  // namespace binnacle::custom_metrics
