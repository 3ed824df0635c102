#include "cli/doctor/cluster/kube_call.hpp"

#include "aggregator/kube/client/client.hpp"
#include "cli/blocking.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

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
  auto found = kube::access_by(paths, p.kube_context, p.variables);
  if (found.has_error()) return found;
  if (const auto direct = kube::check_direct(*found); direct.has_error())
    return result<kube::access>(direct.error());
  return found;
}

std::optional<finding> no_cluster(const std::optional<result<kube::access>>& access) {
  if (!access) return unchecked("no cluster is asked", "--kube-config FILE (or in-cluster), or KUBECONFIG");
  if (access->has_value()) return std::nullopt;
  const bool works_with_kubectl = access->error().code == errc::unsupported;  // the message has the remedy
  return failure(access->error().message,
                 works_with_kubectl ? "" : "name a kubeconfig file that works with kubectl");
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

read_object kube_read(const kube::access& to, const std::string& path, std::string_view what,
                      const place& p) {
  const auto got = kube_get(to, path, p.patience);
  if (got.has_error())
    return {{}, unchecked(fmt::format("{} cannot be asked for: {}", what, got.error().message))};
  if (got->status == 401 || got->status == 403) {
    return {{},
            unchecked(fmt::format("{} may not be read by this user (HTTP status {})", what, got->status),
                      "use a kubeconfig of a user who may get it")};
  }
  if (got->status == 404) return {};
  boost::system::error_code ec;
  json::value said = json::parse(got->body, ec);
  if (ec || got->status != 200)
    return {
        {},
        warning(fmt::format("{}: the API server answers HTTP status {}", what, got->status), "see its log")};
  return {std::move(said), std::nullopt};
}

}  // namespace binnacle::cli::doctor
