#include "aggregator/ingest_loop.hpp"

#include "aggregator/core/core.hpp"
#include "aggregator/ingest/listener.hpp"
#include "aggregator/policy/text/policy_files.hpp"
#include "aggregator/replicas/ask_replicas.hpp"
#include "aggregator/state/state_file.hpp"
#include "common/async/follow_files.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/log/line_throttle.hpp"
#include "common/tls/context.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <pthread.h>
#include <set>
#include <string_view>
#include <utility>

namespace binnacle::aggregator {
namespace {

using async::task;
using async::within;

constexpr std::chrono::seconds between_beats(1);
// New policies are reported sooner, since their statuses wait for the report.
constexpr std::chrono::milliseconds report_period(1000), between_reports(100);
// How much of `for` and coolDown a kill may cost. Of the loop's time a snapshot may take a fiftieth, in
// pieces of some tenths of a millisecond.
constexpr std::chrono::seconds state_period(5);
constexpr std::size_t nodes_at_once = 32;
// Of the five seconds that the replica which asks has for one answer.
constexpr std::chrono::seconds wait_for_file(2);
// What is known of a fleet an hour ago says little of it now.
constexpr std::chrono::hours oldest_state(1);
// By then agents have come back, and policies been read.
constexpr std::chrono::minutes state_counts_for(5);
static_assert(policy::largest_snapshot <= most_snapshot_bytes / 2, "what is written can be read again");

/// "namespace/name" as tokens name a service account.
std::string account_name(const std::string& text) {
  const auto slash = text.find('/');
  return "system:serviceaccount:" + text.substr(0, slash) + ":" + text.substr(slash + 1);
}

core_options core_options_of(const settings& s) {
  core_options out;
  out.limits.nodes = static_cast<std::size_t>(s.max_nodes);
  out.policies.label_namespaces = s.label_namespaces;
  out.policies.label_prefix = s.label_prefix;
  if (!s.default_max_nodes.empty())
    out.policies.default_max_nodes = policy::parse_node_limit(s.default_max_nodes).value();  // validate()
  out.costs.memory_bytes = static_cast<std::uint64_t>(s.policy_memory_mib) << 20;
  out.costs.columns = static_cast<std::uint64_t>(s.policy_columns);
  out.costs.label_keys = static_cast<std::uint64_t>(s.policy_label_keys);
  out.costs.evaluations = static_cast<std::uint64_t>(s.policy_evaluations) * 1'000'000;
  if (!s.state.empty() || !s.state_from.empty())
    out.snapshot_bytes = policy::keep_for_snapshots(out.costs, !s.state_from.empty());
  out.costs.policy_percent = static_cast<unsigned>(s.policy_percent);
  out.costs.namespace_percent = static_cast<unsigned>(s.namespace_percent);
  out.in_cluster = s.mode() == deployment_mode::in_cluster;
  return out;
}

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
        names_in_force(names.table()),
        inner(core_options_of(s), names.table(),
              [this](change c) { std::visit([this](auto& one) { take(std::move(one)); }, c); }),
        files(s.mode() == deployment_mode::standalone ? s.policies : std::string(), std::move(names),
              s.policy_poll, news_of_files()) {}

  result<void> load_certificates();
  result<void> open_port();
  policy::policy_files::news news_of_files();
  void take_files(policy::policies_read all);
  void take_aliases(const policy::alias_file& names);
  void take_texts(const std::vector<policy_text>& changed, std::string trouble, bool all_read);
  void tell(const policy::problem& p, std::string_view kind) const;
  void policies_changed();
  ingest_report report() const;

  // What the core yields.
  void take(faces_news news) { faces.take(std::move(news)); }
  void take(interest_changed news);
  void take(const policy_event& e);
  void take(const policy::condition& c) const;
  void take(const learning_restarted& r);
  void take(deadline_moved) { tick_due.notify(); }

  void count_left_out_lines(instant now);
  void count_left_out_restarts(instant now);

  task<void> keep_deadlines();
  task<void> keep_reporting();
  task<void> keep_forgetting();
  task<void> keep_state();
  task<void> keep_memory_short();
  task<void> give_snapshot(replicas::given_state then);
  bool is_taking_snapshot() const { return !taken.expired() || (state && state->is_busy()); }
  std::shared_ptr<const void> begin_taking();
  task<snapshot> copy_core(duration& took);
  void begin(replicas::outcome told);
  replicas::outcome ask_replicas();
  std::optional<snapshot> state_of_file() const;
  void go_on_from(snapshot s, std::string_view whose);
  void keep_last_state();
  snapshot finish(core::draft d) const;

