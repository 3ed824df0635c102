#include "aggregator/faces_loop.hpp"

#include "aggregator/callers/agent_tokens.hpp"
#include "aggregator/callers/attributes.hpp"
#include "aggregator/callers/gatekeeper.hpp"
#include "aggregator/callers/named.hpp"
#include "aggregator/cluster.hpp"
#include "aggregator/custom_metrics/api.hpp"
#include "aggregator/custom_metrics/status.hpp"
#include "aggregator/decision/ring.hpp"
#include "aggregator/exporter/exporter.hpp"
#include "aggregator/extender/face.hpp"
#include "aggregator/extender/unseen.hpp"
#include "aggregator/kube/reviews/policy_writers.hpp"
#include "aggregator/node_warnings.hpp"
#include "aggregator/ops/api.hpp"
#include "aggregator/own_metrics.hpp"
#include "aggregator/policy/published/view.hpp"
#include "aggregator/power_comparison.hpp"
#include "aggregator/questions/store_question.hpp"
#include "aggregator/replicas/state_route.hpp"
#include "common/async/follow_files.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timeout.hpp"
#include "common/async/timers.hpp"
#include "common/http/health.hpp"
#include "common/http/server.hpp"
#include "common/text/text.hpp"
#include "common/tls/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>

namespace binnacle::aggregator {
namespace {

using async::task;

// For what may never be there: agents that are not installed yet, an API server that tells no authorities.
constexpr duration patience = std::chrono::seconds(30);
// The state of a replica that began with nothing is young for this time.
constexpr duration youth = std::chrono::minutes(1);

struct face_server {
  std::string name;
  std::uint16_t port;
  bool tls;
  std::unique_ptr<http::server> server;
};

extender::options extender_options(const settings& s) {
  extender::options out;
  out.scores = s.score;
  return out;
}

// How the two faces that people and the API server ask say no.
http::response as_status(unsigned status, std::string_view reason, std::string_view sentence) {
  return custom_metrics::status(status, reason, sentence, status == 403 ? "{}" : "");
}
http::response as_sentence(unsigned status, std::string_view, std::string_view sentence) {
  return http::response::failure(status, sentence);
}

custom_metrics::pod pod_of(const std::pair<const kube::object_key, kube::pod_objects::pod>& known) {
  const auto& [key, pod] = known;
  return {key.name_space, key.name, pod.uid, pod.node, pod.labels};
}

custom_metrics::pod_source pods_of(const cluster& known) {
  custom_metrics::pod_source out;
  out.one = [&known](std::string_view name_space,
                     std::string_view name) -> std::optional<custom_metrics::pod> {
    const auto& all = known.pods().objects();
    const auto at = all.find({std::string(name_space), std::string(name)});
    return at == all.end() ? std::nullopt : std::optional(pod_of(*at));
  };
  out.of = [&known](std::string_view name_space, std::string_view after,
                    const std::function<bool(const custom_metrics::pod&)>& each) {
    const auto& all = known.pods().objects();
    for (auto at = all.upper_bound({std::string(name_space), std::string(after)});
         at != all.end() && at->first.name_space == name_space && each(pod_of(*at)); ++at) {
    }
  };
  out.unknown_because = [&known] {
    return known.state().pods_read ? std::string() : "pods are not read from the API server yet: try again";
  };
  return out;
}

custom_metrics::node_source objects_of(const cluster& known) {
  custom_metrics::node_source out;
  out.labels = [&known](std::string_view node) -> std::optional<questions::selector::look_up> {
    const kube::packed_labels* labels = known.labels_of(node);
    if (labels == nullptr) return std::nullopt;
    return [labels](std::string_view key) { return labels->find(key); };
  };
  out.unknown_because = [&known] {
    return known.nodes_read() ? std::string() : "nodes are not read from the API server yet: try again";
  };
  return out;
}

ops::label_reader object_labels_of(const cluster& known) {
  return [&known](std::string_view node, const ops::each_label& each) {
    if (const kube::packed_labels* labels = known.labels_of(node)) labels->each(each);
  };
}

ingest::token_holder holder_of(const callers::agent_tokens::answer& said, const network& from,
                               const kube::pod_objects& pods) {
  const kube::user& who = said.review.who;
  ingest::token_holder out;
  out.genuine = said.review.authenticated;
  out.account = who.name;
  out.node = who.only_extra("authentication.kubernetes.io/node-name");
  out.why = said.review.why;
  out.ends = said.ends;
  out.pod = who.only_extra("authentication.kubernetes.io/pod-uid");
  // "system:serviceaccount:NAMESPACE:NAME"; the pod has the namespace of its account.
  const std::string_view account = who.name;
  const auto end = account.rfind(':');
  const auto begin = end == account.npos || end == 0 ? account.npos : account.rfind(':', end - 1);
  const std::string_view name_space =
      begin == account.npos ? std::string_view() : account.substr(begin + 1, end - begin - 1);
  const kube::object_key key{std::string(name_space),
                             std::string(who.only_extra("authentication.kubernetes.io/pod-name"))};
  if (const auto* own = pods.find(key); own != nullptr && own->uid == out.pod) out.addresses = own->addresses;
  if (const auto* there = pods.at_address(from); there != nullptr && *there != key)
    out.neighbour = there->text();
  return out;
}

exporter::settings export_settings(const settings& s) {
  exporter::settings out;
  out.to = exporter::parse_destination(s.remote_write).value();  // validate()
  out.who = {{s.remote_write_cert, s.remote_write_key, s.remote_write_ca},
             s.remote_write_user,
             s.remote_write_token};
  if (!s.cluster.empty()) out.outside.emplace_back("cluster", s.cluster);
  if (s.remote_write_by == sender::each) out.outside.emplace_back("replica", s.replica_id);
  out.families = s.remote_write_families;
  out.most_bytes = static_cast<std::size_t>(s.remote_write_memory_mib) << 20;
  return out;
}

decision::ring_limits ring_limits(const settings& s) {
  decision::ring_limits out;
  out.bytes = static_cast<std::size_t>(s.decision_memory_mib) << 20;
  return out;
}

}  // namespace

struct faces_loop::impl final : faces_inbox {
  impl(const settings& s, const descriptor_plan& r, std::shared_ptr<const metrics::alias_table> n, logger l)
      : options(s),
        room(r),
        log(std::move(l)),
        tasks(loop, log),
        names(std::move(n)),
        decisions(ring_limits(s)),
        extend(nodes, decisions, extender_options(s), boot_clock::now, log.part("extender")) {}

