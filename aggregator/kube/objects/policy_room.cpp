#include "aggregator/kube/objects/policy_room.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::kube {
namespace {

std::string size_text(std::size_t bytes) {
  const auto n = static_cast<double>(bytes);
  return bytes < 1 << 20 ? fmt::format("{:.1f} KiB", n / (1 << 10))
                         : fmt::format("{:.1f} MiB", n / (1 << 20));
}

}  // namespace

std::optional<policy_room::excess> policy_room::exceeded(const std::string& name_space,
                                                         std::size_t bytes) const {
  const auto over = [&](const sum& s, unsigned percent, const std::string& whose) -> std::optional<excess> {
    const std::size_t objects = std::max<std::size_t>(1, limits_.objects * percent / 100),
                      all = limits_.bytes() / 100 * percent;
    const std::size_t now = s.by_age.size() + 1, size = s.bytes + bytes;
    if (now <= objects && size <= all) return std::nullopt;
    const std::string figures =
        now > objects
            ? fmt::format("with this policy there would be {} TASPolicy objects{}, and there may be {}", now,
                          whose, objects)
            : fmt::format(
                  "the policy's text has {}; the texts of all TASPolicy objects{} would then have {}, "
                  "and may have {}",
                  size_text(bytes), whose, size_text(size), size_text(all));
    return excess{&s,
                  {figures,
                   "remove policies that nobody needs, or raise policy-objects; this one is looked at again "
                   "when it is edited, and within ten minutes after there is room",
                   true}};
  };
  static const sum nothing;
  const auto at = namespaces_.find(name_space);
  auto out = over(at == namespaces_.end() ? nothing : at->second, limits_.namespace_percent,
                  " in namespace " + name_space);
  if (!out) out = over(all_, 100, "");
  return out;
}

std::optional<policy_room::refusal> policy_room::put(const object_key& key, const std::string& created,
                                                     std::size_t bytes, std::vector<displaced>* younger) {
  if (bytes > limits_.object_bytes)
    return refusal{fmt::format("the policy's text has {}, and one may have {}", size_text(bytes),
                               size_text(limits_.object_bytes)),
                   "make several policies of it, or give it fewer rules and labels", false};
  auto before = take_off(key);
  const std::pair age(created, key);
  auto no = exceeded(key.name_space, bytes);
  std::vector<std::pair<object_key, entry>> evicted;  // the youngest first
  while (no && younger != nullptr && !no->of->by_age.empty() && age < *no->of->by_age.rbegin()) {
    const object_key last = no->of->by_age.rbegin()->second;
    evicted.emplace_back(last, *take_off(last));
    no = exceeded(key.name_space, bytes);
  }
  if (!no) {
    freed_ = freed_ || (before && before->bytes > bytes);
    add(key, {created, bytes});
  } else if (before) {
    add(key, std::move(*before));
  }
  // A large one may have made more room than was needed, or room that does not help.
  for (auto oldest = evicted.rbegin(); oldest != evicted.rend(); ++oldest) {
    auto& [other, e] = *oldest;
    if (auto why = exceeded(other.name_space, e.bytes))
      younger->emplace_back(other, std::move(why->why));
    else
      add(other, std::move(e));
  }
  return no ? std::optional(std::move(no->why)) : std::nullopt;
}

void policy_room::remove(const object_key& key) {
  if (take_off(key)) freed_ = true;
}

void policy_room::add(const object_key& key, entry e) {
  for (sum* s : {&all_, &namespaces_[key.name_space]}) {
    s->bytes += e.bytes;
    s->by_age.emplace(e.created, key);
  }
  known_[key] = std::move(e);
}

std::optional<policy_room::entry> policy_room::take_off(const object_key& key) {
  const auto at = known_.find(key);
  if (at == known_.end()) return std::nullopt;
  const auto of = namespaces_.find(key.name_space);
  for (sum* s : {&all_, &of->second}) {
    s->bytes -= at->second.bytes;
    s->by_age.erase({at->second.created, key});
  }
  if (of->second.by_age.empty()) namespaces_.erase(of);
  entry out = std::move(at->second);
  known_.erase(at);
  return out;
}

}  // namespace binnacle::kube
