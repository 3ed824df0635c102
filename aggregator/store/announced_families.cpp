#include "aggregator/store/announced_families.hpp"

#include "common/metrics/families.hpp"

#include <utility>

namespace binnacle::store {

announced_families::held::held(std::shared_ptr<counts> all, const std::vector<std::string>& names)
    : all_(std::move(all)) {
  std::size_t added = 0;
  for (const std::string& name : names) {
    auto at = all_->find(name);
    const bool is_new = at == all_->end();
    // Our own are as many as our tables have, and are always known.
    const bool own = metrics::find(name) != nullptr;
    // The one kind that holds a name may be what this node was until now: a node's new kind comes before the
    // old one goes. So such names count as added, too.
    const bool adds = !own && (is_new || at->second == 1);
    if (adds && added == most_new_of_a_kind) continue;
    if (is_new && !own && all_->size() >= most_foreign) continue;
    if (adds) ++added;
    if (is_new) at = all_->try_emplace(name).first;
    ++at->second;
    mine_.push_back(at);
  }
}

announced_families::held::~held() {
  for (const auto at : mine_) {
    if (--at->second == 0) all_->erase(at);
  }
}

std::vector<std::string_view> announced_families::names() const {
  std::vector<std::string_view> out;
  out.reserve(all_->size());
  for (const auto& [name, kinds] : *all_) out.push_back(name);
  return out;
}

}  // namespace binnacle::store
