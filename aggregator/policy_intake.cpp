#include "aggregator/policy_intake.hpp"

#include "aggregator/core/core.hpp"
#include "aggregator/loop_messages.hpp"
#include "aggregator/policy/text/alias_file.hpp"

#include <utility>

namespace binnacle::aggregator {

void policy_intake::tell(const policy::problem& p, std::string_view kind) const {
  if (p.level == policy::severity::error) {
    log_.error("{}{}", kind, p.text());
  } else if (p.level == policy::severity::warning) {
    log_.warning("{}{}", kind, p.text());
  }
}

void policy_intake::put_in_force(instant now) {
  core_.policies({std::exchange(known_.in_force, {}), known_.wrong, all_read_,
                  std::exchange(known_.sources, {}), known_.refused},
                 now);
}

void policy_intake::take_folder(policy::policies_read all, instant now) {
  known_ = std::move(all);
  for (const policy::problem& p : known_.problems) tell(p, p.file.empty() ? "policies: " : "policy file ");
  put_in_force(now);
}

void policy_intake::take_objects(std::vector<policy_text> changed, std::string trouble, bool all_read) {
  ++calls_;
  for (policy_text& c : changed) {
    if (!c.text) {
      forget_text(c.name);
      changed_ = true;
      if (c.refused) {
        objects_.refuse_object(c.name, c.policy, c.refused->uid, c.refused->figures, c.refused->remedy);
      } else {
        objects_.remove(c.name);
      }
      continue;
    }
    const auto [at, fresh] = texts_.try_emplace(c.name, waiting{{}, calls_});
    at->second.text = std::move(*c.text);
    if (!fresh) continue;
    by_namespace_[c.policy.name_space].push_back(c.name);
    waiting_calls_.insert(calls_);
  }
  objects_.set_trouble(std::move(trouble));
  if (all_read && complete_by_ == 0) {
    complete_by_ = calls_;
    changed_ = true;
  }
  if (changed_ || waits()) return;
  known_.problems = objects_.problems();  // includes the trouble, if there is one
  taken_ = calls_;
}

void policy_intake::forget_text(const std::string& name) {
  const auto at = texts_.find(name);
  if (at == texts_.end()) return;
  waiting_calls_.erase(waiting_calls_.find(at->second.call));
  texts_.erase(at);
  if (texts_.empty()) by_namespace_.clear();
}

void policy_intake::read_next() {
  while (waits()) {
    auto turn = by_namespace_.upper_bound(last_namespace_);
    if (turn == by_namespace_.end()) turn = by_namespace_.begin();
    last_namespace_ = turn->first;
    const std::string name = std::move(turn->second.front());
    turn->second.pop_front();
    if (turn->second.empty()) by_namespace_.erase(turn);
    const auto at = texts_.find(name);
    if (at == texts_.end()) continue;
    const std::string text = std::move(at->second.text);
    forget_text(name);
    objects_.put_object(name, text);
    read_.insert(name);
    changed_ = true;
    return;
  }
}

bool policy_intake::may_be_put_in_force() const noexcept {
  return changed_ && (all_read_ || complete_by_ == 0 || calls_read() >= complete_by_);
}

void policy_intake::put_objects_in_force(instant now) {
  if (complete_by_ != 0 && !std::exchange(all_read_, true)) objects_.forget_recalled();
  known_ = policy::policies_read::of(objects_);
  const auto names = std::exchange(read_, {});
  for (const policy::problem& p : known_.problems) {
    if (names.contains(p.file)) tell(p, "");
  }
  changed_ = false;
  taken_ = calls_read();
  put_in_force(now);
}

void policy_intake::take_aliases(const policy::alias_file& now_there, std::string_view path, instant now) {
  alias_problems_ = now_there.problems();
  for (const policy::problem& p : alias_problems_)
    log_.error("aliases: {}; those read before stay in force", p.text());
  if (now_there.table() == names_) return;
  names_ = now_there.table();
  log_.info("aliases: {} taken over from {}", names_->own(), path);
  core_.aliases(names_, now);
}

std::vector<policy::problem> policy_intake::problems() const {
  std::vector<policy::problem> out = known_.problems;
  out.insert(out.end(), alias_problems_.begin(), alias_problems_.end());
  return out;
}

}  // namespace binnacle::aggregator