  // faces_inbox, on the ingest loop
  void take(faces_news news) override;
  void take(ingest_report report) override;
  void review(std::string token, network from,
              std::function<void(result<ingest::token_holder>)> then) override;

  // The same, arrived on this loop.
  void arrived(store::node_update u) { nodes.apply(std::move(u)); }
  void arrived(labels_carried l) { nodes.node(l.id, l.node).labels = std::move(l.labels); }
  void arrived(labels_would_be l) { nodes.node(l.id, l.node).would_be = std::move(l.labels); }
  void arrived(wishes_changed w) { kubernetes->take_wishes(std::move(w.wishes)); }
  void arrived(policy::label_claims c) { kubernetes->take_claims(std::move(c)); }
  void arrived(const nodes_forgotten& gone) {
    nodes.forget(gone.ids);
    for (const store::node_id id : gone.ids) nodes.models().set(store::index(id), nullptr);
  }
  void arrived(models_learned m) {
    for (auto& [id, model] : m.models) nodes.models().set(store::index(id), std::move(model));
  }
  void arrived(policies_published p) { nodes.set_policies(std::move(p.table)); }
  void arrived(aliases_replaced a) { names.replace(std::move(a.table)); }

  result<std::shared_ptr<tls::context>> load(tls::client_certificate clients);
  void make_apis(ingest_inbox& writer);
  void make_state_route(ingest_inbox& writer);
  result<void> serve(std::string name, std::int64_t port, std::size_t most, std::shared_ptr<tls::context> tls,
                     http::router routes);
  bool knows_most_nodes();
  http::health health();
  std::vector<ops::listener_report> listeners() const;
  std::vector<ops::certificate_report> certificate_reports() const;
  std::vector<denial> denials() const;
  ops::self_report self() const;
  ops::policy_report about_policies() const;

