#include "cli/ask.hpp"

#include "cli/blocking.hpp"
#include "common/http/client/destination.hpp"

#include <fmt/format.h>

#include <utility>

namespace binnacle::cli {
namespace {

async::task<result<http::answer>> asked(http::server_address to, std::shared_ptr<SSL_CTX> security,
                                        http::call what, async::deadline until) {
  const auto current = [security] { return security; };
  http::client peer(to, current, "binnacle/" BINNACLE_VERSION);
  what.headers.emplace_back("Connection", "close");
  co_return co_await peer.ask(std::move(what), until);
}

}  // namespace

result<http::call> call_for(std::string target, const std::string& token_file, std::size_t most_bytes) {
  http::call what;
  what.target = std::move(target);
  what.headers = {{"Accept", "application/json"}};
  what.most_bytes = most_bytes;
  if (token_file.empty()) return what;
  http::proof me;
  me.token_file = token_file;
  auto header = http::authorization(me);
  if (header.has_error()) {
    return error{header.error().code,
                 fmt::format("--token-file {}: {}; `kubectl create token ACCOUNT > FILE` writes one",
                             token_file, header.error().message)};
  }
  what.headers.emplace_back("Authorization", std::move(*header));
  return what;
}

result<http::answer> ask(const http::server_address& to, std::shared_ptr<SSL_CTX> security, http::call what,
                         std::chrono::milliseconds deadline) {
  return blocking(asked(to, std::move(security), std::move(what), async::within(deadline)));
}

}  // namespace binnacle::cli
