// The shell of the faces: everything that answers callers, on one thread, and what joins it to the ingest
// loop.
//
// A call of kube-scheduler never asks the ingest loop. The faces read a view of their own (`nodes`): rows and
// verdicts are atomic cells that the ingest loop writes, and everything else comes as a message (faces_inbox)
// and is applied here, one after the other. So a call takes no lock and waits for nobody, and an ingest loop
// that is busy makes values older, not answers slower. Only what needs something new of that loop is posted
// to it: a window that a reader of metrics begins, and the state for another replica.
//
// What is built follows from the settings, in one order (start): the cluster and who may ask, the faces,
// the ports, the tasks. The ports open late, because a request may come with the next turn of the loop.
//
// Who may do what is decided in front of the routes, once for each port: a certificate of clients-ca or,
// in a cluster, what the API server says of the caller (gatekeeper); then the list of names that the
// settings give the port (named_only). The one exception is the route for replicas, which prove that they
// hold our own key.
//
// Stopping takes its time, in a given order: first /readyz fails while requests are still served, so that
// callers find another replica; then the Lease is given back; then no new connections are taken, the
// requests that run end, and the loop with them. A second signal skips the waiting.

#include "aggregator/faces_loop.hpp"

#include "aggregator/callers/agent_tokens.hpp"
#include "aggregator/callers/attributes.hpp"
#include "aggregator/callers/gatekeeper.hpp"
#include "aggregator/callers/named.hpp"
#include "aggregator/cluster.hpp"
#include "aggregator/cluster_readers.hpp"
#include "aggregator/custom_metrics/face.hpp"
#include "aggregator/custom_metrics/status.hpp"
#include "aggregator/decision/ring.hpp"
#include "aggregator/extender/face.hpp"
#include "aggregator/extender/unseen.hpp"
#include "aggregator/face_servers.hpp"
#include "aggregator/model_servers/service.hpp"
#include "aggregator/ops/face.hpp"
#include "aggregator/outliers/power_comparison.hpp"
#include "aggregator/own_metrics.hpp"
#include "aggregator/own_warnings.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/questions/store_question.hpp"
#include "aggregator/readiness.hpp"
#include "aggregator/replicas/state_route.hpp"
#include "aggregator/senders.hpp"
#include "aggregator/settings/part_options.hpp"
#include "common/async/follow_files.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timeout.hpp"
#include "common/async/timers.hpp"
#include "common/tls/context.hpp"

#include <fmt/format.h>

#include <optional>

namespace binnacle::aggregator {
namespace {

using async::task;

// Refusals in the forms of the two faces that people and the API server call: custom metrics and ops.
http::response as_status(unsigned status, std::string_view reason, std::string_view sentence) {
  return custom_metrics::status(status, reason, sentence, status == 403 ? "{}" : "");
}
http::response as_sentence(unsigned status, std::string_view, std::string_view sentence) {
  return http::response::failure(status, sentence);
}

}  // namespace

struct faces_loop::impl final : faces_inbox {
  impl(const settings& s, const descriptor_plan& r, std::shared_ptr<const metrics::alias_table> n, logger l)
      : options(s),
        room(r),
        log(std::move(l)),
        tasks(loop, log),
        names(std::move(n)),
        decisions(ring_limits_of(s)),
        extend(nodes, decisions, extender_options_of(s), boot_clock::now, log.part("extender")),
        servers(loop, s.address, log) {}

  // faces_inbox, on the ingest loop
  void take(faces_news news) override;
  void take(ingest_report report) override;
  void review(std::string token, network from,
              std::function<void(result<ingest::token_holder>)> then) override;

