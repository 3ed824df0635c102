#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::grpc {

/// How a call ended. The numbers are those on the wire.
enum class status : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};
std::string_view to_string(status s) noexcept;  ///< "INVALID_ARGUMENT"

/// Reads the text of a grpc-status. Anything but a number from 0 to 16 becomes `unknown`.
status read_status(std::string_view text) noexcept;
/// The status for an HTTP answer without a grpc-status, for example a proxy's. Source:
/// grpc/doc/http-grpc-status-mapping.md.
status status_of_http(unsigned http) noexcept;
/// The status for a call that was reset with this error code of HTTP/2. Source: grpc/doc/PROTOCOL-HTTP2.md,
/// "Errors".
status status_of_reset(std::uint32_t code) noexcept;

/// Decodes a grpc-message: %-encoded UTF-8. A '%' without two hexadecimal digits stands for itself.
std::string read_message(std::string_view text);

}  // namespace binnacle::grpc
