// The core across a restart: what of it goes into a snapshot, in pieces so that events may come in between,
// and how it goes on from one.

#include "aggregator/core/core.hpp"
#include "common/wire/names.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace binnacle::aggregator {
namespace {

/// The versions of policies that the states have. Where two states have another version that was read last,
/// or that was in force, the one of the first state counts.
std::vector<policy::kept_policy> versions_of(const std::vector<kept_state>& states) {
  std::vector<policy::kept_policy> out;
  std::set<policy::policy_key> read, in_force;  // of the states before
  for (const kept_state& s : states) {
    const std::size_t before = out.size();
    for (policy::kept_policy k : s.all.policies) {
      // A policy that the first state has read and does not have in force is out of force.
      k.in_force = k.in_force && !in_force.contains(k.value.key) && !read.contains(k.value.key);
      k.read = k.read && !read.contains(k.value.key);
      if (k.read || k.in_force) out.push_back(std::move(k));
    }
    for (std::size_t i = before; i < out.size(); ++i) {
      if (out[i].read) read.insert(out[i].value.key);
      if (out[i].in_force) in_force.insert(out[i].value.key);
    }
  }
  return out;
}

/// A part of a node's words is its place in the snapshot's outline, its length, and its words.
constexpr std::size_t words_of_part = 2;
enum class fit { nothing_known, in, too_long };

/// Adds a part to a section, whose first word counts its parts, unless the section would be longer than
/// `most`.
template <class Save>
fit add_part(store::words& section, std::size_t place, std::size_t most, Save save) {
  const std::size_t begin = section.size();
  section.insert(section.end(), {static_cast<std::int64_t>(place), 0});
  const bool known = save(section);
  if (!known || section.size() > most) {
    section.resize(begin);
    return known ? fit::too_long : fit::nothing_known;
  }
  section[begin + 1] = static_cast<std::int64_t>(section.size() - begin - words_of_part);
  ++section[0];
  return fit::in;
}

}  // namespace

core::draft core::begin_snapshot() const {
  draft d;
  d.columns = store_.columns();
  for (const store::column_id id : d.columns) d.all.columns.push_back({store_.spec(id), store_.meaning(id)});
  d.all.strategies = engine_.marks();
  // Policies get a quarter at most, so that no list of policies leaves the nodes without room.
  std::size_t room = options_.snapshot_bytes / 4;
  for (policy::kept_policy& k : policies_to_keep()) {
    const std::size_t size = policy::size_of(k);
    if (size > room || d.all.policies.size() == most_kept_policies) {
      ++d.all.left_out;
      continue;
    }
    room -= size;
    d.all.policies.push_back(std::move(k));
  }
  d.all.nodes.reserve(store_.node_count());
  std::size_t head = 0;
  for (const auto& c : d.all.columns) head += size_of(c);
  for (const auto& s : d.all.strategies) head += size_of(s);
  for (const auto& k : d.all.policies) head += policy::size_of(k);
  d.room = options_.snapshot_bytes - std::min(options_.snapshot_bytes, head);
  d.share = d.room / std::max<std::size_t>(store_.node_count(), 1);
  return d;
}

/// The wanted versions and those in force. Versions that no present text holds come first.
std::vector<policy::kept_policy> core::policies_to_keep() const {
  if (!policies_read_) return recalled_policies_;
  std::map<policy::policy_key, policy::policy> in_force;
  for (policy::policy& p : affordable_.in_force()) in_force.emplace(p.key, std::move(p));
  std::vector<policy::kept_policy> out;
  for (const policy::policy& p : wanted_.policies) {
    const auto named = wanted_.sources.find(p.key);
    policy::kept_policy kept{p, named == wanted_.sources.end() ? std::string() : named->second, true, false};
    if (const auto at = in_force.find(p.key); at != in_force.end()) {
      kept.in_force = at->second == p;
      if (!kept.in_force) out.push_back({std::move(at->second), kept.source, false, true});
    }
    out.push_back(std::move(kept));
  }
  std::stable_partition(out.begin(), out.end(), [this](const policy::kept_policy& k) {
    return !k.read || !k.in_force || wanted_.wrong.contains(k.value.key.name);
  });
  return out;
}

bool core::add_nodes(draft& d, std::size_t most) const {
  for (; most > 0 && d.next < store_.ids_given(); --most, ++d.next) {
    const store::node_id id{static_cast<std::uint32_t>(d.next)};
    if (store_.known(id)) add_node(d, id);
  }
  return d.next == store_.ids_given();
}

