#include "aggregator/callers/claim.hpp"

#include "common/http/target.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace binnacle::callers {
namespace {

constexpr std::string_view what_to_present =
    "present a bearer token, a client certificate of the cluster, or one of the authority that this server "
    "trusts for callers";

/// The value of the first of these headers that is there and not empty.
std::string first_value(const http::request& r, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string* text = r.header(name);
    if (text != nullptr && !text->empty()) return *text;
  }
  return {};
}

kube::user named_in_headers(const http::request& r, const layer& known) {
  kube::user out;
  out.name = first_value(r, known.user_headers);
  out.uid = first_value(r, known.uid_headers);
  for (const auto& [name, value] : r.headers) {
    if (std::ranges::find(known.group_headers, name) != known.group_headers.end())
      out.groups.push_back(value);
    for (const std::string& prefix : known.extra_prefixes) {
      if (!name.starts_with(prefix)) continue;
      const std::string key = name.substr(prefix.size());
      const auto plain = http::percent_decoded(key);
      out.extra[plain.has_value() ? *plain : key].push_back(value);
    }
  }
  return out;
}

/// Puts the user into one of the two groups below, as the API server does.
claim user(kube::user who) {
  constexpr std::string_view known = "system:authenticated", unknown = "system:unauthenticated";
  const auto in = [&who](std::string_view group) {
    return std::ranges::find(who.groups, group) != who.groups.end();
  };
  if (who.name != "system:anonymous" && !in(unknown) && !in(known)) who.groups.emplace_back(known);
  return {claim::kind::user, std::move(who)};
}

/// RFC 6750 2.1, the scheme in any case.
std::string bearer(const http::request& r) {
  const std::string* text = r.header("authorization");
  constexpr std::string_view scheme = "bearer ";
  if (text == nullptr || lowered(text->substr(0, scheme.size())) != scheme) return {};
  std::string token = text->substr(scheme.size());
  token.erase(0, token.find_first_not_of(' '));
  return token.find_first_of(" \t") == std::string::npos ? token : std::string();
}

/// Who the caller is by its certificate, where the layer trusts that certificate's authority. If nothing
/// follows from the certificate, `why` gets the reason.
std::optional<claim> by_certificate(const http::request& r, const layer* known, std::string& why) {
  if (r.shown == nullptr) return std::nullopt;
  if (known == nullptr) {
    why =
        "the authorities that the API server trusts are not read yet, so a certificate cannot be checked: "
        "try again";
    return std::nullopt;
  }
  if (known->front_proxy != nullptr) {
    if (const auto proxy = known->front_proxy->verify(*r.shown); proxy.has_value()) {
      const auto& names = known->proxy_names;
      kube::user who = named_in_headers(r, *known);
      if (!names.empty() && std::ranges::find(names, proxy->common_name) == names.end()) {
        why = fmt::format(
            "{} is none of the names that the aggregation layer may have (requestheader-allowed-names)",
            in_quotes(proxy->common_name, 253));
      } else if (who.name.empty()) {
        why = "the aggregation layer named no user";
      } else {
        return user(std::move(who));
      }
    }
  }
  if (r.peer) return std::nullopt;  // ours
  if (known->clients != nullptr) {
    const auto client = known->clients->verify(*r.shown);
    if (client.has_value() && !client->common_name.empty()) {
      kube::user who{client->common_name, {}, client->organizations, {}};
      who.extra["authentication.kubernetes.io/credential-id"] = {"X509SHA256=" + client->fingerprint};
      return user(std::move(who));
    }
    if (why.empty()) {
      why = client.has_value() ? "the client certificate names no user"
                               : "no authority that is trusted here signed the client certificate (" +
                                     client.error().message + ")";
    }
  } else if (why.empty()) {
    why =
        "no authority that is trusted here signed the client certificate (the cluster names no authority for "
        "clients)";
  }
  return std::nullopt;
}

}  // namespace

claim who_asks(const http::request& r, const layer* known) {
  std::string why;
  if (auto certified = by_certificate(r, known, why)) return *std::move(certified);
  if (r.peer) return {claim::kind::ours};
  if (std::string token = bearer(r); !token.empty()) return {claim::kind::token, {}, std::move(token)};
  return {claim::kind::nobody, {}, {}, why.empty() ? std::string(what_to_present) : why};
}

}  // namespace binnacle::callers
