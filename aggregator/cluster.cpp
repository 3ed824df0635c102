// Everything that the aggregator does with the Kubernetes API, put together.
//
// Each part is a machine without sockets that has a room of its own: objects that are followed
// (kube/objects), the Lease (kube/election), events (kube/events), reviews, labels of nodes (labels),
// statuses (enforce). This file owns them, carries what one learns to another, and paces what is written.
//
// Nothing waits for the API server. The faces answer from what is known, policies go to the ingest loop as
// messages, and a status is written again until it is right. So an API server that is slow, away or new only
// makes its own objects (policies, nodes, pods) out of date here. The one exception is readiness, which waits
// until policies have been read and judged (policies_judged()).
//
// Every replica reads; only the leader writes. A write begins only while leads() is true. A replica that gets
// the Lease first reads all nodes once more, and only then gives out slots of maxNodes: its watch may lag
// behind the last labels that the previous leader wrote.
#include "aggregator/cluster.hpp"

#include "aggregator/cluster_spread.hpp"
#include "aggregator/enforce/pending_judgements.hpp"
#include "aggregator/enforce/policy_status.hpp"
#include "aggregator/enforce/status_pace.hpp"
#include "aggregator/enforce/status_turns.hpp"
#include "aggregator/ingest_report.hpp"
#include "aggregator/kube/client/access.hpp"
#include "aggregator/kube/election/campaign.hpp"
#include "aggregator/kube/events/send_events.hpp"
#include "aggregator/kube/json.hpp"
#include "aggregator/kube/objects/follow.hpp"
#include "aggregator/kube/objects/merge_patch.hpp"
#include "aggregator/kube/objects/policy_objects.hpp"
#include "aggregator/kube/refusal.hpp"
#include "aggregator/kube/reviews/policy_writers.hpp"
#include "aggregator/labels/node_label_sync.hpp"
#include "aggregator/loop_messages.hpp"
#include "aggregator/placed_pods.hpp"
#include "aggregator/policy_blame.hpp"
#include "aggregator/settings/part_options.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/log/said_once.hpp"
#include "common/text/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

namespace binnacle::aggregator {
namespace {

using async::task;
using async::within;

constexpr auto look_at_statuses = std::chrono::seconds(1);
constexpr duration first_status = std::chrono::seconds(10);  // after the start: agents and values come first
constexpr duration look_at_writers = std::chrono::minutes(10);
constexpr std::size_t statuses_a_look = 50;       // a thousand policies must not hold up the extender
constexpr std::size_t longest_answer = 1u << 18;  // to read a longer one would hold it up
constexpr std::string_view other_status =
    "the API server drops or changes fields of the status that this aggregator writes to TASPolicy objects, "
    "so columns and conditions are missing or wrong: update the CRD (kubectl apply --server-side "
    "--force-conflicts -f charts/binnacle/crds/taspolicy.yaml); if the CRD is up to date, look for an "
    "admission webhook that changes statuses";

/// A restarted replica is a new candidate, with another identity.
std::string identity_of(const settings& s) {
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", s.replica_id, random(), random());
}

kube::election::settings election_of(const settings& s, const kube::access& to) {
  kube::election::settings out;
  out.name_space = to.name_space;
  out.identity = identity_of(s);
  return out;
}

kube::object_reference reference_of(const kube::object_key& key, const std::string& uid) {
  return {"TASPolicy", "telemetry.intel.com/v1alpha1", key.name_space, key.name, uid};
}

/// The status in the answer to a patch that was to make it `written`. An API server drops members that the
/// CRD does not have, and answers 200. An answer that cannot be read counts as if it kept everything.
boost::json::object status_kept(const http::answer& a, const boost::json::object& written) {
  if (a.body.size() > longest_answer) return written;
  const auto object = kube::parse_object(a.body);
  if (object.has_error()) return written;
  const boost::json::object* status = object_in(*object, "status");
  return status == nullptr ? boost::json::object() : *status;
}

policy_text message_of(kube::policy_objects::change&& c) {
  policy_text out{std::move(c.name), {c.key.name_space, c.key.name}, std::move(c.text)};
  if (c.refused)
    out.refused =
        policy_text::refusal{std::move(c.uid), std::move(c.refused->figures), std::move(c.refused->remedy)};
  return out;
}

}  // namespace

struct cluster::impl {
  impl(const settings& s, std::shared_ptr<kube::client> c, logger l)
      : log(std::move(l)),
        api(std::move(c)),
        policies(policy_room_of(s)),
        policy_follower(kube::policy_objects::collection(), policies, std::random_device{}()),
        pod_follower(kube::pod_objects::collection(), pods, std::random_device{}()),
        set_follower(kube::replica_sets::collection(), sets, std::random_device{}()),
        candidate(election_of(s, api->where())),
        events({"binnacle-aggregator", s.replica_id}),
        pace(std::random_device{}()) {}

