// The shell of the core: the one thread that owns it, and the reasons why nothing else runs there.
//
//   agents' connections (ingest/listener) ─┐                        ┌→ faces_inbox      what the faces read
//   policy and alias files (a thread) ─────┼→ one event at a time ──┼→ the listener     what agents read
//   the faces loop, by async::post ────────┘   of `inner`, the core └→ the log
//
// The core has no clock, timer, file or socket. This class gives it the time with every event, and keeps
// the one timer for what happens because nothing arrived: tick() says when it wants to be called again,
// and deadline_moved says that this instant has changed. Everything that the core yields goes through take(),
// which has an overload for each kind of change.
//
// Rules:
// - Whatever comes from another thread is posted to the loop. So the core needs no lock, and the events
//   have one order. Only `beats` is read by others; it is atomic.
// - Nothing here waits for a disk, a name or a server: files of policies and the state file have threads
//   of their own, and tokens are reviewed by the faces loop. A thousand agents wait behind whatever blocks
//   here. (The files of our certificates are read here. They are small and on a local volume.)
// - begin() comes before every other event of the core: the state of an earlier process or of another replica
//   must be there before the first value decides anything. While other replicas are asked, everything posted
//   waits.
// - Beats tell the faces that verdicts are up to date. One follows each tick. If the loop hangs in an event,
//   or the core never returns, the beats stop, and the faces then count verdicts as missing data.

#include "aggregator/ingest_loop.hpp"

#include "aggregator/core/core.hpp"
#include "aggregator/core_log.hpp"
#include "aggregator/ingest/listener.hpp"
#include "aggregator/ingest_report.hpp"
#include "aggregator/policy/text/policy_files.hpp"
#include "aggregator/policy_intake.hpp"
#include "aggregator/policy_pace.hpp"
#include "aggregator/settings/part_options.hpp"
#include "aggregator/state/state_keeper.hpp"
#include "common/async/follow_files.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/system/process_cost.hpp"
#include "common/tls/context.hpp"

#include <algorithm>
#include <pthread.h>
#include <utility>

namespace binnacle::aggregator {
namespace {

using async::task;
using async::within;

constexpr std::chrono::seconds between_beats(1);
// New policies are reported sooner, since their statuses wait for the report.
constexpr std::chrono::milliseconds report_period(1000), between_reports(100);
constexpr std::chrono::seconds load_period(10);

}  // namespace

struct ingest_loop::impl {
  impl(const settings& s, const descriptor_plan& r, policy::alias_file names, faces_inbox& f, logger l)
      : options(s),
        room(r),
        faces(f),
        log(std::move(l)),
        tasks(loop, log),
        tick_due(loop),
        report_due(loop),
        policies_due(loop),
        lines(log),
        inner(core_options_of(s), names.table(),
              [this](change&& c) { std::visit([this](auto& one) { take(std::move(one)); }, c); }),
        policies(inner, names.table(), log),
        state(inner, s.state, other_replicas_of(s), log),
        files(is_standalone() ? s.policies : std::string(), std::move(names), s.policy_poll,
              news_of_files()) {}

  bool is_standalone() const { return options.mode() == deployment_mode::standalone; }

  // From the settings to what runs.
  result<void> load_certificates();
  result<void> open_port();
  void start_tasks();
  policy::policy_files::news news_of_files();
  void begin(replicas::outcome told);
  void follow_policy_files();

  // What the core yields.
  void take(faces_news news) { faces.take(std::move(news)); }
  void take(interest_changed news) {
    if (door) door->set_interest(std::move(news.wanted));
  }
  void take(const policy_event& e) { lines.say(e, boot_clock::now()); }
  void take(const policy::condition& c) { lines.say(c); }
  void take(const learning_restarted& r) { lines.say(r, boot_clock::now()); }
  void take(deadline_moved) { tick_due.notify(); }

  // What happens by time.
  task<void> keep_deadlines();
  task<void> keep_reporting();
  task<void> keep_forgetting();
  task<void> keep_measuring_load();
  void read_a_policy();
  task<void> keep_reading_policies();
  ingest_report report() const;