  // The same messages, after they have arrived on this loop.
  void arrived(store::node_update u) { nodes.apply(std::move(u)); }
  void arrived(labels_carried l) { nodes.node(l.id, l.node).labels = std::move(l.labels); }
  void arrived(labels_would_be l) { nodes.node(l.id, l.node).would_be = std::move(l.labels); }
  void arrived(wishes_changed w) { kubernetes->take_wishes(std::move(w.wishes)); }
  void arrived(policy::label_claims c) { kubernetes->take_claims(std::move(c)); }
  void arrived(const nodes_forgotten& gone) {
    nodes.forget(gone.ids);
    for (const store::node_id id : gone.ids) nodes.forget_models(store::index(id));
  }
  void arrived(models_learned m) {
    for (auto& [id, model] : m.models) nodes.models().set(store::index(id), std::move(model));
    for (auto& [id, why] : m.notes) nodes.set_learned_note(store::index(id), std::move(why));
  }
  void arrived(policies_published p) { nodes.set_policies(std::move(p.table)); }
  void arrived(aliases_replaced a) { names.replace(std::move(a.table)); }

  // From the settings to what runs, in this order.
  result<void> open_cluster(ingest_inbox& writer);
  void make_apis(ingest_inbox& writer);
  void make_state_route(ingest_inbox& writer);
  result<std::shared_ptr<tls::context>> load(tls::client_certificate clients);
  result<void> serve();
  result<void> start_tasks(ingest_inbox& writer);

  own_numbers numbers();
  ops::self_report self();

  task<void> wait_for_signal(std::function<void()> on_signal);
  task<void> keep_ending_windows();

  // Constant after construction.
  const settings options;
  const descriptor_plan room;
  const logger log;
  const instant started = boot_clock::now();