  task<void> wait_for_signal(std::function<void()> on_signal);
  task<void> keep_ending_windows();
  task<void> keep_exporting();
  void stop_servers(std::chrono::milliseconds grace);

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
  std::unique_ptr<cluster> kubernetes;               // none: standalone
  std::unique_ptr<callers::gatekeeper> gate;         // likewise
  std::unique_ptr<callers::agent_tokens> agents;     // if tokens speak for agents
  std::unique_ptr<exporter::exporter> remote_write;  // none: readings go nowhere else
  std::unique_ptr<questions::watched_columns> windows;
  std::unique_ptr<custom_metrics::api> metrics_api;
  std::unique_ptr<ops::api> ops_api;
  std::unique_ptr<replicas::state_route> state_route;
  std::vector<std::shared_ptr<tls::context>> certificates;
  std::shared_ptr<async::reload_troubles> renewal_troubles = std::make_shared<async::reload_troubles>();
  std::vector<face_server> servers;
  std::size_t servers_open = 0;
  bool stopping = false;
  bool agents_came = false;
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
                            : holder_of(*said, from, kubernetes->pods()));
    };
    agents->ask(std::move(token), std::move(tell));
  });
}

result<std::shared_ptr<tls::context>> faces_loop::impl::load(tls::client_certificate clients) {
  tls::options o;
  o.side = tls::role::server;
  o.pem = {options.cert, options.key, options.clients_ca, options.denied_serials};
  o.clients = clients;
  auto loaded = tls::context::load(std::move(o));
  if (loaded.has_error()) return loaded.error();
  std::shared_ptr<tls::context> shared = std::move(loaded.value());
  certificates.push_back(shared);
  return shared;
}

/// Most nodes' agents have connected, once: later a dead node must not take the whole replica out of service.
bool faces_loop::impl::knows_most_nodes() {
  if (agents_came || !kubernetes->nodes_read()) return agents_came;
  const auto& known = nodes.nodes();
  const auto connected = std::ranges::count_if(known, [](const auto& n) { return n.second->connected; });
  agents_came = 10 * static_cast<std::size_t>(connected) >= 9 * kubernetes->node_objects();
  return agents_came;
}

http::health faces_loop::impl::health() {
  http::health out;
  out.add("ping", [] { return true; });
  out.add_ready(
      "not-stopping", [this] { return !stopping; }, "it was told to stop");
  const auto wait_for = [this](auto arrived) {
    return [this, arrived] { return arrived() || boot_clock::now() - started > patience; };
  };
  out.add_ready(
      "state", [this] { return options.state_from.empty() || ingest.began.is_decided; },
      "the other replicas are being asked for their state, for 10 s at most");
  // A fresh replica that knows no policy yet would pass every node, however long the API server is away; so
  // would one that knows no number, while another replica still does.
  out.add_ready(
      "policies", [this] { return !kubernetes || kubernetes->policies_judged(); },
      "the policies are not read from the API server and judged yet");
  // What nobody judges any more looks like what has not changed.
  out.add_ready(
      "judging", [this] { return !nodes.judging_stopped(boot_clock::now()); },
      "nothing has been judged for more than five seconds: the ingest loop is stuck");
  out.add_ready(
      "nodes", [this] { return !kubernetes || kubernetes->nodes_read(); },
      "the nodes are not read from the API server yet");
  out.add_ready(
      "agents", wait_for([this] { return !kubernetes || knows_most_nodes(); }),
      "agents of nine nodes in ten have not connected yet; this is waited for until 30 s after the start");
  // Nor one that would refuse the API server's own calls.
  out.add_ready("authentication", wait_for([this] { return !gate || gate->informed(); }),
                "the API server has not said yet which certificates it takes; this is waited for until 30 s "
                "after the start");
  return out;
}

