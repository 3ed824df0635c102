#include "cli/client.hpp"

#include "cli/ask.hpp"
#include "cli/json.hpp"
#include "common/http/target.hpp"
#include "common/text/text.hpp"

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace binnacle::cli {
namespace {

/// What to do about a failed connection, as the end of a sentence.
std::string_view remedy(errc code) {
  switch (code) {
    case errc::disconnected:
      return "is binnacle-aggregator running there? --aggregator names another address";
    case errc::timeout: return "check the address, and that no firewall in between drops the connection";
    case errc::not_found: return "check the name given with --aggregator";
    case errc::permission: return "check --ca (who signed the server), --cert and --key (who you are)";
    case errc::protocol: return "is that the ops port (9102), and https?";
    default: return "";
  }
}

/// What to do about a refusal, as the end of a sentence. `said` is the server's message.
std::string remedy_of_refusal(std::string_view said) {
  // The words around the user's name in a refusal by RBAC: aggregator/callers/attributes.cpp.
  constexpr std::string_view before = "User \"", after = "\" cannot ", account = "system:serviceaccount:";
  const auto begin = said.find(before), end = said.rfind(after);
  if (begin == said.npos || end == said.npos || end < begin + before.size())
    return " (--cert and --key, or --token-file)";
  std::string_view user = said.substr(begin + before.size(), end - begin - before.size());
  const std::string_view kind = user.starts_with(account) ? "serviceaccount" : "user";
  if (user.starts_with(account)) user.remove_prefix(account.size());
  // Characters that a shell takes as they are. A name with any other is not printed, because people copy this
  // command into a shell.
  const auto is_letter = [](char c) { return is_digit(c) || (lowered(c) >= 'a' && lowered(c) <= 'z'); };
  const auto is_plain = [&](char c) { return is_letter(c) || std::string_view("-._@:/").find(c) < 6; };
  const std::string who = std::ranges::all_of(user, is_plain) ? std::string(user) : "USER";
  std::string binding = lowered(who);
  std::ranges::replace_if(
      binding, [&](char c) { return !is_letter(c); }, '-');
  return fmt::format(
      "; whoever administers the cluster grants that by: kubectl create clusterrolebinding "
      "binnacle-reader-{} --clusterrole binnacle-ops-reader --{} {}",
      binding, kind, who);
}

}  // namespace

result<std::unique_ptr<tls::context>> security_for(const server_url& to, const connection& as) {
  const tls::files& pem = as.pem;
  if (!to.secure && !as.token_file.empty()) {
    return error{
        errc::invalid_input,
        fmt::format("{} is http, where everybody on the way could read your token: write https", to.url)};
  }
  if (!to.secure) return std::unique_ptr<tls::context>();
  if (pem.authority.empty()) {
    return error{
        errc::invalid_input,
        fmt::format("no certificate authority is given to verify {} with: name the file with --ca or "
                    "BINNACLE_CA",
                    to.url)};
  }
  if (pem.certificate.empty() != pem.key.empty()) {
    return error{errc::invalid_input, "--cert and --key belong together: give both or neither"};
  }
  tls::options o;
  o.side = tls::role::client;
  o.pem = pem;
  o.alpn = "http/1.1";
  return tls::context::load(std::move(o));
}

result<json_answer> understood(const server_url& from, result<http::answer> got) {
  if (got.has_error()) {
    const auto& e = got.error();
    const auto what = remedy(e.code);
    return error{e.code,
                 fmt::format("cannot reach {}: {}{}{}", from.url, e.message, what.empty() ? "" : "; ", what)};
  }
  json_answer a;
  boost::system::error_code ec;
  a.json = boost::json::parse(got->body, ec);
  if (got->status >= 400) {
    std::string said = ec ? std::string() : text(a.json, "error");
    if (said.empty()) said = fmt::format("HTTP status {}", got->status);
    const bool unknown_caller = got->status == 401 || got->status == 403;
    return error{
        unknown_caller ? errc::permission : errc::invalid_input,
        fmt::format("{} refused: {}{}", from.url, said, unknown_caller ? remedy_of_refusal(said) : "")};
  }
  if (ec)
    return error{errc::protocol, fmt::format("{} answered no JSON: {}; is that the ops port (9102)?",
                                             from.url, ec.message())};
  a.text = std::move(got->body);
  return a;
}

std::string nodes_target(const std::vector<std::string>& metrics) {
  std::string target = "/api/v1/nodes";
  for (const std::string& m : metrics)
    target += (target.find('?') == target.npos ? "?metric=" : "&metric=") + http::query_escaped(m);
  return target;
}

std::string labels_target(const std::string& key) {
  return key.empty() ? "/api/v1/nodelabels" : "/api/v1/nodelabels?key=" + http::query_escaped(key);
}

result<client> client::open(const server_url& to, const connection& as) {
  auto security = security_for(to, as);
  if (security.has_error()) return security.error();
  return client(to, std::move(*security), as);
}

result<client::answer> client::get(const std::string& target, std::chrono::milliseconds deadline) const {
  auto call = call_for(target, token_file_, most_answer_bytes);
  if (call.has_error()) return call.error();
  return understood(to_, ask({to_.at.host, to_.at.port, server_name_},
                             security_ ? security_->current() : nullptr, std::move(*call), deadline));
}

}  // namespace binnacle::cli