  // Owned by the loop.
  async::loop loop;
  async::task_group tasks;
  metrics::names_in_force names;
  policy::view nodes;
  decision::ring decisions;
  extender::face extend;
  ingest_report ingest;
  power_comparison power{nodes, log};
  std::unique_ptr<cluster> kubernetes;             // none: standalone
  std::unique_ptr<callers::gatekeeper> gate;       // none: standalone
  std::unique_ptr<callers::agent_tokens> agents;   // if tokens speak for agents
  std::unique_ptr<model_servers::service> models;  // none: standalone
  senders sending{nodes};
  std::unique_ptr<questions::watched_columns> windows;
  std::unique_ptr<custom_metrics::face> metrics_face;
  std::unique_ptr<ops::face> ops_face;
  std::unique_ptr<replicas::state_route> state_route;
  std::vector<std::shared_ptr<tls::context>> certificates;
  std::shared_ptr<async::reload_troubles> renewal_troubles = std::make_shared<async::reload_troubles>();
  face_servers servers;
  std::optional<readiness> ready;  // from open_cluster() on
};

void faces_loop::impl::take(faces_news news) {
  auto shared = std::make_shared<faces_news>(std::move(news));
  async::post(loop, [this, shared] { std::visit([this](auto& one) { arrived(std::move(one)); }, *shared); });
}

void faces_loop::impl::take(ingest_report report) {
  auto shared = std::make_shared<ingest_report>(std::move(report));
  async::post(loop, [this, shared] {
    ingest = std::move(*shared);
    if (kubernetes) kubernetes->reported();
  });
}

void faces_loop::impl::review(std::string token, network from,
                              std::function<void(result<ingest::token_holder>)> then) {
  async::post(loop, [this, token = std::move(token), from, then = std::move(then)]() mutable {
    auto tell = [this, from, then = std::move(then)](const result<callers::agent_tokens::answer>& said) {
      then(said.has_error() ? result<ingest::token_holder>(said.error())
                            : holder_of(*said, from, kubernetes->pods(), kubernetes->pods_read()));
    };
    agents->ask(std::move(token), std::move(tell));
  });
}

result<void> faces_loop::impl::open_cluster(ingest_inbox& writer) {
  if (options.mode() == deployment_mode::in_cluster) {
    auto opened = cluster::open(options, log.part("kubernetes"));
    if (opened.has_error()) return opened.error();
    kubernetes = std::move(*opened);
    gate = std::make_unique<callers::gatekeeper>(loop, kubernetes->client(), log.part("callers"));
    if (!options.agents_account.empty())
      agents = std::make_unique<callers::agent_tokens>(loop, kubernetes->client(), options.agents_audience,
                                                       log.part("agents"));
  }
  ready.emplace(readiness::sources{nodes, ingest, kubernetes.get(), gate.get(), !options.state_from.empty(),
                                   started, [&writer] { writer.fleet_has_come(); }});
  return {};
}

void faces_loop::impl::make_state_route(ingest_inbox& writer) {
  replicas::state_sources sources;
  sources.is_replica = [this](const http::request& r) {
    return r.shown != nullptr && r.shown->has_key_of(certificates.front()->current().get());
  };
  sources.worth_now = [this] { return worth_of(ingest.began, boot_clock::now() - started, ready->judges()); };
  sources.take = [&writer](replicas::given_state then) { writer.take_snapshot(std::move(then)); };
  sources.post = [this](std::function<void()> work) { async::post(loop, std::move(work)); };
  state_route = std::make_unique<replicas::state_route>(std::move(sources));
}

void faces_loop::impl::make_apis(ingest_inbox& writer) {
  windows = std::make_unique<questions::watched_columns>(
      [this, &writer](const store::column_spec& spec,
                      std::function<void(questions::watched_columns::started)> then) {
        writer.watch(spec, [this, then = std::move(then)](const store::watched_values& made) {
          async::post(loop, [then, made] { then({made.id, made.values}); });
        });
      },
      [&writer](store::column_id id) { writer.unwatch(id); });

  custom_metrics::face_sources metrics_sources;
  metrics_sources.ask = questions::ask_store(*windows, names);
  metrics_sources.aliases = &names;
  metrics_sources.health = ready->checks();
  metrics_sources.identity_required = gate == nullptr;
  metrics_sources.later = [this](std::function<void()> work) { async::post(loop, std::move(work)); };
  if (kubernetes) metrics_sources.pods = pods_of(*kubernetes);
  if (kubernetes) metrics_sources.objects = objects_of(*kubernetes);
  metrics_face = std::make_unique<custom_metrics::face>(nodes, std::move(metrics_sources));

  ops::face_sources ops_sources;
  ops_sources.ask = questions::ask_store(*windows, names);
  ops_sources.self = [this] { return self(); };
  ops_sources.own_metrics = [this] { return aggregator::own_metrics(numbers()); };
  ops_sources.strategies = [this] { return ingest.strategies; };
  ops_sources.about_policies = [this] {
    return ops::policy_report{ingest.problems, ingest.conditions, ingest.costs};
  };
  if (kubernetes) ops_sources.object_labels = object_labels_of(*kubernetes);
  ops_sources.in_flight = [this](const policy::published_rule& load, instant now) {
    std::vector<double> cores;
    for (const auto& unseen : extender::unseen_by_node(extend.placed(), nodes, load, now))
      cores.push_back(unseen.cores);
    return cores;
  };
  ops_sources.later = [this](std::function<void()> work) { async::post(loop, std::move(work)); };
  ops_sources.health = ready->checks();
  ops_sources.identity_required = gate == nullptr;
  ops_face = std::make_unique<ops::face>(nodes, decisions, std::move(ops_sources));
}

result<std::shared_ptr<tls::context>> faces_loop::impl::load(tls::client_certificate clients) {
  auto loaded = tls::context::load(tls_for_callers(options, clients));
  if (loaded.has_error()) return loaded.error();
  std::shared_ptr<tls::context> shared = std::move(loaded.value());
  certificates.push_back(shared);
  return shared;
}

result<void> faces_loop::impl::serve() {
  auto strict = load(tls::client_certificate::required);
  if (strict.has_error()) return strict.error();
  auto lenient = load(tls::client_certificate::optional);
  if (lenient.has_error()) return lenient.error();

  http::router extender_routes, metrics_routes, ops_routes, health_routes;
  extend.routes(extender_routes);
  metrics_face->mount(metrics_routes);
  ops_face->mount(ops_routes);
  state_route->mount(ops_routes);
  http::mount_health(health_routes, ready->checks());

  http::guard by_resource, by_path;
  if (gate) {
    by_resource = gate->guard(callers::resource_attributes, as_status);
    by_path = gate->guard(callers::path_attributes, as_sentence);
  }
  const auto in_words = [](std::string_view sentence) { return as_sentence(403, "Forbidden", sentence); };
  const auto in_status = [](std::string_view sentence) { return as_status(403, "Forbidden", sentence); };
  extender_routes.set_guard(callers::named_only(options.extender_callers, nullptr, in_words));
  metrics_routes.set_guard(callers::named_only(options.metrics_callers, std::move(by_resource), in_status));
  const http::guard of_ops = callers::named_only(options.ops_callers, std::move(by_path), in_words);
  // The route for replicas needs no right from the API server: replicas check each other's certificates.
  ops_routes.set_guard([of_ops](const http::request& r, http::guard_answer then) {
    if (!of_ops || replicas::state_route::is_for(r)) return then({});
    of_ops(r, std::move(then));
  });

  const settings& s = options;
  if (s.unsafe) log.warning("the extender speaks plain HTTP to anybody (--unsafe): for trials only");
  for (auto&& opened :
       {servers.open("extender", s.extender_port, room.extender, s.unsafe ? nullptr : *strict,
                     std::move(extender_routes)),
        servers.open("custom metrics", s.metrics_port, room.metrics, *lenient, std::move(metrics_routes)),
        servers.open("ops", s.ops_port, room.ops, *lenient, std::move(ops_routes)),
        servers.open("health", s.health_port, room.health, nullptr, std::move(health_routes))}) {
    if (opened.has_error()) return opened.error();
  }
  return {};
}

own_numbers faces_loop::impl::numbers() {
  own_numbers out{ingest, extend.stats(), nodes, power.outliers().named(), *renewal_troubles};
  out.listeners = servers.listeners();
  if (!certificates.empty()) out.certificates = {{options.cert, certificates.front()->seconds_left()}};
  if (kubernetes) out.kubernetes = kubernetes->state();
  if (kubernetes) out.without_object = kubernetes->nodes_without_object();
  if (gate) out.callers = gate->counted();
  if (gate) out.callers_trouble = gate->trouble();
  if (agents) out.tokens = agents->counted();
  out.sending = sending.counted();
  out.decisions_dropped = decisions.dropped();
  out.decisions_trimmed = decisions.trimmed();
  out.placements_dropped = extend.placed().dropped();
  out.state_route = state_route->counted();
  if (models && !options.model_servers.empty()) {
    out.model_servers = models->counted();
    out.endpoint_providers = models->counted_of_providers();
  }
  if (models) out.model_servers_troubles = models->troubles();
  return out;
}

ops::self_report faces_loop::impl::self() {
  const own_numbers now = numbers();
  ops::self_report out;
  out.version = BINNACLE_VERSION;
  out.replica = options.replica_id;
  out.cluster = options.cluster;
  out.mode = kubernetes ? "kubernetes" : "standalone";
  out.started = started;
  out.listeners = now.listeners;
  out.certificates = now.certificates;
  out.warnings = own_warnings(now, options, boot_clock::now());
  return out;
}

result<void> faces_loop::impl::start_tasks(ingest_inbox& writer) {
  if (kubernetes) {
    kubernetes->start(loop, writer, {nodes, ingest, extend.placed(), decisions});
    extend.spreading().watch(&kubernetes->areas());
  }
  if (gate) gate->start();
  tasks.keep("comparing power", [this] { return power.keep_looking(); });
  tasks.keep("ending windows", [this] { return keep_ending_windows(); });
  const auto leads = [this] { return !kubernetes || kubernetes->state().leads; };
  const auto uid_of = [this](std::string_view node) {
    const auto* object = kubernetes ? kubernetes->object_of(node) : nullptr;
    return object == nullptr ? std::string() : object->uid;
  };
  if (auto begun = sending.start(options, loop, tasks, leads, uid_of, log); begun.has_error()) return begun;
  if (kubernetes) {
    auto opened = model_servers::service::open(
        {options.model_servers, options.model_servers_ca, options.model_servers_secrets},
        log.part("model servers"));
    if (opened.has_error()) return opened.error();
    models = std::move(*opened);
    cluster* const known = kubernetes.get();
    models->start(
        loop, {nodes, kubernetes->client(), [known](std::string_view node) { return known->object_of(node); },
               [known](kube::note n) { return known->say(std::move(n)); }});
    if (!options.model_servers.empty())
      log.info("curves are asked of model servers: {}", fmt::join(options.model_servers, ", "));
  }
  for (const auto& context : certificates)
    tasks.keep("certificates", [this, context] {
      return async::follow_files(context, "certificate of the faces", log, std::chrono::seconds(2),
                                 renewal_troubles);
    });
  return {};
}

// Ends columns that a request started and nobody has asked for lately.
task<void> faces_loop::impl::keep_ending_windows() {
  for (;;) {
    co_await async::sleep_for(std::chrono::seconds(10));
    windows->end_idle(boot_clock::now());
  }
}

// On SIGTERM, SIGINT or SIGHUP the replica is not ready, but still serves until callers have noticed (a
// scheduler that is refused places pods without us). Then it takes no new connections, running requests end,
// and the loop ends.
task<void> faces_loop::impl::wait_for_signal(std::function<void()> on_signal) {
  using namespace boost::asio::experimental::awaitable_operators;
  const int number = co_await async::stop_signal();
  const auto grace = std::chrono::duration_cast<std::chrono::milliseconds>(options.drain);
  log.info(
      "{}: stopping; /readyz fails, and requests are served for another {} ms (a second signal ends the "
      "program at once)",
      async::name_of_signal(number), grace.count());
  ready->stop();
  servers.retire();
  const auto over = co_await (async::stop_signal() || async::wait_until(async::within(grace)));
  const bool hurried = over.index() == 0;
  on_signal();
  if (kubernetes) co_await kubernetes->stop(async::within(std::chrono::seconds(1)));
  servers.stop(hurried ? std::chrono::milliseconds(0) : grace, [this] { loop.stop(); });
}

faces_loop::faces_loop(const settings& s, const descriptor_plan& room,
                       std::shared_ptr<const metrics::alias_table> names, logger log)
    : impl_(std::make_unique<impl>(s, room, std::move(names), std::move(log))) {}
faces_loop::~faces_loop() = default;

faces_inbox& faces_loop::inbox() noexcept { return *impl_; }

result<void> faces_loop::start(ingest_inbox& writer) {
  impl_->nodes.set_heartbeat(writer.heart());
  if (auto opened = impl_->open_cluster(writer); opened.has_error()) return opened;
  impl_->make_apis(writer);
  impl_->make_state_route(writer);
  if (auto served = impl_->serve(); served.has_error()) return served;
  return impl_->start_tasks(writer);
}

void faces_loop::run(std::function<void()> on_signal) {
  impl_->tasks.spawn("signals", impl_->wait_for_signal(std::move(on_signal)));
  async::run(impl_->loop, impl_->log);
  // These objects end the columns that they started on the ingest loop, so they must go while it still
  // exists.
  impl_->ops_face.reset();
  impl_->state_route.reset();
  impl_->metrics_face.reset();
  impl_->windows.reset();
}

}  // namespace binnacle::aggregator
