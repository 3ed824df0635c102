// Everything that the aggregator does with the Kubernetes API, put together.
//
// Each part is a machine without sockets that has a room of its own: objects that are followed
// (kube/objects), the Lease (kube/election), events (kube/events), reviews, labels of nodes (labels).
// Statuses have a writer (status_writer). This file owns them all and carries what one learns to another.
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
#include "aggregator/ingest_report.hpp"
#include "aggregator/kube/client/access.hpp"
#include "aggregator/kube/election/campaign.hpp"
#include "aggregator/kube/events/send_events.hpp"
#include "aggregator/kube/objects/follow.hpp"
#include "aggregator/kube/objects/policy_objects.hpp"
#include "aggregator/kube/reviews/policy_writers.hpp"
#include "aggregator/labels/node_label_sync.hpp"
#include "aggregator/loop_messages.hpp"
#include "aggregator/placed_pods.hpp"
#include "aggregator/settings/part_options.hpp"
#include "aggregator/status_writer.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/log/said_once.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>

namespace binnacle::aggregator {
namespace {

using async::task;
using async::within;

constexpr duration look_at_writers = std::chrono::minutes(10);

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
        events({"binnacle-aggregator", s.replica_id}) {}

  void pass_on(ingest_inbox& writer);
  void count_pods(extender::placements& placed, ingest_inbox& writer);
  void look_at_sets();
  void look_at_lease();
  void record(kube::note n);
  task<void> keep_looking_at_writers();

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
  std::unique_ptr<status_writer> statuses;         // from start() on
  std::optional<cluster_spread> areas;             // from start() on
  std::unique_ptr<async::event> news;              // notified of new events
  std::unique_ptr<async::task_group> running;      // from start() on
  std::vector<std::string> policy_writers;
  said_once policy_trouble, pod_trouble, set_trouble, lease_trouble;
  bool told_of_policies = false;
  bool all_given = false;          // the ingest loop has got all policies once
  std::uint64_t all_given_by = 0;  // the number of the call of take_policies() that did it
  bool led = false;
  std::uint64_t given = 0;                // take_policies() calls so far
  const ingest_report* judged = nullptr;  // from start() on
};

// Runs after each step of the follower. Changed policies go to the ingest loop: not before all have been
// listed, because an older object of a later page may take the room of a younger one. Trouble is logged once
// when it begins and once when it ends.
void cluster::impl::pass_on(ingest_inbox& writer) {
  std::vector<policy_text> changed;
  if (policy_follower.is_synced()) {
    for (kube::policy_objects::change& c : policies.take()) {
      if (c.gone()) {
        statuses->gone(c.key);
      } else {
        statuses->changed(c.key, given + 1);
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

void cluster::impl::record(kube::note n) {
  events.record(std::move(n), boot_clock::now(), std::chrono::system_clock::now());
  news->notify();
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
  self->judged = &from.judged;
  self->running = std::make_unique<async::task_group>(on, self->log);
  labels::node_label_sync::parts parts{self->api, writer, from.nodes, from.decisions,
                                       [self] { return self->candidate.leads(boot_clock::now()); }};
  self->nodes = std::make_unique<labels::node_label_sync>(std::move(parts), on, self->log);
  self->nodes->start(*self->running);
  status_writer::parts shown{
      self->api,
      self->policies,
      from.nodes,
      from.judged,
      *self->nodes,
      [self] { return self->policy_follower.is_synced() && self->candidate.leads(boot_clock::now()); },
      [self](kube::note n) { self->record(std::move(n)); }};
  self->statuses = std::make_unique<status_writer>(std::move(shown), on, self->log);
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
  self->statuses->start(*self->running);
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
  impl_->record(std::move(n));
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
  for (const std::string* trouble : {&impl_->policy_follower.trouble(), &impl_->pod_follower.trouble(),
                                     &impl_->set_follower.trouble(), &impl_->candidate.trouble()}) {
    if (!trouble->empty()) out.troubles.push_back(*trouble);
  }
  if (impl_->statuses && !impl_->statuses->trouble().empty())
    out.troubles.push_back(impl_->statuses->trouble());
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
  if (impl_->statuses) impl_->statuses->reported();
}
void cluster::take_wishes(std::vector<labels::node_wishes> wishes) {
  impl_->nodes->take_wishes(std::move(wishes));
}
void cluster::take_claims(policy::label_claims claims) { impl_->nodes->take_claims(std::move(claims)); }

}  // namespace binnacle::aggregator
