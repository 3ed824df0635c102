#pragma once

#include "common/http/message.hpp"

#include <functional>
#include <optional>

namespace binnacle::http {

/// Asked before the handler of every path: may this request go on? It calls `then` once, on the loop, now or
/// later, with what the caller is told instead, or with nothing. The request is its own only until it
/// returns.
using guard_answer = std::function<void(std::optional<response> refusal)>;
using guard = std::function<void(const request&, guard_answer then)>;

}  // namespace binnacle::http
