#include "aggregator/custom_metrics/negotiate.hpp"

#include "common/text/text.hpp"

#include <string_view>

namespace binnacle::custom_metrics {
namespace {

/// The piece of `text` before `separator`, trimmed; `text` goes on after it.
std::string_view next_piece(std::string_view& text, char separator) noexcept {
  const auto at = text.find(separator);
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return trimmed(piece);
}

bool is_zero(std::string_view q) noexcept {
  return !q.empty() && q.find_first_not_of("0.") == std::string_view::npos;
}

form form_of(std::string_view alternative, bool aggregated) noexcept {
  const std::string_view type = next_piece(alternative, ';');
  if (type != "application/json" && type != "application/*" && type != "*/*") return form::none;
  std::string_view group, version, as;
  while (!alternative.empty()) {
    std::string_view parameter = next_piece(alternative, ';');
    const std::string_view name = next_piece(parameter, '=');
    const std::string_view value = trimmed(parameter);
    if (name == "g") group = value;
    if (name == "v") version = value;
    if (name == "as") as = value;
    if (name == "q" && is_zero(value)) return form::none;
  }
  if (group.empty() && version.empty() && as.empty()) return form::json;
  if (aggregated && group == "apidiscovery.k8s.io" && as == "APIGroupDiscoveryList") {
    if (version == "v2") return form::discovery_v2;
    if (version == "v2beta1") return form::discovery_v2beta1;
  }
  return form::none;
}

}  // namespace

form negotiate(const std::string* accept, bool aggregated) {
  if (accept == nullptr || trimmed(*accept).empty()) return form::json;
  std::string_view rest = *accept;
  while (!rest.empty()) {
    const form f = form_of(next_piece(rest, ','), aggregated);
    if (f != form::none) return f;
  }
  return form::none;
}

bool wants_pretty(const std::string* parameter, const std::string* user_agent) {
  if (parameter != nullptr) return *parameter != "0" && *parameter != "false";
  if (user_agent == nullptr) return false;
  return user_agent->starts_with("curl") || user_agent->starts_with("Wget") ||
         user_agent->starts_with("Mozilla/5.0");
}

}  // namespace binnacle::custom_metrics
