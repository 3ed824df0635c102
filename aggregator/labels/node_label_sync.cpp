// Nodes' labels in a cluster: the follower of Node objects, the writer of patches, and the two loops.
//
//   API server ── watch ──→ reflector → node_objects ──→ label_router (ingest loop) ──→ engine
//       ↑                                   │                                             │
//       └── patch ── label_writer ←─────────┴───────── take_wishes() ←──────── wishes ────┘
//
// The engine decides by the labels that nodes carry, and changes them by its decisions. So the order
// matters:
//
// - No label is written before all of this is known: the Lease is ours, every Node has been read, and the
//   policies have said which labels are theirs (lead()). Before that a label of ours may look like a
//   stranger's, and a label that a policy still wants may look like one that no policy claims.
// - The ingest loop hears which labels nodes carry before it hears that this replica writes. So these labels
//   have their slots by then. Otherwise the engine would give the slots to other nodes.
// - The answer to a patch counts as news of the node at once (take_answer). The watch brings the same
//   later, and until then the writer would make its patch again from the old state.
// - A patch has a deadline that is shorter than the rest of the Lease, so that it has ended before another
//   replica may write.
//
// Pods that wait because this node refused them are woken by every replica, not by the leader alone
// (wake_list): each knows only the refusals that it gave itself. All this runs on the faces loop, and
// nothing here blocks it: some patches are under way at a time (label_writer::most_under_way), and
// label_writer looks at some hundreds of nodes in one turn at most.

#include "aggregator/labels/node_label_sync.hpp"

#include "aggregator/kube/election/election.hpp"
#include "aggregator/kube/json.hpp"
#include "aggregator/kube/objects/follow.hpp"
#include "aggregator/kube/objects/node_objects.hpp"
#include "aggregator/labels/wake_list.hpp"
#include "common/async/timers.hpp"
#include "common/log/said_once.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>

namespace binnacle::labels {
namespace {

using async::task;
using async::within;

constexpr duration look_again = std::chrono::seconds(1);             // the Lease ends by time alone
constexpr duration look_for_wakes = std::chrono::milliseconds(250);  // while pods wait

/// Takes a list of nodes that was read in addition to the watch. Nodes that the list lacks are kept: at worst
/// each holds a slot of maxNodes until the watch removes it.
class second_look final : public kube::watcher {
 public:
  second_look(kube::node_objects& to, const kube::reflector& watch) : to_(to), watch_(watch) {}
  void changed(const kube::object_key& key, const boost::json::object& object) override {
    to_.read_again(key, object, watch_.version());  // the watch goes on while the list is read
  }
  void gone(const kube::object_key&) override {}
  void synced() override {}

 private:
  kube::node_objects& to_;
  const kube::reflector& watch_;
};

}  // namespace

struct node_label_sync::impl {
  impl(parts p, async::loop& on, logger l)
      : with(std::move(p)),
        log(std::move(l)),
        follower(kube::node_objects::collection(), objects, std::random_device{}()),
        labels(objects, {}, std::random_device{}()),
        news(on) {}

  void pass_on();
  void lead(instant now);
  task<void> look_again_at_nodes();
  void wake(instant now);
  void tell_taken();
  void say(said_once& told, const std::string& trouble, const char* over);
  task<void> write(async::task_group& in);
  task<void> send(label_writer::patch what);
  void take_answer(const std::string& node, const http::answer& a);

