// Store, engine and label wishes as one state machine, and why it is one.
//
// Each of the three is pure by itself. Mistakes happen between them: which is told first, whether a label is
// wished for on the strength of a value that has just expired, whether a node has an id before its label is
// known. So their order is fixed here, in one class without sockets, clocks, files or threads. The same
// events with the same times yield the same changes; README.md lists both.
//
// How an event runs:
// 1. at(now) moves the core's time. It never goes back: an event that was posted earlier but arrives later
//    happens at the time of the last one. A `for` or a window could otherwise run backwards. What ends
//    at one instant ends in the store first. A maximum over several groups goes on with the groups that are
//    left; if the engine went first, it would judge the node as missing.
// 2. The store takes the event. Each sample that it derives goes to the engine at once (set_sink), because
//    the engine compares the sample with the ones before it.
// 3. The engine judges each strategy once for all samples of the event (tick), and then tells what follows.
//    It must not be called back then.
// 4. settle() passes on the wishes for labels and says if the interest changed. It runs after the engine,
//    since label_router asks the engine for a node's wishes.
// 5. announce_deadline() tells the shell if tick() is due earlier than it was promised.
//
// Exceptions, each for a reason:
// - batch() does not settle. Wishes of all batches of one turn of the loop are passed on together by the next
//   tick, which is asked for at once. A thousand agents that report in one turn cost one message to the other
//   loop instead of a thousand.
// - An event about a node that has been forgotten is not told (engine_side::happened): its name is gone, and
//   nodes_forgotten has said that it is.

#include "aggregator/core/core.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::aggregator {
namespace {

bool asks_for_watts(const policy::policy_table& all) {
  return std::ranges::any_of(all, [](const auto& p) {
    return std::ranges::any_of(p.second->strategies, [](const policy::published_strategy& s) {
      return policy::description_of(s.kind).predicts_watts();
    });
  });
}

core_options completed(core_options o) {
  o.policies.told_nodes_only = o.in_cluster;
  return o;
}

}  // namespace

/// What the engine needs: where its columns come from, and where its events go.
class core::engine_side final : public policy::sink, public policy::column_source {
 public:
  explicit engine_side(core& whole) : core_(whole) {}

  watched watch(const store::column_spec& spec, instant now) override {
    const auto made = core_.store_.watch(spec, now);
    return {made.id, made.values};
  }
  void release(store::column_id id) override { core_.store_.unwatch(id); }
  duration stale_after(store::column_id id) const override { return core_.store_.stale_after(id); }
  policy::family_names announced() const override { return core_.store_.families(); }

  void happened(const policy::event& e) override {
    if (!e.node) return core_.yield_(policy_event{e, {}});
    // nodes_forgotten has said so for all.
    if (core_.store_.known(*e.node)) core_.yield_(policy_event{e, core_.store_.name(*e.node)});
  }
  void changed(const policy::condition& c) override { core_.yield_(c); }
  void relabel(store::node_id node) override { core_.router_.relabel(node); }
  void published(std::shared_ptr<const policy::policy_table> table) override {
    core_.yield_(faces_news(policies_published{std::move(table)}));
  }

 private:
  core& core_;
};

core::core(core_options options, std::shared_ptr<const metrics::alias_table> names,
           std::function<void(change)> yield)
    : options_(completed(std::move(options))),
      yield_(std::move(yield)),
      names_(std::move(names)),
      store_(options_.limits, {}, *names_),
      side_(std::make_unique<engine_side>(*this)),
      engine_(*side_, *side_, options_.policies),
      router_(options_.in_cluster, store_, engine_,
              {[this](store::node_id id, const std::string& name, labels::label_map carried) {
                 yield_(faces_news(labels_carried{id, name, std::move(carried)}));
               },
               [this](store::node_id id, const std::string& name, labels::label_map would_be) {
                 yield_(faces_news(labels_would_be{id, name, std::move(would_be)}));
               },
               [this](std::vector<labels::node_wishes> wishes) {
                 yield_(faces_news(wishes_changed{std::move(wishes)}));
               },
               [this](store::node_id id) {
                 if (recalled_) recalled_->begin_anew(id);
               }}),
      learning_(store_),
      affordable_(options_.costs) {
  store_.set_sink([this](store::column_id column, store::node_id node, const store::sample& value) {
    if (store_expires_) return engine_.go_on(column, node, value, now_);
    engine_.update(column, node, value, now_);
  });
}

core::~core() = default;

/// What ends until then ends in its own time and order, also where the timer is late. For each instant at
/// which something ends in the store, the engine first does all that was due before.
instant core::at(instant now) {
  now = std::max(now_, now);
  for (instant next = store_.next_deadline(); next <= now; next = store_.next_deadline()) {
    const instant before = next - duration(1);
    if (before > now_) engine_.tick(now_ = before);
    now_ = std::max(now_, next);
    store_expires_ = true;
    store_.expire(now_);
    store_expires_ = false;
  }
  return now_ = now;
}

