#include "aggregator/model_servers/endpoint_providers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::model_servers {

std::string endpoint_providers::call::target() const {
  return fmt::format("{}/redfish/v1/Systems{}", about.path,
                     system.empty() ? "" : fmt::format("/{}/MachineLearningModel", system));
}

bool endpoint_providers::make_room(instant now) {
  if (known_.size() < most) return true;
  if (now < room_at_) return false;
  const auto oldest =
      std::ranges::min_element(known_, {}, [](const auto& one) { return one.second.wanted_at; });
  room_at_ = oldest->second.wanted_at + dropped_early_after;
  if (now < room_at_) return false;
  known_.erase(oldest);
  return true;
}

const served_model* endpoint_providers::want(const endpoint_provider& p, instant now) {
  auto at = known_.find(p);
  if (at == known_.end()) {
    full_ = !make_room(now);
    if (full_) return nullptr;
    at = known_.try_emplace(p).first;
    at->second.due = now;
  }
  entry& e = at->second;
  e.wanted_at = now;
  return e.model && now - e.answered_at < counts_for ? &*e.model : nullptr;
}

endpoint_providers::fault endpoint_providers::fault_of(const endpoint_provider& p) const {
  if (const auto at = known_.find(p); at != known_.end()) return at->second.wrong;
  if (!full_) return {};
  return {fmt::format("more than {} different powerConsumptionEndpointProviders are named by NodeConfig "
                      "objects: name the models of some in predictor.powerConsumption alone",
                      most),
          {}};
}

std::vector<endpoint_providers::call> endpoint_providers::next(
    instant now, const std::function<bool(const endpoint_provider&)>& may) {
  std::erase_if(known_, [now](const auto& one) { return now - one.second.wanted_at >= dropped_after; });
  std::vector<call> out;
  if (busy_.size() >= most_calls) return out;
  std::vector<std::pair<instant, const endpoint_provider*>> due;
  for (const auto& [p, e] : known_) {
    if (e.due <= now && may(p)) due.emplace_back(e.due, &p);
  }
  std::ranges::sort(due, {}, [](const auto& one) { return one.first; });
  for (const auto& [since, p] : due) {
    if (busy_.size() >= most_calls) break;
    if (busy_.insert(p->server()).second) out.push_back({*p, {}});
  }
  return out;
}

std::optional<endpoint_providers::call> endpoint_providers::answered(const call& c,
                                                                     const result<http::answer>& got,
                                                                     instant now) {
  busy_.erase(c.about.server());
  const auto at = known_.find(c.about);
  if (at == known_.end()) return std::nullopt;
  entry& e = at->second;
  // The words of a broken connection name its server, so they are for one node.
  if (got.has_error()) {
    fault wrong{"its powerConsumptionEndpointProvider cannot be asked", got.error().message};
    leave_alone(e, provider_outcome::failed, std::move(wrong), false, now);
    return std::nullopt;
  }
  const auto take_error = [&](const error& why) {
    leave_alone(e, got->status == 200 ? provider_outcome::unusable : provider_outcome::refused,
                {"its powerConsumptionEndpointProvider: " + why.message, {}}, why.code == errc::not_found,
                now);
  };
  if (c.system.empty()) {
    auto system = system_in(c.about, *got);
    if (system.has_error()) {
      take_error(system.error());
      return std::nullopt;
    }
    count(provider_outcome::answered);
    busy_.insert(c.about.server());
    return call{c.about, std::move(*system)};
  }
  auto model = model_in(c.about, *got);
  if (model.has_error()) {
    take_error(model.error());
    return std::nullopt;
  }
  count(provider_outcome::answered);
  e.model = std::move(*model);
  e.answered_at = now;
  e.wrong = {};
  e.pauses.reset();
  e.due = now + asked_again_after;
  return std::nullopt;
}

/// `for_long`: the server does not have what it is asked for, and will hardly get it soon.
void endpoint_providers::leave_alone(entry& e, provider_outcome what, fault wrong, bool for_long,
                                     instant now) {
  count(what);
  e.wrong = std::move(wrong);
  if (for_long) e.pauses.reset();
  e.due = now + e.pauses.next(random_, for_long ? asked_again_after : duration::zero());
}

void endpoint_providers::ask_at_once(std::string_view secret, instant now) {
  for (auto& [p, e] : known_) {
    if (p.secret != secret || e.wrong.what.empty()) continue;
    e.pauses.reset();
    e.due = std::min(e.due, now);
  }
}

std::string_view to_string(provider_outcome o) noexcept {
  switch (o) {
    case provider_outcome::answered: return "answered";
    case provider_outcome::refused: return "refused";
    case provider_outcome::unusable: return "unusable";
    case provider_outcome::failed: return "failed";
  }
  return "unknown";
}

}  // namespace binnacle::model_servers