  const parts with;
  const logger log;
  kube::node_objects objects;
  kube::reflector follower;
  label_writer labels;
  wake_list waiting;
  async::event news;
  bool claims_known = false;
  bool writes = false;      // as the ingest loop has been told
  bool looked = false;      // at all nodes, since we have the Lease
  bool all_told = false;    // to the ingest loop: all nodes of the first list
  std::uint64_t terms = 0;  // how often the Lease came or went
  said_once follow_trouble, write_trouble;
};

void node_label_sync::impl::say(said_once& told, const std::string& trouble, const char* over) {
  if (!told.is_news(trouble)) return;
  if (trouble.empty()) {
    log.info("{}", over);
  } else {
    log.warning("{}", trouble);
  }
}

// After each step of the follower and each write: what nodes carry now goes to the ingest loop.
void node_label_sync::impl::pass_on() {
  std::vector<node_labels> changed;
  const instant now = boot_clock::now();
  objects.watched_up_to(follower.version());
  for (std::string& name : objects.take()) {
    labels.look_at(name, now);
    const kube::node_objects::node* node = objects.find(name);
    if (node == nullptr) {
      changed.push_back({std::move(name), std::nullopt});
    } else {
      changed.push_back({std::move(name), node->written(), node->uid});
    }
  }
  if (!changed.empty()) with.router.take_node_labels(std::move(changed));
  if (follower.is_synced() && !std::exchange(all_told, true)) with.router.all_nodes_told();
  if (!follow_trouble.text().empty() && follower.trouble().empty()) labels.reachable(now);
  say(follow_trouble, follower.trouble(), "Nodes are up to date again");
  news.notify();
}

// This replica writes once it has the Lease and has read everything that says which labels are whose. Before
// that, the ingest loop has been told all nodes' labels, so that labels on nodes have their slots.
void node_label_sync::impl::lead(instant now) {
  const bool now_writes = with.leads() && looked && claims_known;
  labels.set_leads(now_writes, now);
  if (std::exchange(writes, now_writes) != now_writes) with.router.set_writes_labels(now_writes);
}

// A watch whose connection is half open says nothing for two minutes and a half. Meanwhile the replica that
// had the Lease may have labelled nodes; without them we would give more slots than maxNodes allows. If the
// Lease went and came back while the list was read, another replica may have written labels after that list.
// Then the list is not enough, and the next turn reads another.
task<void> node_label_sync::impl::look_again_at_nodes() {
  second_look to(objects, follower);
  kube::reflector list(kube::node_objects::collection(), to, std::random_device{}());
  const std::uint64_t term = terms;
  const bool read = co_await kube::read_once(with.api, list);
  looked = read && term == terms;
  const std::string why = read ? labels.trouble() : "node labels cannot be written yet: " + list.trouble();
  say(write_trouble, why, "node labels are written again");
  if (read) {
    pass_on();
  } else {
    co_await async::sleep_for(look_again);
  }
}

void node_label_sync::impl::wake(instant now) {
  if (waiting.empty()) return;
  for (const std::string& node : waiting.due(with.nodes, with.decisions.names(), now)) labels.wake(node, now);
}

// A slot of maxNodes is not for a label that cannot be written.
void node_label_sync::impl::tell_taken() {
  std::vector<node_taken> news;
  std::string first;
  std::size_t some = 0;
  for (auto& [node, keys] : labels.take_taken()) {
    if (!keys.empty() && ++some == 1) first = fmt::format("{} has {}", node, fmt::join(keys, ", "));
    news.push_back({node, std::move(keys)});
  }
  if (some > 0)
    log.warning(
        "{}{}: somebody else set this label, so it is left alone; a node on which all labels of a strategy "
        "are taken gets no slot of its maxNodes",
        first, some == 1 ? "" : fmt::format(" (and {} more nodes alike)", some - 1));
  if (!news.empty()) with.router.take_taken_keys(std::move(news));
}

task<void> node_label_sync::impl::write(async::task_group& in) {
  for (;;) {
    looked = looked && with.leads();
    if (!looked && with.leads() && follower.is_synced()) co_await look_again_at_nodes();
    const instant now = boot_clock::now();
    lead(now);
    wake(now);
    auto due = labels.next(now);
    tell_taken();
    if (!due) {
      const duration pause = waiting.empty() ? look_again : look_for_wakes;
      const duration next = labels.next_wake().value_or(instant::max()) - now;
      (void)co_await news.wait(within(std::clamp(next, duration::zero(), pause)));
      continue;
    }
    in.spawn("node label", send(std::move(*due)));
  }
}

task<void> node_label_sync::impl::send(label_writer::patch what) {
  auto got = co_await with.api->ask(std::move(what.call), within(kube::election::write_deadline));
  if (got.has_error()) {
    labels.broke(what.node, got.error(), boot_clock::now());
  } else {
    take_answer(what.node, *got);
    labels.answered(what.node, *got, boot_clock::now());
  }
  say(write_trouble, labels.trouble(), "node labels are written again");
  pass_on();
}

// The answer says at once what the node carries; the watch says it later.
void node_label_sync::impl::take_answer(const std::string& node, const http::answer& a) {
  if (a.status != 200) return;
  const auto object = kube::parse_object(a.body);
  if (object.has_value()) objects.patched(node, *object);
}

node_label_sync::node_label_sync(parts p, async::loop& on, logger log)
    : impl_(std::make_unique<impl>(std::move(p), on, std::move(log))) {}
node_label_sync::~node_label_sync() = default;

void node_label_sync::start(async::task_group& in) {
  impl* self = impl_.get();
  self->with.decisions.set_observer([self](const decision::record& r) {
    self->waiting.answered(r, boot_clock::now());
    if (self->waiting.size() == 1) self->news.notify();
  });
  std::function<void()> after = [self] { self->pass_on(); };
  in.keep("nodes of the API server",
          [self, after] { return kube::follow(self->with.api, self->follower, after); });
  in.keep("node labels", [self, &in] { return self->write(in); });
}

void node_label_sync::look_at_lease() {
  ++impl_->terms;
  impl_->news.notify();
}

void node_label_sync::take_wishes(std::vector<node_wishes> wishes) {
  const instant now = boot_clock::now();
  for (node_wishes& w : wishes) impl_->labels.wish(w.node, std::move(w.wishes), now);
  impl_->news.notify();
}

void node_label_sync::take_claims(policy::label_claims claims) {
  impl_->labels.claim(std::move(claims), boot_clock::now());
  impl_->claims_known = true;
  impl_->news.notify();
}

const kube::node_objects& node_label_sync::objects() const noexcept { return impl_->objects; }
bool node_label_sync::nodes_read() const noexcept { return impl_->follower.is_synced(); }

std::map<std::string, std::set<std::string>> node_label_sync::foreign() const {
  return impl_->labels.foreign();
}

std::vector<std::string> node_label_sync::without_object() const {
  std::vector<std::string> out;
  if (!impl_->follower.is_synced()) return out;
  for (const auto& [name, node] : impl_->with.nodes.nodes()) {
    if (node->connected && impl_->objects.find(name) == nullptr) out.push_back(name);
  }
  return out;
}

node_label_sync::report node_label_sync::state() const {
  report out;
  for (const said_once* told : {&impl_->follow_trouble, &impl_->write_trouble}) {
    if (!told->text().empty()) out.troubles.push_back(told->text());
  }
  out.patches = impl_->labels.stats();
  out.wakes_dropped = impl_->waiting.dropped();
  for (const auto& [key, nodes] : impl_->labels.foreign()) out.foreign += nodes.size();
  return out;
}

}  // namespace binnacle::labels
