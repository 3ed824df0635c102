#pragma once

#include <cstdint>

namespace binnacle::sender {

/// How we speak to a time-series database.
enum class protocol : std::uint8_t {
  remote_write,  ///< Prometheus remote write, 2.0 or 1.0
  otlp,          ///< OpenTelemetry's protocol over HTTP
};

}  // namespace binnacle::sender
