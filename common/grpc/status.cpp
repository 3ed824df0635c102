#include "common/grpc/status.hpp"

#include <array>
#include <charconv>
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
  unsigned out = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  if (read.ec != std::errc() || read.ptr != end || out >= names.size()) return status::unknown;
  return static_cast<status>(out);
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
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto read = std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      if (read.ec == std::errc() && read.ptr == text.data() + i + 3) {
        out += static_cast<char>(byte);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

}  // namespace binnacle::grpc
