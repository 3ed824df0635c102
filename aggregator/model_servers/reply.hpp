#pragma once

#include "common/grpc/connection.hpp"
#include "common/http/response_parser.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace binnacle::model_servers {

/// A server's reply to a call, by REST or gRPC.
struct reply {
  enum class verdict : std::uint8_t {
    answered,
    too_many,  ///< perhaps the batch was too large; half of it may succeed
    busy,      ///< the server is ill or overloaded
    refused,   ///< the server refuses this question about this model
  };
  verdict is = verdict::refused;
  std::string body;  ///< of an answer
  std::string said;  ///< else, as a clause: "it answered 404 "Model x not found"", shortened
  /// The server wants another user name and password, or wants some at all (401, UNAUTHENTICATED).
  bool unauthenticated = false;
};

/// `count`: how many points were asked for. If it was one, the batch was not too large. `secret`: the Secret
/// whose password the server was given; empty: none. The words of a server that was given one are left out,
/// because they could repeat it.
reply reply_of(const http::answer& got, std::size_t count, std::string_view secret);
/// The same from gRPC's status. RESOURCE_EXHAUSTED means that the message was too large; for a single point
/// it means that the server is overloaded.
reply reply_of(const grpc::answer& got, std::size_t count, std::string_view secret);
/// Stands for a reply that is larger than what is taken, as the clause `why` says. The model is at fault, not
/// its server, and half of the batch may have a smaller one.
reply too_large_reply(std::size_t count, std::string why);

}  // namespace binnacle::model_servers
