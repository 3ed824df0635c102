#include "aggregator/policy_intake.hpp"

#include "aggregator/core/core.hpp"
#include "aggregator/loop_messages.hpp"
#include "aggregator/policy/text/alias_file.hpp"

#include <set>
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
  core_.policies({known_.in_force, known_.wrong, all_read_, known_.sources}, now);
}

void policy_intake::take_folder(policy::policies_read all, instant now) {
  known_ = std::move(all);
  for (const policy::problem& p : known_.problems) tell(p, p.file.empty() ? "policies: " : "policy file ");
  put_in_force(now);
}

void policy_intake::take_objects(const std::vector<policy_text>& changed, std::string trouble, bool all_read,
                                 instant now) {
  ++objects_taken_;
  std::set<std::string> names;
  for (const policy_text& c : changed) {
    names.insert(c.name);
    if (c.text) {
      objects_.put_object(c.name, *c.text);
    } else {
      objects_.remove(c.name);
    }
  }
  objects_.set_trouble(std::move(trouble));
  const bool now_complete = all_read && !std::exchange(all_read_, all_read);
  if (now_complete) objects_.forget_recalled();
  if (changed.empty() && !now_complete) {
    known_.problems = objects_.problems();  // includes the trouble, if there is one
    return;
  }
  known_ = policy::policies_read::of(objects_);
  for (const policy::problem& p : known_.problems) {
    if (names.contains(p.file)) tell(p, "");
  }
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