void faces_loop::impl::make_state_route(ingest_inbox& writer) {
  replicas::state_sources sources;
  sources.is_replica = [this](const http::request& r) {
    return r.shown != nullptr && r.shown->has_key_of(certificates.front()->current().get());
  };
  sources.worth_now = [this] {
    using replicas::worth;
    const beginning& began = ingest.began;
    if (!began.is_decided) return worth::nothing;
    if (!began.is_young || boot_clock::now() - started > youth) return worth::full;
    // Replicas that start together have nothing for each other until they judge what agents say.
    const auto is_connected = [](const auto& n) { return n.second->connected; };
    const bool judges = kubernetes ? kubernetes->policies_judged() && knows_most_nodes()
                                   : std::ranges::any_of(nodes.nodes(), is_connected);
    return judges ? worth::young : worth::nothing;
  };
  sources.take = [&writer](replicas::given_state then) { writer.take_snapshot(std::move(then)); };
  sources.post = [this](std::function<void()> work) { async::post(loop, std::move(work)); };
  state_route = std::make_unique<replicas::state_route>(std::move(sources));
}

void faces_loop::impl::make_apis(ingest_inbox& writer) {
  windows = std::make_unique<questions::watched_columns>(
      [this, &writer](const store::column_spec& spec,
                      std::function<void(questions::watched_columns::started)> then) {
        writer.watch(spec, [this, then = std::move(then)](const store::warehouse::watched& made) {
          async::post(loop, [then, made] { then({made.id, made.values}); });
        });
      },
      [&writer](store::column_id id) { writer.unwatch(id); });

  custom_metrics::api_sources metrics_sources;
  metrics_sources.ask = questions::ask_store(*windows, names);
  metrics_sources.aliases = &names;
  metrics_sources.health = health();
  metrics_sources.identity_required = gate == nullptr;
  metrics_sources.later = [this](std::function<void()> work) { async::post(loop, std::move(work)); };
  if (kubernetes) metrics_sources.pods = pods_of(*kubernetes);
  if (kubernetes) metrics_sources.objects = objects_of(*kubernetes);
  metrics_api = std::make_unique<custom_metrics::api>(nodes, std::move(metrics_sources));

  ops::api_sources ops_sources;
  ops_sources.ask = questions::ask_store(*windows, names);
  ops_sources.self = [this] { return self(); };
  ops_sources.own_metrics = [this] {
    const auto open = listeners();
    const auto files = certificate_reports();
    const auto api = kubernetes ? std::optional(kubernetes->state()) : std::nullopt;
    const auto callers = gate ? std::optional(gate->counted()) : std::nullopt;
    const auto tokens = agents ? std::optional(agents->counted()) : std::nullopt;
    const auto exported = remote_write ? std::optional(remote_write->counted()) : std::nullopt;
    const auto strange = kubernetes ? kubernetes->nodes_without_object() : std::vector<std::string>();
    return aggregator::own_metrics({ingest, extend.stats(), open, files, nodes, api, callers, tokens,
                                    exported, decisions.dropped(), decisions.trimmed(),
                                    extend.placed().dropped(), strange.size(),
                                    !renewal_troubles->empty() || !ingest.certificate_troubles.empty(),
                                    power.outliers().named().size(), state_route->counted()});
  };
  ops_sources.about_policies = [this] { return about_policies(); };
  if (kubernetes) ops_sources.object_labels = object_labels_of(*kubernetes);
  ops_sources.in_flight = [this](const policy::published_rule& load, instant now) {
    std::vector<double> cores;
    for (const auto& unseen : extender::unseen_by_node(extend.placed(), nodes, load, now))
      cores.push_back(unseen.cores);
    return cores;
  };
  ops_sources.later = [this](std::function<void()> work) { async::post(loop, std::move(work)); };
  ops_sources.health = health();
  ops_sources.identity_required = gate == nullptr;
  ops_api = std::make_unique<ops::api>(nodes, decisions, std::move(ops_sources));
}

