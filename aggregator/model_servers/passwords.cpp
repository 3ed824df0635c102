#include "aggregator/model_servers/passwords.hpp"

#include "aggregator/kube/json.hpp"
#include "aggregator/kube/refusal.hpp"
#include "common/http/base64.hpp"
#include "common/text/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::model_servers {
namespace {

constexpr std::size_t most_secret_bytes = std::size_t{4} << 20;  // 1 MiB of data in base64, and managedFields
constexpr std::string_view how = "create it with the keys username and password";

/// The value of a key. Errors: a clause that quotes nothing of it.
result<std::string> value_of(std::string_view secret, const boost::json::object& data, std::string_view key) {
  const std::string_view text = text_in(data, key);
  if (text.empty())
    return invalid(fmt::format("the Secret {} has no key {}, or an empty one: {}", secret, key, how));
  auto value = http::from_base64(std::string(text));
  if (value.has_error() || value->empty())
    return invalid(fmt::format("the key {} of the Secret {} cannot be read: {}", key, secret, how));
  const auto no_text = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (std::ranges::any_of(*value, no_text))
    return invalid(
        fmt::format("the key {} of the Secret {} has a line break or another control character in it, which "
                    "no password may have: write it without one (printf instead of echo)",
                    key, secret));
  return value;
}

/// The header by a Secret's object. Errors: a clause that quotes nothing of it.
result<std::string> header_of(std::string_view secret, const boost::json::object& object) {
  const boost::json::object none;
  const boost::json::object* const there = object_in(object, "data");
  const boost::json::object& data = there == nullptr ? none : *there;
  const auto user = value_of(secret, data, "username");
  if (user.has_error()) return user.error();
  if (user->find(':') != user->npos)
    return invalid(fmt::format(
        "the key username of the Secret {} has a ':' in it, which HTTP does not allow in a user's name",
        secret));
  const auto password = value_of(secret, data, "password");
  if (password.has_error()) return password.error();
  return "Basic " + http::to_base64(*user + ":" + *password);
}

struct reading {
  result<std::string> header;
  bool final = true;  // false: the API server could not say, and what was known before stays
};

reading read(std::string_view secret, const result<http::answer>& got) {
  const std::string not_now = fmt::format("the Secret {} cannot be read now", secret);
  const auto because = [&not_now](const error& why) {
    return reading{error{why.code, fmt::format("{}: {}", not_now, why.message)}, false};
  };
  if (got.has_error()) return because(got.error());
  if (got->status == 404) return {invalid(fmt::format("there is no Secret {}: {}", secret, how))};
  if (got->status == 403)
    return {invalid(
        fmt::format("the Secret {} may not be read: grant get on it by a Role (in the chart: list it in "
                    "aggregator.modelServersSecrets.names)",
                    secret))};
  if (const auto refused = kube::refusal_of(*got)) return {refused->as_error(not_now), false};
  const auto object = kube::parse_object(got->body);
  if (object.has_error()) return because(object.error());
  return {header_of(secret, *object)};
}

}  // namespace

std::string passwords::not_allowed(std::string_view secret) const {
  const std::string_view its = secret.substr(0, secret.find('/'));
  if (!name_space_.empty() && its == name_space_) return {};
  return fmt::format(
      "its basicAuthSecret is the Secret {}, and {}: name the namespace in model-servers-secrets (in the "
      "chart aggregator.modelServersSecrets.namespace)",
      secret,
      name_space_.empty() ? "Secrets are not read"
                          : "only Secrets of the namespace " + name_space_ + " are read");
}

void passwords::want(const std::string& secret, instant now) {
  auto at = known_.find(secret);
  if (at == known_.end()) {
    if (!not_allowed(secret).empty()) return;
    full_ = known_.size() >= most;
    if (full_) return;
    at = known_.try_emplace(secret).first;
  }
  at->second.wanted_at = now;
}

const std::string* passwords::header(std::string_view secret) const {
  const auto at = known_.find(secret);
  return at == known_.end() || at->second.header.empty() ? nullptr : &at->second.header;
}

std::string passwords::trouble(std::string_view secret) const {
  if (const auto at = known_.find(secret); at != known_.end()) return at->second.trouble;
  std::string why = not_allowed(secret);
  if (why.empty() && full_)
    why = fmt::format("more than {} Secrets are named by NodeConfig objects: let nodes share some", most);
  return why;
}

void passwords::refused(std::string_view secret, instant now) {
  const auto at = known_.find(secret);
  if (at == known_.end()) return;
  entry& e = at->second;
  if (std::exchange(e.refused, true)) return;
  e.due = std::min(e.due, std::max(now, e.read_at + e.pauses.next()));
}

std::optional<http::call> passwords::next(instant now) {
  std::erase_if(known_, [now](const auto& one) { return now - one.second.wanted_at >= forgotten_after; });
  if (being_read_) return std::nullopt;
  const auto due = std::ranges::min_element(known_, {}, [](const auto& one) { return one.second.due; });
  if (due == known_.end() || due->second.due > now) return std::nullopt;
  being_read_ = due->first;
  const auto slash = due->first.find('/');
  http::call out;
  out.target = fmt::format("/api/v1/namespaces/{}/secrets/{}", due->first.substr(0, slash),
                           due->first.substr(slash + 1));
  out.headers = {{"Accept", "application/json"}};
  out.most_bytes = most_secret_bytes;
  return out;
}

std::optional<std::string> passwords::answered(const result<http::answer>& got, instant now) {
  const std::string secret = *std::exchange(being_read_, std::nullopt);
  const auto at = known_.find(secret);
  if (at == known_.end()) return std::nullopt;
  entry& e = at->second;
  e.read_at = now;
  const reading is = read(secret, got);
  e.trouble = is.header.has_error() ? is.header.error().message : std::string();
  std::string header = is.header.has_error() ? std::string() : *is.header;
  const bool other = is.final && header != e.header;
  // The same password after a refusal is no reason to read it more often.
  if (other || (is.header.has_value() && !e.refused)) e.pauses.reset();
  e.refused = false;
  e.due = now + (is.header.has_error() ? e.pauses.next() : read_again_after);
  if (!is.final) return std::nullopt;
  e.header = std::move(header);
  return other ? std::optional(secret) : std::nullopt;
}

}  // namespace binnacle::model_servers