void core::connected(store::node_id id, std::string agent_version, std::string peer_address, instant now) {
  store_.set_linked(id, true, at(now));
  contact_of(id).came(now_);
  heard_of({.id = id,
            .connected = true,
            .agent_version = std::move(agent_version),
            .peer_address = std::move(peer_address)});
}

void core::welcomed(store::node_id id, const network& from, std::string_view boot, std::string_view displaced,
                    instant now) {
  at(now);
  tenants_of(id).welcomed(from, boot, displaced, now_);
  engine_.tick(now_);
  announce_deadline();
}

node_tenants& core::tenants_of(store::node_id id) {
  if (tenants_.size() <= store::index(id)) tenants_.resize(store::index(id) + 1);
  return tenants_[store::index(id)];
}

node_contact& core::contact_of(store::node_id id) {
  if (contacts_.size() <= store::index(id)) contacts_.resize(store::index(id) + 1);
  return contacts_[store::index(id)];
}

const node_tenants& core::tenants(store::node_id id) const {
  static const node_tenants nobody;
  return store::index(id) < tenants_.size() ? tenants_[store::index(id)] : nobody;
}

void core::disconnected(store::node_id id, instant now) {
  store_.set_linked(id, false, at(now));
  tenants_of(id).left(now_);
  contact_of(id).left(now_);
  heard_of({.id = id, .connected = false});
}

result<store::warehouse::catalog_outcome> core::catalog(store::node_id id, store::prepared_catalog announced,
                                                        instant now) {
  auto outcome = store_.set_catalog(id, std::move(announced), at(now));
  if (outcome.has_value() && outcome->changed) {
    heard_of({.id = id, .cells = outcome->cells});
  } else {
    engine_.tick(now_);
    announce_deadline();
  }
  return outcome;
}

// Wishes for labels wait for the core's tick, so that those of many batches go out together.
result<void> core::batch(store::node_id id, const wire::batch& values, duration offset, instant now) {
  auto applied = store_.apply(id, values, offset, at(now));
  engine_.tick(now_);
  announce_deadline();
  return applied;
}

void core::sources(store::node_id id, std::vector<wire::source_status> all, instant now) {
  at(now);
  heard_of({.id = id, .sources = std::move(all)});
}

/// Tells everybody about the node of `u`, which may have a new id.
void core::heard_of(store::node_update u) {
  u.name = store_.name(u.id);
  u.at = now_;
  router_.add_node(u.id, u.name, now_);
  engine_.node_added(u.id, now_);
  yield_(faces_news(std::move(u)));
  settle();
}

void core::policies(policies_in_force all, instant now) {
  at(now);
  wanted_ = std::move(all);
  // Without an API server all policies are read at once.
  const bool all_read = wanted_.complete || !options_.in_cluster;
  if (all_read && !std::exchange(policies_read_, true) && recalled_)
    strategies_count_until_ = std::min(strategies_count_until_, now_ + strategies_count_for);
  put_in_force();  // the engine asks which versions were in force before
  if (policies_read_) recalled_policies_.clear();
  if (policies_read_ && recalled_) recalled_->drop_policies();
  settle();
}

/// Puts the wanted policies in force, as far as the fleet's size allows.
void core::put_in_force() {
  affordable_.choose(wanted_.policies, fleet(), *names_);
  readers_changed_ = true;
  engine_.set_policies(affordable_.in_force(), now_);
  tell(learning_.learn(asks_for_watts(*engine_.table()), now_));
  say_too_costly();
  if (!wanted_.complete) return;
  std::set<std::string, std::less<>> wrong = wanted_.wrong;
  for (const auto& [key, message] : too_costly_) wrong.insert(key.name);
  const bool none = engine_.table()->empty() && wrong.empty();
  yield_(faces_news(policy::label_claims{engine_.label_keys(), std::move(wrong), none}));
}

void core::say_too_costly() {
  const auto condition = [](const policy::policy_key& key, bool active, std::string message, bool reworded) {
    return policy::condition{key,     policy::condition_kind::too_costly, {}, active, std::move(message),
                             reworded};
  };
  const auto before = std::exchange(too_costly_, {});
  // Where a text was refused unread and its last good version is refused, too, the latter says what is in
  // force.
  for (const policy::too_costly& t : affordable_.refused()) too_costly_.emplace(t.policy, t.message);
  for (const policy::too_costly& t : wanted_.refused) too_costly_.emplace(t.policy, t.message);
  for (const auto& [key, message] : too_costly_) {
    const auto at = before.find(key);
    if (at != before.end() && at->second == message) continue;
    yield_(condition(key, true, message, at != before.end()));
  }
  for (const auto& [key, message] : before) {
    if (!too_costly_.contains(key)) yield_(condition(key, false, {}, false));
  }
}

