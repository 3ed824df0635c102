#include "cli/ask.hpp"

#include "cli/blocking.hpp"

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

result<http::answer> ask(const http::server_address& to, std::shared_ptr<SSL_CTX> security, http::call what,
                         std::chrono::milliseconds deadline) {
  return blocking(asked(to, std::move(security), std::move(what), async::within(deadline)));
}

}  // namespace binnacle::cli
