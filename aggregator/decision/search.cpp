#include "aggregator/decision/search.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::decision {
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

search::search(const ring& in, query q)
    : in_(in), query_(std::move(q)), at_(query_.id != 0 ? query_.id : in.total()) {
  // A node that was forgotten and came back has another id, so a name may have several.
  if (!query_.node.empty()) has_name_ = in.names().named(query_.node);
}

bool search::is_asked_for(const record& r) const {
  if (!query_.verb.empty() && query_.verb != to_string(r.what)) return false;
  if (!query_.pod.empty() && !is_of(r.pod, query_.pod)) return false;
  return query_.policy.empty() || query_.policy == r.wanted ||
         query_.policy == r.pod.name_space + '/' + r.wanted;
}

/// A node may be known now but was unknown at the decision, so the strangers are searched, too.
bool search::named_a_stranger(const record& r) const {
  return std::find(r.strangers.begin(), r.strangers.end(), query_.node) != r.strangers.end();
}

void search::next(bool take) {
  if (take) found_.push_back(at_);
  candidate_ = 0;
  at_ = query_.id != 0 ? 0 : at_ - 1;
}

bool search::go_on(std::size_t looks) {
  while (at_ != 0 && found_.size() < query_.limit) {
    if (looks == 0) return true;
    const record* r = in_.at(at_);
    if (r == nullptr) break;  // it was dropped, and so were all older ones
    if (candidate_ == 0) {
      looks -= std::min(looks, looks_of_a_decision);
      const bool asked_for = is_asked_for(*r);
      if (!asked_for || query_.node.empty() || named_a_stranger(*r)) {
        next(asked_for);
        continue;
      }
    }
    const std::size_t left = r->candidates.size() - candidate_;
    const std::size_t end = candidate_ + std::min(left, std::max<std::size_t>(looks, 1));
    const auto is_it = [this](const candidate& c) {
      const std::size_t i = store::index(c.id);
      return i < has_name_.size() && has_name_[i];
    };
    const auto all = r->candidates.begin();
    const bool is_here = std::any_of(all + static_cast<std::ptrdiff_t>(candidate_),
                                     all + static_cast<std::ptrdiff_t>(end), is_it);
    looks -= std::min(looks, end - candidate_);
    candidate_ = end;
    if (is_here || candidate_ == r->candidates.size()) next(is_here);
  }
  at_ = 0;
  return false;
}

}  // namespace binnacle::decision
