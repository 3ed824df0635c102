#include "aggregator/decision/ring.hpp"

#include <algorithm>

namespace binnacle::decision {

std::uint64_t ring::add(record r) {
  r.id = ++last_id_;
  if (observer_) observer_(r);
  std::size_t size = r.bytes();
  if (size > 2 * record_limit() + sizeof(record)) {
    r.candidates = std::vector<candidate>();  // `= {}` would keep the memory
    r.cells = std::vector<cell>();
    r.power = std::vector<watts_cell>();
    r.strangers = std::vector<std::string>();
    size = r.bytes();
    ++trimmed_;
  }
  hold(r.policy.get());
  while (!records_.empty() && (bytes_ + size > limits_.bytes || records_.size() >= limits_.count))
    drop_oldest();
  bytes_ += size;
  records_.push_back(std::move(r));
  return last_id_;
}

void ring::hold(const policy_facts* facts) {
  if (facts != nullptr && ++holders_[facts] == 1) bytes_ += facts->bytes();
}

void ring::let_go(const policy_facts* facts) {
  if (facts == nullptr) return;
  const auto at = holders_.find(facts);
  if (--at->second != 0) return;
  bytes_ -= facts->bytes();
  holders_.erase(at);
}

void ring::drop_oldest() {
  const record& oldest = records_.front();
  bytes_ -= oldest.bytes();
  let_go(oldest.policy.get());
  records_.pop_front();
  ++dropped_;
}

namespace {

/// Whether `wanted` means this pod. It is the pod's UID, or "namespace/" and the beginning of the name, or,
/// without a '/', a part of the name. The namespace must be whole: "default/web" does not match
/// "my-default/web".
bool is_of(const pod_ref& p, std::string_view wanted) {
  if (p.uid == wanted) return true;
  const bool has_namespace = wanted.find('/') != wanted.npos;
  return has_namespace ? (p.name_space + '/' + p.name).starts_with(wanted)
                       : p.name.find(wanted) != p.name.npos;
}

}  // namespace

bool ring::matches(const record& r, const query& q) const {
  if (q.id != 0 && r.id != q.id) return false;
  if (!q.verb.empty() && q.verb != to_string(r.what)) return false;
  if (!q.pod.empty() && !is_of(r.pod, q.pod)) return false;
  if (!q.policy.empty() && q.policy != r.wanted && q.policy != r.pod.name_space + '/' + r.wanted)
    return false;
  if (q.node.empty()) return true;
  // The node may be known now but was unknown at the decision, so both lists are searched.
  if (std::find(r.strangers.begin(), r.strangers.end(), q.node) != r.strangers.end()) return true;
  // Names are compared, because a node that was forgotten and came back has another id.
  return std::any_of(r.candidates.begin(), r.candidates.end(),
                     [&](const candidate& c) { return names_.name(c.id) == q.node; });
}

std::vector<const record*> ring::find(const query& q) const {
  std::vector<const record*> found;
  for (auto at = records_.rbegin(); at != records_.rend() && found.size() < q.limit; ++at) {
    if (matches(*at, q)) found.push_back(&*at);
  }
  return found;
}

}  // namespace binnacle::decision
