// What the engine takes along through a restart: rule states, slots of maxNodes, the queue for them, and the
// cool-down. With a node's samples (store/warehouse_memory.cpp) the engine goes on as if it had never
// stopped.
#include "aggregator/policy/engine/memory.hpp"

#include "aggregator/policy/engine/engine.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::policy {
namespace {

std::int64_t bits_of(const rule_state& s) noexcept {
  return s.pending | s.on << 1 | s.known << 2 | s.ever_known << 3 | s.settled << 4 | s.explains << 5 |
         s.given_up << 6 | s.filling << 7;
}

rule_state state_of(std::int64_t bits, instant true_since) noexcept {
  const auto bit = [bits](int n) { return (bits >> n & 1) != 0; };
  return {.true_since = true_since,
          .pending = bit(0),
          .on = bit(1),
          .known = bit(2),
          .ever_known = bit(3),
          .settled = bit(4),
          .explains = bit(5),
          .filling = bit(7),
          .given_up = bit(6)};
}

}  // namespace

std::uint64_t content_of(const policy_key& key, const strategy& s) {
  policy alone;
  alone.key = key;
  alone.strategies = {s};
  return content_revision(alone);
}

bool strategy_run::save(store::node_id node, store::words& into) const {
  if (index(node) >= nodes_.size() || !nodes_[index(node)].alive) return false;
  const node_cell& cell = nodes_[index(node)];
  into.insert(into.end(), {cell.violating, cell.carries, to_ns(cell.waiting_since), budget_.has(node),
                           static_cast<std::int64_t>(budget_.ticket(node))});
  for (const rule_state& s : rules(node)) into.insert(into.end(), {bits_of(s), to_ns(s.true_since)});
  for (std::size_t k = 0; k < plan_.keys().size(); ++k)
    into.push_back(winners_[index(node) * plan_.keys().size() + k]);
  return true;
}

void strategy_run::recall(store::node_id node, store::word_reader from, std::uint32_t known_nodes) {
  node_cell read;
  read.violating = from.flag();
  read.carries = from.flag();
  // The epoch, which stands for "nothing to wait for", must not move with the clock.
  auto epoch = from;
  const bool waits = epoch.next() != 0;
  read.waiting_since = from.time();
  if (!waits) read.waiting_since = {};
  const bool has_slot = from.flag();
  const auto ticket = static_cast<std::uint64_t>(from.next(0, std::numeric_limits<std::int64_t>::max() - 1));
  std::vector<rule_state> states(strategy_.rules.size());
  for (rule_state& s : states) {
    const std::int64_t bits = from.next(0, 255);
    s = state_of(bits, from.time());
    s.recalled = true;
    // It was recalled then, too. How long nobody has seen the node is not known.
    s.pending = s.pending && s.known;
  }
  std::vector<std::uint16_t> winning(plan_.keys().size());
  for (std::uint16_t& w : winning) {
    w = static_cast<std::uint16_t>(from.next(0, label_plan::none));
    if (w != label_plan::none && w >= states.size()) from.fail();
  }
  // A strategy of another form wrote another number of words.
  auto rest = from;
  (void)rest.next();
  if (!from.ok() || rest.ok()) return;
  node_cell& cell = at(node);
  cell.violating = read.violating;
  cell.carries = read.carries;
  cell.waiting_since = read.waiting_since;
  std::ranges::copy(states, rules(node).begin());
  std::ranges::copy(winning, winners(node).begin());
  // Where another process writes the labels, a slot is a label that is there.
  // A snapshot is taken node by node, so it may show one slot at two nodes.
  const bool room = budget_.used() < budget_.slots(known_nodes);
  if (has_slot && (budget_.writes_labels() ? room : cell.carries)) {
    budget_.adopt(node);
  } else if (ticket != 0) {
    budget_.wait_again(node, ticket);
  }
}

void strategy_run::end_recall() noexcept {
  for (rule_state& s : states_) {
    const bool unseen = s.recalled && !s.known;
    s.recalled = false;
    if (unseen) binnacle::policy::lose(s, labels());
  }
}

std::vector<strategy_mark> engine::marks() const {
  std::vector<strategy_mark> out;
  for (const auto& [id, e] : entries_) {
    if (!e.run->judges()) continue;
    out.push_back({id.policy, e.uid, id.kind, content_of(id.policy, e.run->definition()),
                   e.run->budget().last_given(), e.run->serial(), !e.allowed});
  }
  return out;
}

bool engine::save(std::uint32_t serial, store::node_id node, store::words& into) const {
  const auto found = runs_.find(serial);
  return found != runs_.end() && found->second->second.run->save(node, into);
}

void engine::set_memory(engine_memory m) {
  memory_ = std::move(m);
  recalled_.clear();
  if (memory_) return;
  for (auto& [id, e] : entries_) e.run->end_recall();
}

/// Once for each strategy: what ends in this process and comes back later begins anew, as it does where
/// nothing was recalled. If the policy was edited meanwhile, a run of the old definition recalls its state,
/// and hands it over as in a process that has seen the edit. Where the labels of its name were another
/// object's, and are its own by now, it begins as it would in a process that has seen the change of owner.
void engine::recall(entry& e, instant now) {
  strategy_run& run = *e.run;
  const strategy_id id{run.key(), run.definition().kind};
  if (!memory_ || !recalled_.insert(id).second) return;
  const auto known = memory_(id.policy, e.uid, id.kind);
  if (!known) return;
  const bool disowned = known->disowned && e.allowed;
  // Its slots stood for labels that nobody wrote. From here on each label that is there has one; the caller
  // opens the budget afterwards.
  if (disowned) run.set_writes_labels(false, now, context_);
  // In a cluster the Node objects may be read later.
  const std::uint32_t nodes = std::max(context_.known_nodes, known_count_);
  const auto recall_into = [&](strategy_run& to) {
    to.recall_as_of(known->taken);
    if (known->last_given) to.recall_cool_down(*known->last_given);
    for (std::uint32_t n = 0; n < known_.size(); ++n) {
      if (!known_[n]) continue;
      if (const auto words = known->of(store::node_id{n})) to.recall(store::node_id{n}, *words, nodes);
    }
  };
  if (known->of && known->content == content_of(id.policy, run.definition())) {
    recall_into(run);
  } else if (known->of && known->definition) {
    strategy_run before(id.policy, effective(*known->definition), {}, 0);
    before.set_writes_labels(run.writes_labels(), now, context_);
    recall_into(before);
    run.carry_over(before, nodes);
  }
  if (disowned) disown_labels(run);
}

}  // namespace binnacle::policy