  // Constant after construction.
  const settings options;
  const descriptor_plan room;
  faces_inbox& faces;
  const logger log;

  // Owned by the loop.
  async::loop loop;
  async::task_group tasks;
  async::event tick_due, report_due, policies_due;
  const std::shared_ptr<policy::heartbeat> beats = std::make_shared<policy::heartbeat>();
  std::shared_ptr<tls::context> certificates, between_replicas;
  std::shared_ptr<async::reload_troubles> renewal_troubles = std::make_shared<async::reload_troubles>();
  core_log lines;
  core inner;
  policy_intake policies;
  policy_pace pace;  // of putting objects of an API server in force
  state_keeper state;
  policy::policy_files files;  // after what its news go to
  std::unique_ptr<ingest::listener> door;
};

result<void> ingest_loop::impl::load_certificates() {
  auto ours = tls::context::load(tls_for_agents(options));
  if (ours.has_error()) return ours.error();
  certificates = std::move(*ours);
  if (!state.asks_replicas()) return {};
  auto shared = tls::context::load(tls_between_replicas(options));
  if (shared.has_error()) return shared.error();
  between_replicas = std::move(*shared);
  return {};
}

result<void> ingest_loop::impl::open_port() {
  ingest::ingest_options o = ingest_options_of(options, room);
  o.tls = certificates;
  if (!o.agents_account.empty()) {
    o.review = [this](std::string token, network from,
                      std::function<void(result<ingest::token_holder>)> then) {
      faces.review(std::move(token), from, [this, then = std::move(then)](result<ingest::token_holder> who) {
        async::post(loop, [then, who = std::move(who)] { then(who); });
      });
    };
  }
  door = std::make_unique<ingest::listener>(loop, std::move(o), inner, log);
  auto started = door->start();
  if (started.has_value()) door->set_interest(inner.readings().interest);
  return started;
}

policy::policy_files::news ingest_loop::impl::news_of_files() {
  return {[this](policy::policies_read all) {
            async::post(loop, [this, all = std::move(all)]() mutable {
              policies.take_folder(std::move(all), boot_clock::now());
            });
          },
          [this](policy::alias_file names) {
            async::post(loop, [this, names = std::move(names)] {
              policies.take_aliases(names, options.aliases, boot_clock::now());
            });
          }};
}

/// Must come before any other event of the core. `told`: the answers of other replicas.
void ingest_loop::impl::begin(replicas::outcome told) {
  state.begin(std::move(told));
  if (is_standalone()) {
    files.recall(inner.recalled_policies());
  } else {
    policies.recall(inner.recalled_policies());
    inner.set_writes_labels(false, boot_clock::now());
  }
}

/// Call it after begin(), which brings the last good versions of policies; the folder may have faulty ones by
/// now.
void ingest_loop::impl::follow_policy_files() {
  if (is_standalone() || !options.aliases.empty()) files.start();
}

void ingest_loop::impl::start_tasks() {
  tasks.keep("deadlines", [this] { return keep_deadlines(); });
  tasks.keep("certificates", [this] {
    return async::follow_files(certificates, "certificate for agents", log, std::chrono::seconds(2),
                               renewal_troubles);
  });
  tasks.keep("report", [this] { return keep_reporting(); });
  tasks.keep("load", [this] { return keep_measuring_load(); });
  tasks.keep("forgetting nodes", [this] { return keep_forgetting(); });
  tasks.keep("policies", [this] { return keep_reading_policies(); });
  state.start(tasks);
}

// The one timer for what happens because nothing arrived.
task<void> ingest_loop::impl::keep_deadlines() {
  for (;;) {
    const instant now = boot_clock::now();
    const instant next = inner.tick(now);
    beats->beat(now);  // changes that come with time alone are done by now, too
    const async::deadline until = within(std::clamp<duration>(next - now, duration::zero(), between_beats));
    co_await tick_due.wait(until);
  }
}

task<void> ingest_loop::impl::keep_reporting() {
  for (;;) {
    faces.take(report());
    lines.say_left_out(boot_clock::now());  // even if no further event comes
    co_await async::sleep_for(between_reports);
    const async::deadline until = within(report_period - between_reports);
    co_await report_due.wait(until);
  }
}

// Forgets nodes that were away for long. Otherwise a fleet whose nodes are replaced would reach max-nodes.
task<void> ingest_loop::impl::keep_forgetting() {
  if (options.forget_after == duration::zero()) co_return;
  for (;;) {
    co_await async::sleep_for(
        std::clamp<duration>(options.forget_after / 10, std::chrono::seconds(1), std::chrono::minutes(1)));
    const auto gone = inner.forget_idle(options.forget_after, boot_clock::now());
    if (gone.empty()) continue;
    const bool one = gone.size() == 1;
    log.info("{} not been connected for {} and {} forgotten, with values and labels: {}{}",
             one ? "1 node has" : fmt::format("{} nodes have", gone.size()), human(options.forget_after),
             one ? "is" : "are", gone.front().name, one ? "" : "…");
  }
}

/// Measures the load of this thread, which decides how often agents are asked to read.
task<void> ingest_loop::impl::keep_measuring_load() {
  load_meter meter(own_thread_time(), boot_clock::now());
  for (;;) {
    co_await async::sleep_for(load_period);
    const instant now = boot_clock::now();
    inner.load(meter.next(own_thread_time(), now), now);
  }
}

// Whoever may write policies must not hold up agents. So texts are read one by one, and all other work gets a
// turn between two of them. While texts wait, what has been read is put in force now and then (policy_pace).
// That is one turn, and costs more with more policies and nodes.
void ingest_loop::impl::read_a_policy() {
  policies.read_next();
  const instant began = boot_clock::now();
  if (!pace.is_due(policies.waits(), began) || !policies.may_be_put_in_force()) return;
  policies.put_objects_in_force(began);
  pace.put_in_force(began, boot_clock::now());
  report_due.notify();
}

task<void> ingest_loop::impl::keep_reading_policies() {
  for (;;) {
    async::deadline until = async::never;
    if (policies.waits()) {
      until = within({});
    } else if (policies.may_be_put_in_force()) {
      until = within(pace.next() - boot_clock::now());
    }
    co_await policies_due.wait(until);
    read_a_policy();
  }
}

ingest_report ingest_loop::impl::report() const {
  ingest_report out;
  out.sessions = door->counters();
  out.contests = door->contests(boot_clock::now());
  out.repeated_ends = door->repeated_ends(boot_clock::now());
  const store::warehouse& stock = inner.store();
  out.store = stock.counters();
  out.engine = inner.engine().counters();
  out.nodes = stock.node_count();
  out.ids_given = stock.ids_given();
  out.most_ids = stock.most_ids();
  out.series = stock.series_count();
  out.columns = stock.columns_in_use();
  out.shapes = stock.kinds();
  out.strategies = inner.engine().status();
  out.conditions = inner.conditions();
  out.costs = inner.costs();
  out.readings = {{}, inner.readings().parties, inner.readings().left_out, inner.readings().load};
  out.learning = inner.learning().counted();
  out.problems = policies.problems();
  out.policies_taken = policies.objects_taken();
  out.began = state.began();
  out.policies_read = inner.policies_read();
  out.state = state.counted();
  out.certificate_seconds_left = certificates->seconds_left();
  for (const auto& [use, why] : *renewal_troubles) out.certificate_troubles.push_back(why);
  return out;
}

ingest_loop::ingest_loop(const settings& s, const descriptor_plan& room, policy::alias_file names,
                         faces_inbox& faces, logger log)
    : impl_(std::make_unique<impl>(s, room, std::move(names), faces, std::move(log))) {}
ingest_loop::~ingest_loop() = default;

result<void> ingest_loop::start() {
  if (auto loaded = impl_->load_certificates(); loaded.has_error()) return loaded;
  const bool begins_now = !impl_->state.asks_replicas();
  if (begins_now) {
    impl_->begin({});
    // The loop does not run yet, so this read delays nobody, and nobody is answered before it is done.
    if (impl_->is_standalone()) impl_->policies.take_folder(impl_->files.read_now(), boot_clock::now());
  }
  if (auto opened = impl_->open_port(); opened.has_error()) return opened;
  if (begins_now) impl_->follow_policy_files();
  impl_->start_tasks();
  return {};
}

std::uint16_t ingest_loop::port() const noexcept { return impl_->door->port(); }

void ingest_loop::run() {
  pthread_setname_np(pthread_self(), "ingest");
  // Agents, policies and everything else that was posted waits in the loop meanwhile.
  if (impl_->state.asks_replicas()) {
    impl_->begin(impl_->state.ask_replicas(impl_->between_replicas->current()));
    impl_->follow_policy_files();
  }
  async::run(impl_->loop, impl_->log);
}

void ingest_loop::stop(std::chrono::milliseconds grace) {
  impl_->state.stop_asking();
  async::post(impl_->loop, [this, grace] {
    impl_->tasks.cancel();
    impl_->state.keep_last();
    impl_->door->stop(grace, [this] { impl_->loop.stop(); });
  });
}

void ingest_loop::pods_deleted(std::vector<std::string> uids) {
  async::post(impl_->loop,
              [this, uids = std::move(uids)] { impl_->door->pods_deleted(uids, boot_clock::now()); });
}

void ingest_loop::take_snapshot(replicas::given_state then) {
  async::post(impl_->loop, [this, then = std::move(then)]() mutable {
    impl_->tasks.spawn("snapshot for a replica", impl_->state.give(std::move(then)));
  });
}

void ingest_loop::fleet_has_come() {
  async::post(impl_->loop, [this] { impl_->inner.fleet_has_come(boot_clock::now()); });
}

std::shared_ptr<const policy::heartbeat> ingest_loop::heart() const { return impl_->beats; }

void ingest_loop::watch(store::column_spec spec, std::function<void(store::watched_values)> then) {
  async::post(impl_->loop, [this, spec = std::move(spec), then = std::move(then)] {
    then(impl_->inner.watch(spec, boot_clock::now()));
  });
}

void ingest_loop::unwatch(store::column_id id) {
  async::post(impl_->loop, [this, id] { impl_->inner.unwatch(id, boot_clock::now()); });
}

void ingest_loop::take_policies(std::vector<policy_text> changed, std::string trouble, bool all_read) {
  async::post(impl_->loop,
              [this, changed = std::move(changed), trouble = std::move(trouble), all_read]() mutable {
                impl_->policies.take_objects(std::move(changed), std::move(trouble), all_read);
                impl_->read_a_policy();  // most often it is the only one
                impl_->policies_due.notify();
                impl_->report_due.notify();
              });
}

void ingest_loop::take_node_labels(std::vector<labels::node_labels> nodes) {
  async::post(impl_->loop, [this, nodes = std::move(nodes)] {
    impl_->inner.node_labels(nodes, boot_clock::now());
    for (const labels::node_labels& n : nodes) {
      if (!n.labels) impl_->door->node_deleted(n.node);
    }
  });
}

void ingest_loop::all_nodes_told() {
  async::post(impl_->loop, [this] { impl_->inner.all_nodes_told(boot_clock::now()); });
}

void ingest_loop::take_taken_keys(std::vector<labels::node_taken> nodes) {
  async::post(impl_->loop, [this, nodes = std::move(nodes)]() mutable {
    impl_->inner.taken_keys(std::move(nodes), boot_clock::now());
  });
}

void ingest_loop::set_writes_labels(bool writes) {
  async::post(impl_->loop, [this, writes] { impl_->inner.set_writes_labels(writes, boot_clock::now()); });
}

}  // namespace binnacle::aggregator