  // Constant after construction.
  const settings options;
  const descriptor_plan room;
  faces_inbox& faces;
  const logger log;

  // Owned by the loop.
  async::loop loop;
  async::loop asking;  // runs before the other one does
  async::task_group tasks;
  async::event tick_due, report_due;
  const std::shared_ptr<policy::heartbeat> beats = std::make_shared<policy::heartbeat>();
  std::shared_ptr<tls::context> certificates, between_replicas;
  std::shared_ptr<async::reload_troubles> renewal_troubles = std::make_shared<async::reload_troubles>();
  policy::policy_set texts;  // of the API server's objects
  bool all_read = false;     // all that the API server has
  policy::policies_read known;
  std::shared_ptr<const metrics::alias_table> names_in_force;
  std::vector<policy::problem> alias_problems;
  std::uint64_t policies_taken = 0;
  // A heat wave must not become a flood of lines about nodes.
  line_throttle node_lines{50, std::chrono::seconds(10)};
  // A rack whose meters hang is one matter, not forty.
  line_throttle learning_lines{10, std::chrono::minutes(1)};
  core inner;
  beginning began;
  std::weak_ptr<const void> taken;  // lives while there is a snapshot in memory that is not the file's
  std::optional<state_file> state;
  policy::policy_files files;  // after what its news go to
  std::unique_ptr<ingest::listener> door;
};

result<void> ingest_loop::impl::load_certificates() {
  tls::options o;
  o.side = tls::role::server;
  o.pem = {options.cert, options.key, options.agents_ca, options.denied_serials};
  const bool tokens = !options.agents_account.empty();
  o.clients = options.agents_ca.empty() ? tls::client_certificate::none
              : tokens                  ? tls::client_certificate::optional
                                        : tls::client_certificate::required;
  o.tls13_only = true;
  o.alpn = "binnacle/1";
  auto loaded = tls::context::load(std::move(o));
  if (loaded.has_error()) return loaded.error();
  certificates = std::move(loaded.value());
  if (options.state_from.empty()) return {};
  tls::options own;
  own.side = tls::role::client;
  own.pem = {options.cert, options.key, ""};
  own.servers = tls::trust::ourselves;
  own.tls13_only = true;
  auto other = tls::context::load(std::move(own));
  if (other.has_error()) return other.error();
  between_replicas = std::move(other.value());
  return {};
}

result<void> ingest_loop::impl::open_port() {
  ingest::ingest_options o;
  o.address = options.address;
  o.port = static_cast<std::uint16_t>(options.ingest_port);
  o.tls = certificates;
  o.cluster = options.cluster;
  o.agents_uri_prefix = options.agents_uri_prefix;
  o.replica_id = options.replica_id;
  o.replicas = static_cast<std::uint16_t>(options.replicas);
  o.max_sessions = std::min(static_cast<std::size_t>(options.max_nodes), room.agents);
  o.handshake_queue = room.agents_queue;
  if (!options.agents_account.empty()) {
    o.agents_account = account_name(options.agents_account);
    o.origin = options.token_origin;
    o.review = [this](std::string token, network from,
                      std::function<void(result<ingest::token_holder>)> then) {
      faces.review(std::move(token), from, [this, then = std::move(then)](result<ingest::token_holder> who) {
        async::post(loop, [then, who = std::move(who)] { then(who); });
      });
    };
  }
  door = std::make_unique<ingest::listener>(loop, std::move(o), inner, log);
  auto started = door->start();
  if (started.has_value()) door->set_interest(inner.store().interest());
  return started;
}

policy::policy_files::news ingest_loop::impl::news_of_files() {
  return {[this](policy::policies_read all) {
            async::post(loop, [this, all = std::move(all)]() mutable { take_files(std::move(all)); });
          },
          [this](policy::alias_file names) {
            async::post(loop, [this, names = std::move(names)] { take_aliases(names); });
          }};
}

void ingest_loop::impl::take_files(policy::policies_read all) {
  known = std::move(all);
  for (const policy::problem& p : known.problems) tell(p, p.file.empty() ? "policies: " : "policy file ");
  policies_changed();
}

void ingest_loop::impl::take_texts(const std::vector<policy_text>& changed, std::string trouble,
                                   bool complete) {
  ++policies_taken;
  report_due.notify();
  std::set<std::string> names;
  for (const policy_text& c : changed) {
    names.insert(c.name);
    if (c.text) {
      texts.put_object(c.name, *c.text);
    } else {
      texts.remove(c.name);
    }
  }
  texts.set_trouble(std::move(trouble));
  const bool now_complete = complete && !std::exchange(all_read, complete);
  if (changed.empty() && !now_complete) {
    known.problems = texts.problems();  // the trouble, if any
    return;
  }
  known = policy::policies_read::of(texts);
  for (const policy::problem& p : known.problems) {
    if (names.contains(p.file)) tell(p, "");
  }
  policies_changed();
}

void ingest_loop::impl::take_aliases(const policy::alias_file& names) {
  alias_problems = names.problems();
  for (const policy::problem& p : alias_problems)
    log.error("aliases: {}; those read before stay in force", p.text());
  if (names.table() == names_in_force) return;
  names_in_force = names.table();
  log.info("aliases: {} taken over from {}", names.table()->own(), options.aliases);
  inner.aliases(names.table(), boot_clock::now());
}

// What was refused is logged with its place and remedy, once per change.
void ingest_loop::impl::tell(const policy::problem& p, std::string_view kind) const {
  if (p.level == policy::severity::error) {
    log.error("{}{}", kind, p.text());
  } else if (p.level == policy::severity::warning) {
    log.warning("{}{}", kind, p.text());
  }
}

void ingest_loop::impl::policies_changed() {
  inner.policies({known.in_force, known.wrong, all_read}, boot_clock::now());
}

void ingest_loop::impl::take(interest_changed news) {
  if (door) door->set_interest(std::move(news.wanted));
}

void ingest_loop::impl::count_left_out_lines(instant now) {
  if (const auto more = node_lines.left_out(now))
    log.info("{} more changes of verdicts in the last ten seconds", more);
}

void ingest_loop::impl::take(const policy_event& e) {
  const std::string who = e.what.policy.name_space + "/" + e.what.policy.name;
  if (e.node.empty()) {
    log.info("policy {}: {}", who, e.what.message);
    return;
  }
  const instant now = boot_clock::now();
  count_left_out_lines(now);
  if (!node_lines.take(now)) return;
  log.info("policy {} on {}{}: {}", who, e.node, e.what.dry_run ? " (DryRun)" : "", e.what.message);
}

void ingest_loop::impl::take(const policy::condition& c) const {
  // A first batch gives one metric after the other a value, and MetricMissing a shorter text each time.
  if (!c.active || c.reworded) return;
  log.warning("policy {}{}{}: {}: {}", c.policy.text(), c.strategy ? ", " : "",
              c.strategy ? policy::to_string(*c.strategy) : "", policy::to_string(c.what), c.message);
}

void ingest_loop::impl::count_left_out_restarts(instant now) {
  if (const auto more = learning_lines.left_out(now))
    log.warning("the power curves of {} more nodes began to be learned again in the last minute", more);
}

void ingest_loop::impl::take(const learning_restarted& r) {
  const instant now = boot_clock::now();
  count_left_out_restarts(now);
  if (!learning_lines.take(now)) return;
  log.warning("node {}: its power curve is learned from nothing again, because {}", r.node, r.why);
}

// The one timer for what happens because nothing arrived.
task<void> ingest_loop::impl::keep_deadlines() {
  for (;;) {
    const instant now = boot_clock::now();
    const instant next = inner.tick(now);
    beats->beat(now);  // what time alone changes is done, too
    const async::deadline until = within(std::clamp<duration>(next - now, duration::zero(), between_beats));
    co_await tick_due.wait(until);
  }
}

task<void> ingest_loop::impl::keep_reporting() {
  for (;;) {
    faces.take(report());
    count_left_out_lines(boot_clock::now());  // though nothing happens after them
    count_left_out_restarts(boot_clock::now());
    co_await async::sleep_for(between_reports);
    const async::deadline until = within(report_period - between_reports);
    co_await report_due.wait(until);
  }
}

// A fleet whose nodes are replaced would reach max-nodes otherwise.
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

replicas::outcome ingest_loop::impl::ask_replicas() {
  replicas::question q;
  for (const std::string& at : options.state_from)
    q.at.push_back(read_endpoint(at, settings::usual_ops_port).value());  // validate()
  q.context = between_replicas->current();
  replicas::outcome out;
  const auto keep = [&out](const std::exception_ptr&, replicas::outcome told) { out = std::move(told); };
  boost::asio::co_spawn(asking, replicas::ask_replicas(std::move(q)), keep);
  async::run(asking, log);
  return out;
}

std::optional<snapshot> ingest_loop::impl::state_of_file() const {
  if (options.state.empty()) return std::nullopt;
  auto read = read_state(options.state);
  if (read.has_value()) return std::move(*read);
  if (read.error().code == errc::not_found) {
    log.info("{}: this is its first start", read.error().message);
  } else {
    log.warning("{}; windows, `for`, maxNodes and coolDown begin again", read.error().message);
  }
  return std::nullopt;
}

void ingest_loop::impl::go_on_from(snapshot s, std::string_view whose) {
  const clocks now = clocks_now();
  const duration age = age_of(s, now), shift = shift_of(s, now);
  const std::size_t nodes = inner.recall(std::move(s), shift, now.boot);
  log.info("{}: goes on from the state of {} ago, of {} nodes", whose, human(age), nodes);
}

/// Before any other event of the core. `told`: what other replicas said.
void ingest_loop::impl::begin(replicas::outcome told) {
  began.asked = told.asked;
  began.refused = told.refused;
  began.failed = told.failed;
  for (const std::string& why : told.troubles) log.info("no state from another replica: {}", why);

  std::optional<snapshot> own = state_of_file();
  const clocks now = clocks_now();
  if (own && age_of(*own, now) > oldest_state) {
    log.info("state file {}: it is {} old, too old to go on from", options.state, human(age_of(*own, now)));
    own.reset();
  }
  if (told.state && (!own || (!told.is_young && age_of(*told.state, now) < age_of(*own, now)))) {
    began.from = beginning::origin::replica;
    began.is_young = told.is_young;
    go_on_from(std::move(*told.state), "replica " + told.from);
  } else if (own) {
    began.from = beginning::origin::file;
    began.is_young = false;
    go_on_from(std::move(*own), "state file " + options.state);
  }
  began.is_decided = true;

  const bool standalone = options.mode() == deployment_mode::standalone;
  if (standalone) return take_files(files.read_now());
  inner.set_writes_labels(false, boot_clock::now());
}

snapshot ingest_loop::impl::finish(core::draft d) const {
  const clocks now = clocks_now();
  d.all.boot_id = now.boot_id;
  d.all.taken = now.boot;
  d.all.taken_wall = now.wall;
  return std::move(d.all);
}

/// While agents are still connected: what comes after is lost anyway.
void ingest_loop::impl::keep_last_state() {
  if (!state || inner.remembers_more()) return;
  core::draft d = inner.begin_snapshot();
  (void)inner.add_nodes(d, inner.store().ids_given());
  if (!d.all.nodes.empty()) state->keep(finish(std::move(d)));
}

task<void> ingest_loop::impl::keep_state() {
  for (duration pause = state_period;;) {
    co_await async::sleep_for(pause);
    pause = state_period;
    if (inner.remembers_more() || is_taking_snapshot()) continue;
    const std::shared_ptr<const void> held = begin_taking();
    duration took{};
    snapshot s = co_await copy_core(took);
    if (!s.nodes.empty()) state->keep(std::move(s));
    pause = std::max<duration>(state_period, 50 * took);
  }
}

/// `took`: what that cost.
task<snapshot> ingest_loop::impl::copy_core(duration& took) {
  core::draft d = inner.begin_snapshot();
  for (bool all = false; !all;) {
    const instant before = boot_clock::now();
    all = inner.add_nodes(d, nodes_at_once);
    took += boot_clock::now() - before;
    co_await async::sleep_for(duration::zero());  // agents' values come first
  }
  co_return finish(std::move(d));
}

std::shared_ptr<const void> ingest_loop::impl::begin_taking() {
  auto held = std::make_shared<const int>();
  taken = held;
  return held;
}

/// One that says less than what the other replica may get elsewhere, or has in its own file, is not given.
task<void> ingest_loop::impl::give_snapshot(replicas::given_state then) {
  const async::deadline until = within(wait_for_file);
  while (is_taking_snapshot() && std::chrono::steady_clock::now() < until)
    co_await async::sleep_for(std::chrono::milliseconds(20));
  const auto refuse = [&then](std::string why) { then(error{errc::overloaded, std::move(why)}, nullptr); };
  if (is_taking_snapshot()) {
    refuse("this replica is writing its state file: try again in a second");
  } else if (!inner.policies_read()) {
    refuse("this replica has not read all policies yet, so its state says less than it will");
  } else {
    std::shared_ptr<const void> held = begin_taking();
    duration took{};
    snapshot s = co_await copy_core(took);
    if (s.nodes.empty()) {
      refuse("this replica knows no node yet");
    } else {
      then(std::move(s), std::move(held));
    }
  }
}

task<void> ingest_loop::impl::keep_memory_short() {
  co_await async::sleep_for(state_counts_for);
  inner.forget_snapshot();
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
  out.learning = inner.learning().counted();
  out.problems = known.problems;
  out.problems.insert(out.problems.end(), alias_problems.begin(), alias_problems.end());
  out.policies_taken = policies_taken;
  out.began = began;
  if (state) out.state = state->counted();
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
  if (impl_->options.state_from.empty()) impl_->begin({});
  if (auto opened = impl_->open_port(); opened.has_error()) return opened;
  impl* self = impl_.get();
  impl_->tasks.keep("deadlines", [self] { return self->keep_deadlines(); });
  const bool standalone = impl_->options.mode() == deployment_mode::standalone;
  if (standalone || !impl_->options.aliases.empty()) impl_->files.start();
  impl_->tasks.spawn("what was remembered", impl_->keep_memory_short());
  impl_->tasks.spawn("certificates",
                     async::follow_files(impl_->certificates, "certificate for agents", impl_->log,
                                         std::chrono::seconds(2), impl_->renewal_troubles));
  impl_->tasks.keep("report", [self] { return self->keep_reporting(); });
  impl_->tasks.keep("forgetting nodes", [self] { return self->keep_forgetting(); });
  if (!impl_->options.state.empty()) {
    impl_->state.emplace(impl_->options.state);
    impl_->tasks.keep("state", [self] { return self->keep_state(); });
  }
  return {};
}

std::uint16_t ingest_loop::port() const noexcept { return impl_->door->port(); }

void ingest_loop::run() {
  pthread_setname_np(pthread_self(), "ingest");
  // Agents, policies and everything else that was posted waits in the other loop meanwhile.
  if (!impl_->began.is_decided) impl_->begin(impl_->ask_replicas());
  async::run(impl_->loop, impl_->log);
}

void ingest_loop::stop(std::chrono::milliseconds grace) {
  impl_->asking.stop();
  async::post(impl_->loop, [this, grace] {
    impl_->tasks.cancel();
    impl_->keep_last_state();
    impl_->door->stop(grace, [this] { impl_->loop.stop(); });
  });
}

void ingest_loop::pods_deleted(std::vector<std::string> uids) {
  async::post(impl_->loop,
              [this, uids = std::move(uids)] { impl_->door->pods_deleted(uids, boot_clock::now()); });
}

void ingest_loop::take_snapshot(replicas::given_state then) {
  async::post(impl_->loop, [this, then = std::move(then)]() mutable {
    impl_->tasks.spawn("snapshot for a replica", impl_->give_snapshot(std::move(then)));
  });
}

std::shared_ptr<const policy::heartbeat> ingest_loop::heart() const { return impl_->beats; }

void ingest_loop::watch(store::column_spec spec, std::function<void(store::warehouse::watched)> then) {
  async::post(impl_->loop, [this, spec = std::move(spec), then = std::move(then)] {
    then(impl_->inner.watch(spec, boot_clock::now()));
  });
}

void ingest_loop::unwatch(store::column_id id) {
  async::post(impl_->loop, [this, id] { impl_->inner.unwatch(id, boot_clock::now()); });
}

void ingest_loop::take_policies(std::vector<policy_text> changed, std::string trouble, bool all_read) {
  async::post(impl_->loop, [this, changed = std::move(changed), trouble = std::move(trouble), all_read] {
    impl_->take_texts(changed, trouble, all_read);
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

void ingest_loop::take_taken_keys(std::vector<labels::node_taken> nodes) {
  async::post(impl_->loop, [this, nodes = std::move(nodes)]() mutable {
    impl_->inner.taken_keys(std::move(nodes), boot_clock::now());
  });
}

void ingest_loop::set_writes_labels(bool writes) {
  async::post(impl_->loop, [this, writes] { impl_->inner.set_writes_labels(writes, boot_clock::now()); });
}

}  // namespace binnacle::aggregator
