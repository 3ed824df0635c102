#pragma once

#include <cstdint>

namespace binnacle::sender {

/// The protocol for a time-series database.
enum class protocol : std::uint8_t {
  remote_write,  ///< Prometheus remote write, 2.0 or 1.0
  otlp,          ///< OpenTelemetry's protocol over HTTP
};

/// Which version of remote write a server gets.
enum class write_version : std::uint8_t {
  automatic,  ///< 2.0 if the server knows it, else 1.0
  v1_0,
  v2_0,
};

}  // namespace binnacle::sender
