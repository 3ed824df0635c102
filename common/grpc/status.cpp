#include "common/grpc/status.hpp"

#include "common/text/read_number.hpp"

#include <array>
#include <nghttp2/nghttp2.h>

namespace binnacle::grpc {
namespace {

constexpr std::array<std::string_view, 17> names{
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

}  // namespace

std::string_view to_string(status s) noexcept {
  const auto i = static_cast<std::size_t>(s);
  return i < names.size() ? names[i] : "UNKNOWN";
}

status read_status(std::string_view text) noexcept {
  const auto out = read_number<unsigned>(text);
  return out && *out < names.size() ? static_cast<status>(*out) : status::unknown;
}

status status_of_http(unsigned http) noexcept {
  switch (http) {
    case 400: return status::internal;
    case 401: return status::unauthenticated;
    case 403: return status::permission_denied;
    case 404: return status::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504: return status::unavailable;
    default: return status::unknown;
  }
}

status status_of_reset(std::uint32_t code) noexcept {
  switch (code) {
    case NGHTTP2_REFUSED_STREAM: return status::unavailable;
    case NGHTTP2_CANCEL: return status::cancelled;
    case NGHTTP2_ENHANCE_YOUR_CALM: return status::resource_exhausted;
    case NGHTTP2_INADEQUATE_SECURITY: return status::permission_denied;
    default: return status::internal;
  }
}

std::string read_message(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      if (const auto byte = read_number<unsigned>(text.substr(i + 1, 2), 16)) {
        out += static_cast<char>(*byte);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

}  // namespace binnacle::grpc