  void pass_on(ingest_inbox& writer);
  void count_pods(extender::placements& placed, ingest_inbox& writer);
  void look_at_sets();
  void look_at_lease();
  task<void> keep_statuses(sources from);
  task<void> keep_looking_at_writers();
  task<void> look_at_status(kube::object_key key, sources from,
                            const labels::node_label_sync::foreign_labels& foreign, bool has_turn);
  task<void> write_status(kube::object_key key, boost::json::object wanted, enforce::urgency how);
  std::optional<kube::object_key> next_object();

  const logger log;
  const std::shared_ptr<kube::client> api;
  kube::policy_objects policies;
  kube::reflector policy_follower;
  kube::pod_objects pods;
  kube::reflector pod_follower;
  kube::replica_sets sets;
  kube::reflector set_follower;
  kube::election candidate;
  kube::event_recorder events;
  std::unique_ptr<labels::node_label_sync> nodes;  // from start() on
  std::optional<cluster_spread> areas;             // from start() on
  std::unique_ptr<async::event> news;              // notified of new events
  std::unique_ptr<async::task_group> running;      // from start() on
  enforce::status_pace pace;
  enforce::status_turns turns;
  kube::object_key last_looked_at;
  std::vector<std::string> policy_writers;
  said_once policy_trouble, pod_trouble, set_trouble, lease_trouble, status_trouble;
  bool told_of_policies = false;
  bool all_given = false;          // the ingest loop has got all policies once
  std::uint64_t all_given_by = 0;  // the number of the call of take_policies() that did it
  bool led = false;
  enforce::pending_judgements unjudged;
  std::uint64_t given = 0;                     // take_policies() calls so far
  const ingest_report* judged = nullptr;       // from start() on
  std::unique_ptr<async::event> statuses_due;  // from start() on
};

// Runs after each step of the follower. Changed policies go to the ingest loop: not before all have been
// listed, because an older object of a later page may take the room of a younger one. Trouble is logged once
// when it begins and once when it ends.
void cluster::impl::pass_on(ingest_inbox& writer) {
  std::vector<policy_text> changed;
  if (policy_follower.is_synced()) {
    for (kube::policy_objects::change& c : policies.take()) {
      pace.forget(c.name);
      if (c.gone()) {
        unjudged.gone(c.key);
      } else {
        unjudged.changed(c.key, given + 1);
      }
      changed.push_back(message_of(std::move(c)));
    }
    if (policies.take_wants_all_again()) policy_follower.read_again();
  }
  const std::string& trouble = policy_follower.trouble();
  const bool differs = policy_trouble.is_news(trouble);
  if (differs) {
    if (trouble.empty()) {
      log.info("TASPolicy objects are up to date again");
    } else {
      log.warning("{}; {}", trouble,
                  policy_follower.is_synced() ? "the policies read before stay in force"
                                              : "there are no policies yet");
    }
  }
  const bool complete = policy_follower.is_synced() && !std::exchange(all_given, policy_follower.is_synced());
  if (!changed.empty() || differs || complete) {
    ++given;
    if (complete) all_given_by = given;
    writer.take_policies(std::move(changed), trouble, policy_follower.is_synced());
  }
  if (policy_follower.is_synced() && !told_of_policies) {
    told_of_policies = true;
    log.info("{} TASPolicy objects read from {}", policy_follower.size(), api->where().url());
  }
}

void cluster::impl::count_pods(extender::placements& placed, ingest_inbox& writer) {
  const instant now = boot_clock::now();
  const auto wall = wall_time(now);
  std::vector<std::string> deleted;
  placed.bindings_followed(pod_follower.is_synced());
  for (const kube::pod_objects::change& c : pods.take()) {
    count_pod(placed, c, now, wall);
    if (c.what == kube::pod_objects::event::gone) deleted.push_back(c.uid);
  }
  if (!deleted.empty()) writer.pods_deleted(std::move(deleted));
  const std::string& trouble = pod_follower.trouble();
  if (pod_trouble.is_news(trouble) && !trouble.empty())
    log.warning("{}; what was known of pods stays", trouble);
}

void cluster::impl::look_at_sets() {
  const std::string& trouble = set_follower.trouble();
  if (set_trouble.is_news(trouble) && !trouble.empty())
    log.warning("{}; pods that ask to be spread are spread by what was read before", trouble);
}

void cluster::impl::look_at_lease() {
  const std::string& trouble = candidate.trouble();
  if (lease_trouble.is_news(trouble) && !trouble.empty())
    log.warning("{}; no status and no label is written without it", trouble);
  const bool leads = candidate.leads(boot_clock::now());
  if (leads != led) {
    log.info("{}", leads ? std::string("this replica writes statuses, events and node labels")
                         : fmt::format("this replica writes nothing any more: {} holds the Lease",
                                       candidate.holder()));
  }
  if (std::exchange(led, leads) != leads) nodes->look_at_lease();
}

/// The next policy in the order of the keys, so that each has its turn.
std::optional<kube::object_key> cluster::impl::next_object() {
  const auto& all = policies.objects();
  if (all.empty()) return std::nullopt;
  auto at = all.upper_bound(last_looked_at);
  if (at == all.end()) at = all.begin();
  last_looked_at = at->first;
  return last_looked_at;
}

task<void> cluster::impl::keep_statuses(sources from) {
  co_await async::sleep_for(first_status);
  instant next_round = boot_clock::now();
  for (;;) {
    const instant before = boot_clock::now();
    const instant due = turns.empty() ? next_round : std::min(next_round, pace.next_change());
    if (before < due) {
      const async::deadline until = within(due - before);
      co_await statuses_due->wait(until);
    }
    const labels::node_label_sync::foreign_labels foreign = nodes->foreign();
    for (const kube::object_key& edited : unjudged.take(judged->policies_taken)) turns.wants(edited, true);
    if (!turns.empty() && boot_clock::now() >= pace.next_change()) {
      co_await async::sleep_for({});
      const auto key = turns.next();
      co_await look_at_status(*key, from, foreign, true);
    }
    if (boot_clock::now() < next_round) continue;
    next_round = boot_clock::now() + look_at_statuses;
    const std::size_t looks = std::min(policies.objects().size(), statuses_a_look);
    for (std::size_t i = 0; i < looks; ++i) {
      if (i > 0) co_await async::sleep_for({});  // walks over all nodes: scheduler's calls go first
      const auto key = next_object();
      if (key) co_await look_at_status(*key, from, foreign, false);
    }
  }
}

// A question that fails is skipped without a warning: which roles we may read is the administrator's choice.
task<void> cluster::impl::keep_looking_at_writers() {
  for (;;) {
    std::vector<std::string> who;
    for (const kube::writer_question& q : kube::policy_writer_questions()) {
      http::call call = q.call;
      const auto got = co_await api->ask(std::move(call), within(kube::election::write_deadline));
      if (got.has_error()) continue;
      const auto may = kube::may_write_policies(q, *got);
      if (may.has_value() && *may && std::ranges::find(who, q.who) == who.end()) who.push_back(q.who);
    }
    policy_writers = std::move(who);
    co_await async::sleep_for(look_at_writers);
  }
}

/// Writes a policy's status if it has its turn, or only the data's age has changed, and status_pace allows it
/// now. A change without a turn waits for one. If it were written only when nothing was written a moment
/// before, a policy whose neighbour in the order of looks changes all the time would never be written.
task<void> cluster::impl::look_at_status(kube::object_key key, sources from,
                                         const labels::node_label_sync::foreign_labels& foreign,
                                         bool has_turn) {
  const instant now = boot_clock::now();
  if (!policy_follower.is_synced()) co_return;  // none has been passed on yet
  const auto found = policies.objects().find(key);
  if (found == policies.objects().end() || unjudged.awaits(key) || !candidate.leads(now)) co_return;
  const kube::policy_objects::object& object = found->second;
  const std::string name = kube::policy_objects::name_of(key);
  enforce::policy_facts facts =
      enforce::facts_of({key.name_space, key.name}, name, object.generation, from.nodes, from.judged.problems,
                        from.judged.conditions, now);
  enforce::add_foreign(facts, key.name, foreign);
  facts.refused =
      refusal_of_agents(from.judged.repeated_ends, from.nodes.policies(), {key.name_space, key.name});
  boost::json::object wanted = enforce::status_of(facts, object.status, std::chrono::system_clock::now());
  const enforce::urgency how = enforce::difference(wanted, object.status);
  if (how == enforce::urgency::change && !has_turn) {
    if (pace.is_due(name, now)) turns.wants(key, false);
  } else if (pace.may_write(name, how, now)) {
    pace.begins(name, now);
    co_await write_status(key, std::move(wanted), how);
  }
}

task<void> cluster::impl::write_status(kube::object_key key, boost::json::object wanted,
                                       enforce::urgency how) {
  const kube::policy_objects::object before = policies.objects().at(key);
  const std::string name = kube::policy_objects::name_of(key);
  const std::string path = fmt::format("/apis/telemetry.intel.com/v1alpha1/namespaces/{}/taspolicies/{}",
                                       key.name_space, key.name);
  http::call patch = kube::status_patch(path, enforce::patch_of(wanted, before.status));
  auto got = co_await api->ask(std::move(patch), within(kube::election::write_deadline));
  const instant now = boot_clock::now();
  const auto refused = got.has_error() ? std::nullopt : kube::refusal_of(*got);
  if (got.has_error() || (refused && refused->status != 404)) {
    if (refused && refused->status != 429 && refused->status < 500) {
      pace.refused(name, now);
    } else {
      pace.pause(refused ? refused->retry_after.value_or(duration::zero()) : duration::zero(), now);
    }
    const std::string trouble = got.has_error()
                                    ? "statuses cannot be written: " + got.error().message
                                    : refused->as_error("writing the status of a TASPolicy").message;
    if (status_trouble.is_news(trouble)) log.warning("{}", trouble);
    co_return;
  }
  if (refused) {  // 404: the policy is gone
    status_trouble.clear();
    pace.wrote(name, how, now);
    co_return;
  }
  const boost::json::object kept = status_kept(*got, wanted);
  // Without the pause the status would be written again every few seconds, for as long as the CRD is old.
  if (enforce::difference(wanted, kept) == enforce::urgency::none) {
    status_trouble.clear();
    pace.wrote(name, how, now);
  } else {
    pace.lost(name, how, now);
    if (status_trouble.is_news(other_status)) log.warning("{}", other_status);
  }
  // A condition that is not kept would be news again the next time.
  for (const enforce::news& n : enforce::news_of(kept, before.status)) {
    kube::note said{reference_of(key, before.uid), n.warning, n.reason, n.action, n.text};
    events.record(std::move(said), now, std::chrono::system_clock::now());
    news->notify();
  }
}

cluster::cluster(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
cluster::~cluster() = default;

result<std::unique_ptr<cluster>> cluster::open(const settings& s, logger log) {
  auto to =
      kube::access_by(s.kube_config, s.kube_context, [](const char* name) { return std::getenv(name); });
  if (to.has_error()) return to.error();
  auto api = kube::client::open(std::move(*to), log);
  if (api.has_error()) return api.error();
  auto made = std::make_unique<impl>(s, std::move(*api), std::move(log));
  return std::unique_ptr<cluster>(new cluster(std::move(made)));
}

void cluster::start(async::loop& on, ingest_inbox& writer, sources from) {
  impl* self = impl_.get();
  self->news = std::make_unique<async::event>(on);
  self->statuses_due = std::make_unique<async::event>(on);
  self->judged = &from.judged;
  self->running = std::make_unique<async::task_group>(on, self->log);
  labels::node_label_sync::parts parts{self->api, writer, from.nodes, from.decisions,
                                       [self] { return self->candidate.leads(boot_clock::now()); }};
  self->nodes = std::make_unique<labels::node_label_sync>(std::move(parts), on, self->log);
  self->nodes->start(*self->running);
  self->areas.emplace(self->sets, self->pods, self->nodes->objects());
  std::function<void()> after_policies = [self, &writer] { self->pass_on(writer); };
  std::function<void()> after_pods = [self, placed = &from.placed, &writer] {
    self->count_pods(*placed, writer);
  };
  std::function<void()> after_sets = [self] { self->look_at_sets(); };
  std::function<void()> after_lease = [self] { self->look_at_lease(); };
  self->running->keep("policies of the API server", [self, after_policies] {
    return kube::follow(self->api, self->policy_follower, after_policies);
  });
  self->running->keep("pods of the API server",
                      [self, after_pods] { return kube::follow(self->api, self->pod_follower, after_pods); });
  self->running->keep("ReplicaSets of the API server",
                      [self, after_sets] { return kube::follow(self->api, self->set_follower, after_sets); });
  self->running->keep(
      "election", [self, after_lease] { return kube::campaign(self->api, self->candidate, after_lease); });
  self->running->keep("statuses", [self, from] { return self->keep_statuses(from); });
  self->running->keep("rights to write policies", [self] { return self->keep_looking_at_writers(); });
  self->running->keep("events", [self] { return kube::send_events(self->api, self->events, *self->news); });
}

async::task<void> cluster::stop(async::deadline until) {
  impl* self = impl_.get();
  self->running->cancel();
  (void)co_await self->running->wait(until);
  co_await kube::resign(self->api, self->candidate, until);
}

std::vector<std::string> cluster::nodes_without_object() const {
  return impl_->nodes ? impl_->nodes->without_object() : std::vector<std::string>();
}
const kube::node_objects::node* cluster::object_of(std::string_view node) const {
  return impl_->nodes ? impl_->nodes->objects().find(node) : nullptr;
}
const kube::packed_labels* cluster::labels_of(std::string_view node) const {
  const kube::node_objects::node* known = object_of(node);
  return known == nullptr ? nullptr : &known->labels;
}
bool cluster::say(kube::note n) {
  if (!impl_->candidate.leads(boot_clock::now())) return false;
  impl_->events.record(std::move(n), boot_clock::now(), std::chrono::system_clock::now());
  impl_->news->notify();
  return true;
}
std::size_t cluster::node_objects() const noexcept {
  return impl_->nodes ? impl_->nodes->objects().nodes().size() : 0;
}
bool cluster::nodes_read() const noexcept { return impl_->nodes && impl_->nodes->nodes_read(); }
bool cluster::policies_read() const noexcept { return impl_->policy_follower.is_synced(); }
bool cluster::policies_judged() const noexcept {
  const bool judged = impl_->all_given && impl_->judged->policies_taken >= impl_->all_given_by;
  return judged || impl_->policy_follower.is_absent();
}
const kube::pod_objects& cluster::pods() const noexcept { return impl_->pods; }
bool cluster::pods_read() const noexcept { return impl_->pod_follower.is_synced(); }
const spread::world& cluster::areas() const noexcept { return *impl_->areas; }
std::shared_ptr<kube::client> cluster::client() const { return impl_->api; }

cluster_report cluster::state() const {
  const kube::client::counters& c = impl_->api->stats();
  const kube::reflector::counters& r = impl_->policy_follower.stats();
  cluster_report out;
  out.url = impl_->api->where().url();
  out.policies_read = policies_read();
  out.policies = impl_->policy_follower.size();
  out.pods_read = pods_read();
  out.pods = impl_->pods.objects().size();
  out.pods_left_out = impl_->pods.left_out();
  out.pod_labels_left_out = impl_->pods.labels_left_out();
  out.pods_without_labels = impl_->pods.without_labels();
  out.pod_without_labels = impl_->pods.last_without_labels();
  out.sets_left_out = impl_->sets.left_out();
  out.events_dropped = impl_->events.stats().dropped;
  out.leads = impl_->candidate.leads(boot_clock::now());
  out.policy_writers = impl_->policy_writers;
  for (const std::string* trouble :
       {&impl_->policy_follower.trouble(), &impl_->pod_follower.trouble(), &impl_->set_follower.trouble(),
        &impl_->candidate.trouble(), &impl_->status_trouble.text()}) {
    if (!trouble->empty()) out.troubles.push_back(*trouble);
  }
  if (const auto known = impl_->policies.objects().size(); out.policies > known && out.policies_read)
    out.troubles.push_back(
        fmt::format("{} TASPolicy objects are not even looked at, since there are too "
                    "many: remove some, or raise policy-objects",
                    out.policies - known));
  if (impl_->nodes) {
    labels::node_label_sync::report nodes = impl_->nodes->state();
    for (std::string& trouble : nodes.troubles) out.troubles.push_back(std::move(trouble));
    out.patches = nodes.patches;
    out.foreign_labels = nodes.foreign;
    out.wakes_dropped = nodes.wakes_dropped;
  }
  out.calls = c.calls;
  out.refused = c.refused;
  out.broken = c.broken;
  out.members_left_out = c.members_left_out;
  out.lists = r.lists;
  return out;
}

void cluster::reported() {
  if (impl_->statuses_due && impl_->unjudged.any(impl_->judged->policies_taken))
    impl_->statuses_due->notify();
}
void cluster::take_wishes(std::vector<labels::node_wishes> wishes) {
  impl_->nodes->take_wishes(std::move(wishes));
}
void cluster::take_claims(policy::label_claims claims) { impl_->nodes->take_claims(std::move(claims)); }

}  // namespace binnacle::aggregator
