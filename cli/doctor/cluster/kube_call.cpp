#include "cli/doctor/cluster/kube_call.hpp"

#include "aggregator/kube/client/client.hpp"
#include "cli/blocking.hpp"

#include <utility>

namespace binnacle::cli::doctor {
namespace {

async::task<result<http::answer>> called(kube::access to, http::call what, async::deadline until) {
  auto api = kube::client::open(std::move(to), logger("kube", log_level::off));
  if (api.has_error()) co_return api.error();
  what.headers.emplace_back("Connection", "close");
  co_return co_await (*api)->ask(std::move(what), until);
}

}  // namespace

std::optional<result<kube::access>> kube_access(const place& p) {
  std::string paths = p.kube_config;
  if (const char* usual = p.variables("KUBECONFIG"); paths.empty() && usual != nullptr) paths = usual;
  if (paths.empty()) return std::nullopt;
  return kube::access_by(paths, p.kube_context, p.variables);
}

result<http::answer> kube_ask(const kube::access& to, http::call what, std::chrono::milliseconds patience) {
  return blocking(called(to, std::move(what), async::within(patience)));
}

result<http::answer> kube_get(const kube::access& to, std::string target,
                              std::chrono::milliseconds patience) {
  http::call what;
  what.target = std::move(target);
  what.headers = {{"Accept", "application/json"}};
  return kube_ask(to, std::move(what), patience);
}

}  // namespace binnacle::cli::doctor