void core::add_node(draft& d, store::node_id id) const {
  snapshot::node n{store_.name(id), {}, router_.to_keep(id), tenants(id).to_keep(now_)};
  n.uid = router_.uid(n.name);
  if (store::index(id) < contacts_.size()) n.heard = contacts_[store::index(id)].to_keep(now_);
  const std::size_t room = std::min(d.share, d.room), least = size_of(n);
  constexpr std::size_t sections = 3;  // each begins with a word
  if (least + sections * sizeof(std::int64_t) > room) {
    d.all.left_out += d.columns.size() + d.all.strategies.size();
    return;
  }
  const std::size_t most = (room - least) / sizeof(std::int64_t);

  d.states.assign(1, 0);
  for (std::size_t i = 0; i < d.all.strategies.size(); ++i) {
    const auto save = [&](store::words& into) { return engine_.save(d.all.strategies[i].serial, id, into); };
    if (add_part(d.states, i, most - (sections - 1), save) == fit::too_long) ++d.all.left_out;
  }
  d.learned.assign(1, 0);
  if (learning_.save(id, d.learned)) {
    if (d.states.size() + d.learned.size() < most) {
      d.learned[0] = static_cast<std::int64_t>(d.learned.size() - 1);
    } else {
      d.learned.assign(1, 0);
      ++d.all.left_out;
    }
  }
  d.words.assign(1, 0);
  const std::size_t left = most - d.states.size() - d.learned.size();
  for (std::size_t i = 0; i < d.columns.size(); ++i) {
    // Columns may have gone, and their ids be others', since the snapshot was begun.
    if (!store_.in_use(d.columns[i]) || store_.spec(d.columns[i]) != d.all.columns[i].spec) continue;
    // The window gets no room that the values of later columns need.
    const std::size_t after =
        (d.columns.size() - i - 1) * (store::warehouse::words_of_sample + words_of_part);
    const auto save = [&](bool window) {
      return [this, &d, i, id, window](store::words& into) {
        return store_.save(d.columns[i], id, into, window);
      };
    };
    if (add_part(d.words, i, left - std::min(left, after), save(true)) != fit::too_long) continue;
    ++d.all.left_out;
    (void)add_part(d.words, i, left, save(false));
  }
  n.words.reserve(d.words.size() + d.states.size() + d.learned.size());
  n.words = d.words;
  n.words.insert(n.words.end(), d.states.begin(), d.states.end());
  n.words.insert(n.words.end(), d.learned.begin(), d.learned.end());
  d.room -= size_of(n);
  d.all.nodes.push_back(std::move(n));
}

std::size_t core::recall(snapshot from, duration shift, instant now) {
  std::vector<kept_state> one;
  one.push_back({std::move(from), shift});
  return recall(std::move(one), now).front();
}

std::vector<std::size_t> core::recall(std::vector<kept_state> from, instant now) {
  at(now);
  recalled_policies_ = versions_of(from);
  std::vector<policy::policy> in_force;
  for (const policy::kept_policy& k : recalled_policies_) {
    if (k.in_force) in_force.push_back(k.value);
  }
  affordable_.recall(in_force);
  file_counts_until_ = instant::min();
  for (const kept_state& s : from)
    file_counts_until_ = std::max(file_counts_until_, s.all.taken + s.shift + file_counts_for);
  const std::vector<kept_node> nodes = best_nodes(from, now_);
  std::vector<std::size_t> known(from.size());
  recalled_ = std::make_unique<recollection>(std::move(from));
  snapshot_counts_until_ = strategies_count_until_ = now_ + snapshot_counts_for;
  store_.set_memory([this](const store::column_spec& spec, std::string_view meaning, store::node_id node) {
    return recalled_->column(spec, meaning, node);
  });
  engine_.set_memory([this](const policy::policy_key& key, std::string_view uid, policy::strategy_kind kind) {
    return recalled_->strategy(key, uid, kind);
  });
  for (const kept_node& of : nodes) {
    const std::string& name = recalled_->node(of).name;
    if (!wire::valid_node_name(name)) continue;
    const auto id = store_.node(name);
    if (id.has_error()) continue;  // more nodes than are allowed now
    ++known[of.state];
    recall_node(of, *id);
  }
  recall_learned();
  recalled_->drop_others();
  announce_deadline();
  return known;
}

void core::recall_node(kept_node from, store::node_id id) {
  const snapshot::node& n = recalled_->node(from);
  const kept_state& state = recalled_->states()[from.state];
  const duration shift = state.shift;
  recalled_->identify(from, id);
  tenants_of(id).recall(n.tenants, shift, now_);
  contact_of(id).recall(n.heard, shift, now_);
  // A node that went long ago is forgotten in time, however often this process starts again.
  store_.set_linked(id, false, state.is_dated && n.heard ? std::min(n.heard->until + shift, now_) : now_);
  heard_of({.id = id, .connected = false});
  router_.recall(id, n.labels, n.uid, now_);
}

/// Curves take weeks to learn, so they are asked of every state.
void core::recall_learned() {
  const std::vector<kept_state>& states = recalled_->states();
  for (std::size_t s = 0; s < states.size(); ++s) {
    for (std::size_t n = 0; n < states[s].all.nodes.size(); ++n) {
      const auto id = store_.find(states[s].all.nodes[n].name);
      if (!id) continue;
      if (const auto learned = recalled_->learned({s, n})) learning_.recall(*id, *learned);
    }
  }
}

/// Until all policies have been read, what the snapshot says of them is in no other place: a new snapshot
/// would lack it (remembers_more()).
void core::forget_in_time() {
  if (now_ >= strategies_count_until_) {
    engine_.set_memory({});
    strategies_count_until_ = instant::max();
  }
  if (now_ < snapshot_counts_until_) return;
  store_.set_memory({});
  recalled_.reset();
  snapshot_counts_until_ = instant::max();
}

}  // namespace binnacle::aggregator
