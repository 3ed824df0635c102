#pragma once

#include "common/error.hpp"
#include "common/http/client.hpp"

#include <chrono>
#include <memory>

namespace binnacle::cli {

/// One call on a connection of its own; blocks until `deadline` at most. `security` null: plain HTTP. Any
/// status is an answer. Include from .cpp files only.
result<http::answer> ask(const http::server_address& to, std::shared_ptr<SSL_CTX> security, http::call what,
                         std::chrono::milliseconds deadline);

}  // namespace binnacle::cli