result<void> faces_loop::impl::serve(std::string name, std::int64_t port, std::size_t most,
                                     std::shared_ptr<tls::context> tls, http::router routes) {
  http::server_options o;
  o.name = name;
  o.address = options.address;
  o.port = static_cast<std::uint16_t>(port);
  o.max_connections = most;
  const bool secure = tls != nullptr;
  o.tls = std::move(tls);
  auto server = std::make_unique<http::server>(loop, std::move(o), std::move(routes), log.part(name));
  if (auto started_it = server->start(); started_it.has_error()) return started_it;
  log.info("{} listens on {}", name, host_and_port(options.address, server->port()));
  servers.push_back({std::move(name), server->port(), secure, std::move(server)});
  return {};
}

std::vector<ops::listener_report> faces_loop::impl::listeners() const {
  std::vector<ops::listener_report> out;
  for (const face_server& s : servers)
    out.push_back({s.name, host_and_port(options.address, s.port), s.server->counters(), s.tls});
  return out;
}

std::vector<denial> faces_loop::impl::denials() const {
  const ingest::ingest_counters& agents = ingest.sessions;
  std::vector<denial> out{{"agents' port (ingest)", agents.denied, agents.denied_at, agents.denied_from}};
  for (const face_server& s : servers) {
    const http::server_counters& c = s.server->counters();
    out.push_back({s.name, c.denied, c.denied_at, c.denied_from});
  }
  return out;
}

std::vector<ops::certificate_report> faces_loop::impl::certificate_reports() const {
  if (certificates.empty()) return {};
  return {{options.cert, certificates.front()->seconds_left()}};
}

ops::self_report faces_loop::impl::self() const {
  ops::self_report out;
  out.version = BINNACLE_VERSION;
  out.replica = options.replica_id;
  out.cluster = options.cluster;
  out.mode = kubernetes ? "kubernetes" : "standalone";
  out.started = started;
  out.listeners = listeners();
  out.certificates = certificate_reports();
  if (nodes.judging_stopped(boot_clock::now()))
    out.warnings.push_back(
        "nothing has been judged for more than five seconds, so onMissing decides: the ingest loop is stuck; "
        "look at its log and its thread, and start it again");
  if (options.unsafe)
    out.warnings.push_back("the extender speaks plain HTTP to anybody (--unsafe): for trials only");
  for (const auto& [use, why] : *renewal_troubles) out.warnings.push_back(why);
  for (const std::string& why : ingest.certificate_troubles) out.warnings.push_back(why);
  if (!ingest.state.trouble.empty()) out.warnings.push_back(ingest.state.trouble);
  if (remote_write) {
    if (const auto w = remote_write->counted(); !w.trouble.empty())
      out.warnings.push_back(fmt::format("remote write: {}", w.trouble));
  }
  if (ingest.state.left_out > 0)
    out.warnings.push_back(
        fmt::format("the state file has no room for {} windows and states of nodes, which begin again after "
                    "a restart: use shorter or fewer windows, or raise policy-memory-mib",
                    ingest.state.left_out));
  if (kubernetes) {
    cluster_report known = kubernetes->state();
    for (std::string& trouble : known.troubles) out.warnings.push_back(std::move(trouble));
    std::string writers = kube::writers_warning(known.policy_writers);
    if (options.label_namespaces.empty() && !writers.empty()) out.warnings.push_back(std::move(writers));
    if (std::string trouble = gate->trouble(); !trouble.empty()) out.warnings.push_back(std::move(trouble));
  }
  const auto strange = kubernetes ? kubernetes->nodes_without_object() : std::vector<std::string>();
  for (std::vector<std::string> cause :
       {power_warnings(power.outliers().named()), claim_warnings(ingest.contests),
        session_warnings(ingest.repeated_ends), registration_warnings(strange),
        score_warnings(extend.stats().last_beyond, boot_clock::now()),
        denial_warnings(denials(), boot_clock::now()), id_warnings(ingest.ids_given, ingest.most_ids),
        policy::cost_warnings(ingest.costs)})
    std::ranges::move(cause, std::back_inserter(out.warnings));
  return out;
}