std::vector<policy::condition> core::conditions() const {
  std::vector<policy::condition> out = engine_.conditions();
  for (const auto& [key, message] : too_costly_)
    out.push_back({key, policy::condition_kind::too_costly, {}, true, message});
  return out;
}

void core::aliases(std::shared_ptr<const metrics::alias_table> table, instant now) {
  store_.set_names(*table, at(now));
  names_ = table;
  yield_(faces_news(aliases_replaced{std::move(table)}));
  if (!wanted_.policies.empty()) put_in_force();  // names may bring windows of their own
  settle();
}

void core::node_labels(const std::vector<labels::node_labels>& nodes, instant now) {
  router_.set_labels(nodes, at(now));
  settle();
}

void core::all_nodes_told(instant now) {
  router_.all_told(at(now));
  settle();
}

void core::taken_keys(std::vector<labels::node_taken> nodes, instant now) {
  router_.set_taken_keys(std::move(nodes), at(now));
  settle();
}

void core::set_writes_labels(bool writes, instant now) {
  engine_.set_writes_labels(writes, at(now));
  settle();
}

void core::fleet_has_come(instant now) {
  engine_.fleet_has_come(at(now));
  settle();
}

store::watched_values core::watch(const store::column_spec& spec, instant now) {
  auto made = store_.watch(spec, at(now));
  ++asked_[spec];
  readers_changed_ = true;
  settle();
  return made;
}

void core::unwatch(store::column_id id, instant now) {
  at(now);
  const auto asked = asked_.find(store_.spec(id));
  if (--asked->second == 0) asked_.erase(asked);
  readers_changed_ = true;
  store_.unwatch(id);
  settle();
}

void core::load(double busy, instant now) {
  at(now);
  readings_.load = busy;
  const double before = budget_.a_second();
  budget_.measured(busy, readings_.wished(), readings_.granted());
  readers_changed_ = readers_changed_ || budget_.a_second() != before;
  settle();
}

instant core::tick(instant now) {
  promised_ = instant::min();  // the caller is here, so nothing need be announced
  at(now);
  forget_in_time();
  tell(learning_.tick(now_));
  settle();
  return promised_ = next_deadline();
}

void core::tell(power_learning::news learned) {
  for (auto& [node, why] : learned.restarts) yield_(learning_restarted{store_.name(node), std::move(why)});
  if (!learned.models.empty() || !learned.notes.empty())
    yield_(faces_news(models_learned{std::move(learned.models), std::move(learned.notes)}));
}

std::vector<store::warehouse::gone_node> core::forget_idle(duration idle, instant now) {
  auto gone =
      store_.forget_idle(idle, at(now), [this](const std::string& name) { return router_.keeps(name); });
  if (gone.empty()) return gone;
  nodes_forgotten news;
  for (const auto& n : gone) {
    news.ids.push_back(n.id);
    tenants_of(n.id) = {};
    contact_of(n.id) = {};
  }
  learning_.forget(news.ids);
  yield_(faces_news(std::move(news)));
  router_.forget_nodes(gone, now_);
  settle();
  return gone;
}

/// Has the engine judge the event's values, and passes on what it wishes for.
void core::settle() {
  engine_.tick(now_);
  if (affordable_.outdated(fleet())) put_in_force();
  router_.do_wishes(now_);
  share_readings();
  announce_deadline();
}

void core::share_readings() {
  const bool others = std::exchange(interest_told_, store_.interest_version()) != store_.interest_version();
  if (!std::exchange(readers_changed_, false) && !others) return;
  const auto readers = affordable_.readers();
  std::vector<owned_wish> wishes;
  for (const store::reading_wish& w : store_.wishes()) {
    owned_wish one{w.family, w.period, {}};
    if (const auto at = readers.find(*w.column); at != readers.end())
      one.parties.insert(at->second.begin(), at->second.end());
    if (one.parties.empty() || asked_.contains(*w.column)) one.parties.emplace();
    wishes.push_back(std::move(one));
  }
  auto fresh = aggregator::share_readings(wishes, budget_.a_second());
  fresh.load = readings_.load;
  const bool changed = fresh.interest != readings_.interest;
  readings_ = std::move(fresh);
  if (others || changed) yield_(interest_changed{readings_.interest});
}

void core::announce_deadline() {
  const instant next = next_deadline();
  if (next >= promised_) return;
  promised_ = next;
  yield_(deadline_moved{next});
}

instant core::next_deadline() const {
  if (router_.has_work()) return now_;
  return std::min({engine_.next_deadline().value_or(instant::max()), store_.next_deadline(),
                   learning_.next_deadline(), strategies_count_until_, snapshot_counts_until_});
}

}  // namespace binnacle::aggregator
