#pragma once

#include "common/grpc/connection.hpp"
#include "common/http/response_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace binnacle::model_servers {

/// What a server said to a call, whatever carried it.
struct reply {
  enum class verdict : std::uint8_t {
    answered,
    too_many,  ///< perhaps the batch is too large: half of it may be taken
    busy,      ///< the server is ill or overloaded
    refused,   ///< this model, as it was asked
  };
  verdict is = verdict::refused;
  std::string body;  ///< of an answer
  std::string said;  ///< else: "404 "Model x not found"", shortened
};

/// `count`: the points that were asked for. Of one point the batch is not to blame.
reply reply_of(const http::answer& got, std::size_t count);
/// The same by gRPC's status. RESOURCE_EXHAUSTED is what servers say of a message that is too large, and for
/// one point of a server with too much to do.
reply reply_of(const grpc::answer& got, std::size_t count);

}  // namespace binnacle::model_servers
