#pragma once

#include "aggregator/model_servers/question.hpp"
#include "common/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// A question and its answer as protobuf messages, for gRPC. Pure.
namespace binnacle::model_servers {

/// "/inference.GRPCInferenceService/ModelInfer" or TensorFlow Serving's.
std::string_view method_of(protocol speaks) noexcept;

/// The request that asks for `count` points from the one numbered `first` on. `input`: of a V2 model.
std::string message_of(const question& q, std::size_t first, std::size_t count,
                       const model_input& input = {});

/// What a response says, in whichever of its forms: typed or raw values, and TensorFlow's shortened lists. Of
/// what a server sends beyond the question little is kept. Errors: as answer_in().
result<model_answer> answer_in_message(protocol speaks, std::string_view message, std::size_t count);

/// Where a V2 server is asked for a model's metadata, and the request.
inline constexpr std::string_view metadata_method = "/inference.GRPCInferenceService/ModelMetadata";
std::string metadata_message_of(const served_model& m);

/// The inputs in such a response. Empty: as described_in().
std::vector<described_input> described_in_message(std::string_view message);

}  // namespace binnacle::model_servers
