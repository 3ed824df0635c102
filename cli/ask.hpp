#pragma once

#include "common/error.hpp"
#include "common/http/client.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace binnacle::cli {

/// A question for JSON, with the bearer token in `token_file` if that is named: read for each question, since
/// tokens are replaced. Errors: the file's, with what writes one. Blocks for a small file.
result<http::call> call_for(std::string target, const std::string& token_file, std::size_t most_bytes);

/// One call on a connection of its own; blocks until `deadline` at most. `security` null: plain HTTP. Any
/// status is an answer. Include from .cpp files only.
result<http::answer> ask(const http::server_address& to, std::shared_ptr<SSL_CTX> security, http::call what,
                         std::chrono::milliseconds deadline);

}  // namespace binnacle::cli
