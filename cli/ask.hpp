#pragma once

#include "common/error.hpp"
#include "common/http/client/client.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace binnacle::cli {

/// A GET request for JSON. If `token_file` is not empty, the request carries the bearer token from that file.
/// The file is read for each request, because tokens are replaced while a command runs. Errors: why the file
/// cannot be used, and what writes a good one. Blocks while it reads a small file.
result<http::call> call_for(std::string target, const std::string& token_file, std::size_t most_bytes);

/// Makes one call on a new connection; blocks until `deadline` at most. If `security` is null, the call is
/// plain HTTP. An answer with any HTTP status is a success. Include from .cpp files only.
result<http::answer> ask(const http::server_address& to, std::shared_ptr<SSL_CTX> security, http::call what,
                         std::chrono::milliseconds deadline);

}  // namespace binnacle::cli
