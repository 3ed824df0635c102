#include "aggregator/labels/wake_list.hpp"

#include "aggregator/policy/published/refusal.hpp"

#include <algorithm>
#include <bit>
#include <set>

namespace binnacle::labels {
namespace {

constexpr std::size_t word_bits = 64;

bool refuses(const policy::published_strategy* s, store::node_id node) noexcept {
  return s != nullptr && policy::refuses(s->verdicts->load(node).what);
}

void add(std::vector<std::uint64_t>& to, store::node_id node) {
  const std::size_t word = store::index(node) / word_bits;
  if (word >= to.size()) to.resize(word + 1);
  to[word] |= std::uint64_t{1} << store::index(node) % word_bits;
}

}  // namespace

class wake_list::round {
 public:
  round(wake_list& list, const policy::view& nodes, const decision::node_names& names, instant now)
      : list_(list), nodes_(nodes), names_(names), now_(now) {}

  /// A node that would take the pod: one that is named already if there is one.
  std::optional<store::node_id> node_for(const pod& p) {
    std::optional<store::node_id> first;
    const node_set& taking = takes(p.policy);
    for (std::size_t word = 0; word < std::min(p.nodes.size(), taking.size()); ++word) {
      for (std::uint64_t bits = p.nodes[word] & taking[word]; bits != 0; bits &= bits - 1) {
        const store::node_id node{
            static_cast<std::uint32_t>(word * word_bits + static_cast<std::size_t>(std::countr_zero(bits)))};
        if (chosen_.contains(node)) return node;
        if (!first && may_name(node)) first = node;
      }
    }
    return first;
  }
  void name(store::node_id node) {
    if (!chosen_.insert(node).second) return;
    list_.named_[node] = now_;
    out_.emplace_back(names_.name(node));
  }
  std::vector<std::string> take() { return std::move(out_); }

 private:
  const node_set& takes(const policy::policy_key& key) {
    const auto [at, fresh] = taking_.try_emplace(key);
    if (!fresh) return at->second;
    const auto found = nodes_.policies().find(key);
    const policy::published_policy* p = found == nodes_.policies().end() ? nullptr : found->second.get();
    if (p != nullptr && p->how == policy::mode::dry_run) p = nullptr;
    const auto* strategy = p == nullptr ? nullptr : p->find(policy::yield::refusals);
    for (const auto& [name, node] : nodes_.nodes()) {
      if (!refuses(strategy, node->id)) add(at->second, node->id);
    }
    return at->second;
  }
  bool may_name(store::node_id node) const {
    const auto at = list_.named_.find(node);
    return at == list_.named_.end() || now_ - at->second >= between;
  }

  wake_list& list_;
  const policy::view& nodes_;
  const decision::node_names& names_;
  const instant now_;
  std::map<policy::policy_key, node_set> taking_;
  std::set<store::node_id> chosen_;
  std::vector<std::string> out_;
};

void wake_list::answered(const decision::record& r, instant now) {
  if (r.what != decision::verb::filter) return;
  const std::string who = r.pod.uid.empty() ? r.pod.name_space + "/" + r.pod.name : r.pod.uid;
  const bool refused =
      r.how == decision::outcome::decided && !r.dry_run() && r.asked > 0 && r.refused == r.asked;
  if (!refused) {
    pods_.erase(who);
    return;
  }
  if (pods_.size() >= most_pods && !pods_.contains(who)) {
    ++dropped_;
    return;
  }
  pod p;
  p.policy = r.policy->key;
  p.refused_at = now;
  for (const decision::candidate& c : r.candidates) {
    if (c.id != decision::no_node) add(p.nodes, c.id);
  }
  pods_[who] = std::move(p);
}

// A pod that was not refused again for so long is gone, or has been placed.
void wake_list::forget_old(instant now) {
  std::erase_if(pods_, [now](const auto& p) { return now - p.second.refused_at >= remembered; });
  std::erase_if(named_, [now](const auto& n) { return now - n.second >= between; });
}

std::vector<std::string> wake_list::due(const policy::view& nodes, const decision::node_names& names,
                                        instant now) {
  forget_old(now);
  round r(*this, nodes, names, now);
  for (auto& [who, p] : pods_) {
    if (now < p.not_before) continue;
    const auto node = r.node_for(p);
    if (!node) continue;
    r.name(*node);
    p.nodes[store::index(*node) / word_bits] &= ~(std::uint64_t{1} << store::index(*node) % word_bits);
    p.not_before = now + p.pauses.next();
  }
  return r.take();
}

}  // namespace binnacle::labels
