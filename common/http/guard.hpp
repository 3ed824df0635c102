#pragma once

#include "common/http/message.hpp"

#include <functional>
#include <optional>

namespace binnacle::http {

/// Is called before the handler of every path and decides whether the request may go on. The guard calls
/// `then` once, on the loop, now or later: with the response that refuses the request, or with nothing if it
/// may go on. The request is valid only until the guard returns.
using guard_answer = std::function<void(std::optional<response> refusal)>;
using guard = std::function<void(const request&, guard_answer then)>;

}  // namespace binnacle::http
