#pragma once

#include "common/http/message.hpp"

#include <functional>
#include <optional>
#include <string>

namespace binnacle::http {

/// What a guard decides about a request.
struct ruling {
  std::optional<response> refusal = {};  ///< the answer that refuses it; none: it may go on
  /// Who asks, if the guard knows better than the certificate: the name of a user of Kubernetes.
  std::string caller = {};
};

/// Is called before the handler of every path and decides whether the request may go on. The guard calls
/// `then` once, on the loop, now or later. The request is valid only until the guard returns.
using guard_answer = std::function<void(ruling)>;
using guard = std::function<void(const request&, guard_answer then)>;

}  // namespace binnacle::http