ops::policy_report faces_loop::impl::about_policies() const {
  return {ingest.problems, ingest.conditions, ingest.costs};
}

// SIGTERM, SIGINT, SIGHUP: not ready, but served on until callers know (a scheduler that is refused places
// pods without us); then no new connections, running requests end, then everything.
// Columns that one request started, and nobody asks for any more.
task<void> faces_loop::impl::keep_ending_windows() {
  for (;;) {
    co_await async::sleep_for(std::chrono::seconds(10));
    windows->end_idle(boot_clock::now());
  }
}

/// Gives the writer all rows, which it reads for itself; the replica that does not lead leaves it to the
/// other.
task<void> faces_loop::impl::keep_exporting() {
  async::periodic_timer timer(loop, options.remote_write_interval);
  for (;;) {
    co_await timer.next();
    if (kubernetes && options.remote_write_by == sender::leader && !kubernetes->state().leads) {
      remote_write->rest();
      continue;
    }
    exporter::fleet all;
    all.reserve(nodes.nodes().size());
    for (const auto& [name, node] : nodes.nodes()) {
      if (node->cells != nullptr) all.push_back({name, node->cells});
    }
    remote_write->take(std::move(all));
  }
}

task<void> faces_loop::impl::wait_for_signal(std::function<void()> on_signal) {
  using namespace boost::asio::experimental::awaitable_operators;
  const int number = co_await async::stop_signal();
  const auto grace = std::chrono::duration_cast<std::chrono::milliseconds>(options.drain);
  log.info(
      "{}: stopping; /readyz fails, and requests are served for another {} ms (a second signal ends the "
      "program at once)",
      number == SIGTERM  ? "SIGTERM"
      : number == SIGHUP ? "SIGHUP"
                         : "SIGINT",
      grace.count());
  stopping = true;
  for (face_server& s : servers) s.server->retire();
  const auto over = co_await (async::stop_signal() || async::wait_until(async::within(grace)));
  const bool hurried = over.index() == 0;
  on_signal();
  if (kubernetes) co_await kubernetes->stop(async::within(std::chrono::seconds(1)));
  stop_servers(hurried ? std::chrono::milliseconds(0) : grace);
}

// Health, the last that was opened, closes after the others: until then it says that we are not ready.
void faces_loop::impl::stop_servers(std::chrono::milliseconds grace) {
  servers_open = servers.size() - 1;
  for (std::size_t i = 0; i + 1 < servers.size(); ++i) {
    servers[i].server->stop(grace, [this] {
      if (--servers_open == 0)
        servers.back().server->stop(std::chrono::milliseconds(0), [this] { loop.stop(); });
    });
  }
}

faces_loop::faces_loop(const settings& s, const descriptor_plan& room,
                       std::shared_ptr<const metrics::alias_table> names, logger log)
    : impl_(std::make_unique<impl>(s, room, std::move(names), std::move(log))) {}
faces_loop::~faces_loop() = default;

faces_inbox& faces_loop::inbox() noexcept { return *impl_; }

