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

/// The request that asks for `count` points from the one numbered `first` on.
std::string message_of(const question& q, std::size_t first, std::size_t count);

/// The watts in a response, in whichever of its forms: typed or raw values, and TensorFlow's shortened lists.
/// Errors: as watts_in().
result<std::vector<double>> watts_in_message(protocol speaks, std::string_view message, std::size_t count);

}  // namespace binnacle::model_servers
