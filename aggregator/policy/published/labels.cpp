#include "aggregator/policy/published/labels.hpp"

#include "aggregator/policy/label_keys.hpp"

namespace binnacle::policy {
namespace {

/// Which of two policies' wishes for one label holds: the larger.
int weight(label_wish::action a) {
  switch (a) {
    case label_wish::action::remove: return 0;
    case label_wish::action::keep: return 1;
    case label_wish::action::blocked: return 2;
    case label_wish::action::set: return 3;
  }
  return 0;
}
}  // namespace

bool label_claims::covers(std::string_view label_key) const {
  return keys.contains(label_key) || unread.contains(policy_of(label_key));
}

void merge(label_wishes& into, const std::string& key, label_wish wish) {
  const auto [at, fresh] = into.try_emplace(key, wish);
  if (!fresh && weight(wish.what) > weight(at->second.what)) at->second = std::move(wish);
}

}  // namespace binnacle::policy
