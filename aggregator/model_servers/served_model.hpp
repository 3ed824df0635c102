#pragma once

#include "common/error.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::model_servers {

enum class protocol : std::uint8_t {
  v2,          ///< V2, or Open Inference Protocol (MLServer, Triton, KServe)
  tf_serving,  ///< TensorFlow Serving's
};
enum class carrier : std::uint8_t { rest, grpc };

/// A model on a server, and how it is asked.
struct served_model {
  protocol speaks = protocol::v2;
  carrier by = carrier::rest;
  bool secure = false;  ///< https, or grpcs
  std::string host;     ///< a name or an address, without brackets
  std::uint16_t port = 0;
  std::string path;  ///< where questions are posted to; with gRPC only a name for people
  std::string name, version,
      signature;  ///< only for TensorFlow Serving; all but the name may be empty
  /// "NAMESPACE/NAME" of the Secret with the user name and password that the server wants; empty: it wants
  /// none. A part of the key: an answer that one password got is no answer for a node with another.
  std::string secret;

  /// "model-server:8080"
  std::string server() const;
  /// Where a V2 server over REST has the model's metadata: "/v2/models/pc"
  std::string_view metadata_path() const noexcept;
  /// "http://", "grpcs://"
  std::string_view scheme() const noexcept;
  /// "http://model-server:8080/v2/models/pc/infer", "grpc://model-server:8001/v2/models/pc"
  std::string text() const;
  friend auto operator<=>(const served_model&, const served_model&) = default;
};

/// Whether the name can be one segment of a path without escaping.
bool is_segment(std::string_view name);

/// The model of a V2 endpoint, as WAO's NodeConfig names it: "http://HOST:PORT/v2/models/NAME", perhaps with
/// "/versions/VERSION", and with or without "/infer" at the end. A path before "/v2" is kept. With grpc:// or
/// grpcs:// in front the model is asked by gRPC, where the path is not used. Errors: invalid_input, a clause
/// that says what is wrong.
result<served_model> v2_model(std::string_view endpoint);

/// A model of TensorFlow Serving. An empty `version` means the newest one, an empty `signature` the server's
/// default. Errors: invalid_input, a clause that says what is wrong.
result<served_model> tf_model(carrier by, std::string host, std::uint16_t port, std::string_view name,
                              std::string_view version, std::string signature);

}  // namespace binnacle::model_servers