result<void> faces_loop::start(ingest_inbox& writer) {
  impl& self = *impl_;
  const settings& s = self.options;
  if (s.mode() == deployment_mode::in_cluster) {
    auto opened = cluster::open(s, self.log.part("kubernetes"));
    if (opened.has_error()) return opened.error();
    self.kubernetes = std::move(*opened);
    self.gate =
        std::make_unique<callers::gatekeeper>(self.loop, self.kubernetes->api(), self.log.part("callers"));
    if (!s.agents_account.empty())
      self.agents = std::make_unique<callers::agent_tokens>(self.loop, self.kubernetes->api(),
                                                            s.agents_audience, self.log.part("agents"));
  }
  self.nodes.set_heartbeat(writer.heart());
  self.make_apis(writer);
  self.make_state_route(writer);

  auto strict = self.load(tls::client_certificate::required);
  if (strict.has_error()) return strict.error();
  auto lenient = self.load(tls::client_certificate::optional);
  if (lenient.has_error()) return lenient.error();

  http::router extender_routes, metrics_routes, ops_routes, health_routes;
  self.extend.routes(extender_routes);
  self.metrics_api->mount(metrics_routes);
  self.ops_api->mount(ops_routes);
  self.state_route->mount(ops_routes);
  http::guard by_resource, by_path;
  if (self.gate) {
    by_resource = self.gate->guard(callers::resource_attributes, as_status);
    by_path = self.gate->guard(callers::path_attributes, as_sentence);
  }
  const auto in_words = [](std::string_view sentence) { return as_sentence(403, "Forbidden", sentence); };
  const auto in_status = [](std::string_view sentence) { return as_status(403, "Forbidden", sentence); };
  extender_routes.set_guard(callers::named_only(s.extender_callers, nullptr, in_words));
  metrics_routes.set_guard(callers::named_only(s.metrics_callers, std::move(by_resource), in_status));
  const http::guard of_ops = callers::named_only(s.ops_callers, std::move(by_path), in_words);
  // No right of the API server's opens what is for replicas, which check each other.
  ops_routes.set_guard([of_ops](const http::request& r, http::guard_answer then) {
    if (!of_ops || replicas::state_route::is_for(r)) return then(std::nullopt);
    of_ops(r, std::move(then));
  });
  http::mount_health(health_routes, self.health());
  if (s.unsafe) self.log.warning("the extender speaks plain HTTP to anybody (--unsafe): for trials only");
  for (auto&& served :
       {self.serve("extender", s.extender_port, self.room.extender, s.unsafe ? nullptr : *strict,
                   std::move(extender_routes)),
        self.serve("custom metrics", s.metrics_port, self.room.metrics, *lenient, std::move(metrics_routes)),
        self.serve("ops", s.ops_port, self.room.ops, *lenient, std::move(ops_routes)),
        self.serve("health", s.health_port, self.room.health, nullptr, std::move(health_routes))}) {
    if (served.has_error()) return served.error();
  }
  if (self.kubernetes)
    self.kubernetes->start(self.loop, writer,
                           {self.nodes, self.ingest, self.extend.placed(), self.decisions});
  if (self.gate) self.gate->start();
  self.tasks.keep("comparing power", [&self] { return self.power.keep_looking(); });
  self.tasks.keep("ending windows", [&self] { return self.keep_ending_windows(); });
  if (!s.remote_write.empty()) {
    auto opened = exporter::exporter::open(export_settings(s), self.log.part("remote write"));
    if (opened.has_error()) return opened.error();
    self.remote_write = std::move(*opened);
    self.tasks.keep("remote write", [&self] { return self.keep_exporting(); });
    self.log.info("readings are written to {} every {}", s.remote_write, human(s.remote_write_interval));
  }
  for (const auto& context : self.certificates)
    self.tasks.spawn("certificates", async::follow_files(context, "certificate of the faces", self.log,
                                                         std::chrono::seconds(2), self.renewal_troubles));
  return {};
}

void faces_loop::run(std::function<void()> on_signal) {
  impl_->tasks.spawn("signals", impl_->wait_for_signal(std::move(on_signal)));
  async::run(impl_->loop, impl_->log);
  // The columns they started are on the ingest loop, which is still there.
  impl_->ops_api.reset();
  impl_->state_route.reset();
  impl_->metrics_api.reset();
  impl_->windows.reset();
}

}  // namespace binnacle::aggregator
