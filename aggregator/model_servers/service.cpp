#include "aggregator/model_servers/service.hpp"

#include "aggregator/kube/objects/follow.hpp"
#include "aggregator/kube/objects/reflector.hpp"
#include "aggregator/model_servers/allowed.hpp"
#include "aggregator/model_servers/complaints.hpp"
#include "aggregator/model_servers/endpoint_providers.hpp"
#include "aggregator/model_servers/message.hpp"
#include "aggregator/model_servers/node_addresses.hpp"
#include "aggregator/model_servers/node_configs.hpp"
#include "aggregator/model_servers/node_model.hpp"
#include "aggregator/model_servers/passwords.hpp"
#include "aggregator/model_servers/trouble_log.hpp"
#include "aggregator/store/hardware.hpp"
#include "common/async/follow_files.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/grpc/client.hpp"
#include "common/http/client/client.hpp"
#include "common/tls/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <utility>

namespace binnacle::model_servers {
namespace {

using async::task;

constexpr auto between_looks = std::chrono::milliseconds(200);
constexpr auto between_looks_for_faults = std::chrono::seconds(1);  // while nobody may be asked
constexpr auto between_object_looks = std::chrono::seconds(5);
constexpr auto between_parts = std::chrono::milliseconds(50);  // of a look that was ended by its time
// The scheduler's calls come first: 500 nodes usually take a millisecond, but templates are others' texts.
constexpr std::size_t nodes_a_look = 500;
constexpr auto longest_look = std::chrono::milliseconds(3);
constexpr auto deadline_of_a_call = std::chrono::milliseconds(500);
constexpr auto deadline_of_a_secret = std::chrono::seconds(5);
constexpr auto deadline_of_a_provider = std::chrono::seconds(3);  // as WAO's
constexpr std::size_t most_answer_bytes = std::size_t{1} << 20;
constexpr std::size_t most_provider_bytes = std::size_t{64} << 10;
constexpr std::size_t most_clients = 64;
constexpr auto between_log_lines = std::chrono::seconds(5);

/// What the coroutines use. Each coroutine holds a reference, so it lives until all have ended, even after
/// the service.
struct worker : std::enable_shared_from_this<worker> {
  worker(allowed_servers a, std::shared_ptr<tls::context> rest, std::shared_ptr<tls::context> grpc,
         std::string secrets_of, logger l)
      : allowed(std::move(a)),
        security(std::move(rest)),
        grpc_security(std::move(grpc)),
        log(std::move(l)),
        secrets(std::move(secrets_of)),
        providers(std::random_device{}()),
        questions(std::random_device{}()) {}

  using formats = std::array<bool, policy::cpu_formats>;
  struct demand {
    formats wanted{};       // by policies that may use served models
    bool predicts = false;  // some policy has minimizepower
    bool any() const {
      return std::ranges::any_of(wanted, [](bool w) { return w; });
    }
  };
  demand asked_for() const;
  void forget_all();
  void look(instant now);
  void look_at(const store::node_view& node, const formats& wanted, instant now);
  /// The model of a node.
  struct choice {
    std::optional<named_model> model;      // none: nothing names one
    std::vector<named_model> passed_over;  // others that name none
    std::string note;  // what is wrong with its endpoint provider, in the words for this node; empty: nothing
  };
  choice model_of(const std::string& node, instant now);
  void ask_provider_of(choice& c, instant now);
  void follow(std::unique_ptr<kube::reflector> one);
  void look_at_objects(instant now);
  void log_troubles(instant now);
  http::client& client_of(const served_model& m);
  grpc::client& grpc_client_of(const served_model& m);
  void start(async::loop& on, service::parts p);
  std::vector<std::string> troubles() const;
  bool may_ask(const std::string& secret, bool secure) const;
  task<result<reply>> ask_by_rest(const asker::call& c, const std::string& authorization);
  task<result<reply>> ask_by_grpc(const asker::call& c, const std::string& authorization);
  static task<void> ask(std::shared_ptr<worker> self, asker::call c, std::string authorization);
  static task<void> read_secret(std::shared_ptr<worker> self, http::call what);
  static task<void> ask_provider(std::shared_ptr<worker> self, endpoint_providers::call first,
                                 std::string authorization);
  static task<void> keep_asking(std::shared_ptr<worker> self);

  const allowed_servers allowed;
  const std::shared_ptr<tls::context> security;       // of https; null: nobody may be asked
  const std::shared_ptr<tls::context> grpc_security;  // of grpcs, which offers HTTP/2
  const logger log;
  passwords secrets;
  endpoint_providers providers;
  asker questions;
  node_configs configs;
  node_addresses addresses;  // followed once a template asks for them
  std::vector<std::unique_ptr<kube::reflector>> followers;
  complaints wrong;
  instant objects_looked_at{};
  bool all_objects = true;  // were looked at then
  bool in_parts = false;    // the last look was ended by its time
  std::unique_ptr<service::parts> with;
  std::map<std::string, std::unique_ptr<http::client>> clients;  // by scheme and server
  std::map<std::string, std::unique_ptr<grpc::client>> grpc_clients;
  // The last question of each node and format, so that inputs between two steps cause no new question.
  std::vector<std::array<std::optional<question>, policy::cpu_formats>> last;
  std::string last_looked_at;
  bool idle = true;
  trouble_log logged;
  instant logged_at{};
  std::unique_ptr<async::event> answered;
  std::unique_ptr<async::task_group> running;  // last: it uses all of these
};

worker::demand worker::asked_for() const {
  demand out;
  for (const auto& [key, policy] : with->nodes.policies()) {
    for (const policy::published_strategy& s : policy->strategies) {
      if (!policy::description_of(s.kind).predicts_watts()) continue;
      out.predicts = true;
      if (s.power.takes_served()) out.wanted[static_cast<std::size_t>(s.power.format)] = true;
    }
  }
  return out;
}

void worker::forget_all() {
  with->nodes.forget_served();
  last.clear();
}

label_look_up look_up_of(const kube::node_objects::node& object) {
  return [&object](std::string_view key) { return object.labels.find(key); };
}

/// Puts in the model that the object's endpoint provider says, or what is wrong with that. The provider goes
/// before the endpoint that is written down, as in WAO, which counts only while the provider has a fault.
void worker::ask_provider_of(choice& c, instant now) {
  named_model& named = *c.model;
  const endpoint_provider from = *named.model->provider;
  const served_model* said = nullptr;
  endpoint_providers::fault trouble;
  if (allowed.allow(from.host, from.port)) {
    said = providers.want(from, now);
    trouble = providers.fault_of(from);
    if (!from.secret.empty()) {
      secrets.want(from.secret, now);
      if (secrets.header(from.secret) == nullptr) trouble = {secrets.trouble(from.secret), {}};
    }
  } else {
    trouble.what = fmt::format(
        "the server {} of its powerConsumptionEndpointProvider is not in model-servers, so it is not asked "
        "where the model is: list it there (in the chart aggregator.modelServers)",
        from.server());
  }
  // The sentence for people who look at the object; the note gets it in the words for this node.
  const auto sentence = [&](std::string_view then) {
    c.note = fmt::format("{}{}{}{}", trouble.what, trouble.why.empty() ? "" : ": ", trouble.why, then);
    return fmt::format("{}{}{}", trouble.what, trouble.why.empty() ? "" : ", as `binnacle power NODE` says",
                       then);
  };
  served_model& model = named.model->model;
  if (said != nullptr) {
    if (!said->secure && !model.secret.empty()) {
      named.model = invalid(
          "its powerConsumptionEndpointProvider names a model without TLS, and predictor.powerConsumption a "
          "basicAuthSecret, which everybody on the way could read: have it name an https or grpcs URL");
      return;
    }
    std::string secret = std::move(model.secret);
    model = *said;
    model.secret = std::move(secret);
    if (!trouble.what.empty())
      named.model->remark = sentence("; the model that it named last counts for an hour");
  } else if (trouble.what.empty()) {
    named.model =
        error{errc::not_found, "its powerConsumptionEndpointProvider has not said yet where its model is"};
  } else if (model.host.empty() || !allowed.allow(model.host, model.port)) {
    named.model = error{errc::not_found, sentence("")};
  } else {
    named.model->remark = sentence("; meanwhile the endpoint of predictor.powerConsumption is asked");
  }
}

/// The model of a node. Objects go before labels, because they are WAO's newer form.
worker::choice worker::model_of(const std::string& node, instant now) {
  choice c;
  auto& out = c.model;
  const kube::node_objects::node* object = with->object_of(node);
  label_look_up labels;
  if (object != nullptr) labels = look_up_of(*object);
  out = configs.find({node, labels, addresses.find(node)}, &c.passed_over);
  if (labels && (!out || out->model.has_error())) {
    if (auto read = model_by_labels(labels); read && (!out || read->has_value())) {
      if (out) c.passed_over.push_back(*std::move(out));
      out = {"its labels", std::move(*read), {"Node", "v1", "", node, object->uid}};
    }
  }
  if (!out || out->model.has_error()) return c;
  // If nobody may be asked, the sentence is the same for all objects, so that the status says it once.
  if (allowed.empty()) {
    out->model = error{errc::permission,
                       "its model is not asked, because model-servers lists no server: list those of models "
                       "there (in the chart aggregator.modelServers)"};
    return c;
  }
  const bool provided = out->model->provider.has_value();
  if (provided) ask_provider_of(c, now);
  if (out->model.has_error()) return c;
  const served_model& model = out->model->model;
  if (!allowed.allow(model.host, model.port)) {
    c.note.clear();
    out->model = error{
        errc::permission,
        fmt::format("the server {}{} is not in model-servers, so its model is not asked: list it "
                    "there (in the chart aggregator.modelServers)",
                    model.server(), provided ? ", which its powerConsumptionEndpointProvider names," : "")};
  }
  return c;
}

void worker::look_at(const store::node_view& node, const formats& wanted, instant now) {
  policy::view& nodes = with->nodes;
  const std::uint32_t id = store::index(node.id);
  if (last.size() <= id) last.resize(id + 1);
  const choice chosen = model_of(node.name, now);
  const auto& model = chosen.model;
  const double cores =
      node.cells == nullptr ? 0 : store::first_present(*node.cells, policy::cpus_metric, now).value;
  std::string note;
  if (const auto* const object = with->object_of(node.name))
    configs.complain_of({node.name, look_up_of(*object), {}}, wrong, now, model ? &*model : nullptr);
  for (const named_model& one : chosen.passed_over) wrong.add(one.about, one.model.error().message, now);
  if (model && model->model.has_error()) {
    note = fmt::format("{}: {}", model->object,
                       chosen.note.empty() ? model->model.error().message : chosen.note);
    wrong.add(model->about, model->model.error().message, now);
  } else if (model && !model->model->remark.empty()) {
    wrong.add(model->about, model->model->remark, now);
  }
  std::string unknown_password;
  if (model && model->model.has_value() && !model->model->model.secret.empty()) {
    const std::string& secret = model->model->model.secret;
    secrets.want(secret, now);
    if (std::string why = secrets.trouble(secret); !why.empty()) {
      unknown_password = fmt::format("{}: {}", model->object, why);
      wrong.add(model->about,
                fmt::format("{}; meanwhile nodes use the last curve for an hour, {}", why,
                            after_last_curve(nodes.learned_counts())),
                now);
    }
  }
  for (std::size_t f = 0; f < policy::cpu_formats; ++f) {
    predict::model_table& table = nodes.served(static_cast<policy::cpu_format>(f));
    std::shared_ptr<const predict::model> known;
    if (!wanted[f] || !model || model->model.has_error()) {
      last[id][f].reset();
    } else if (cores <= 0) {
      known = table.share(id);  // the cores are not known now: keep the old curve
    } else {
      auto& before = last[id][f];
      // An answer that another model gave, or that another password got, is none of this node.
      const bool same = before && before->model == model->model->model;
      const readings measured = readings_of(*node.cells, now);
      before = question_of(*model->model, measured, cores, static_cast<policy::cpu_format>(f),
                           before ? &*before : nullptr);
      known = questions.want(*before, now);
      if (note.empty()) note = unknown_password;
      if (note.empty()) note = questions.trouble(*before);
      for (std::string& why : assumptions_of(*before)) wrong.add(model->about, std::move(why), now);
      for (std::string& why : limits_of(*model->model, measured))
        wrong.add(model->about, std::move(why), now);
      // Until there is an answer for the new inputs, the answer for the old ones counts, up to its usual age.
      const predict::model* old = table.find(id);
      if (known == nullptr && old != nullptr && same && old->power.cores() == cores &&
          now - old->made < asker::counts_for)
        known = table.share(id);
    }
    if (table.share(id) != known) table.set(id, std::move(known));
  }
  if (note.empty() && !chosen.note.empty()) note = fmt::format("{}: {}", model->object, chosen.note);
  nodes.set_served_note(id, std::move(note));
}

/// Looks at some of the nodes, as many as the time allows; the next call goes on with the next ones.
void worker::look(instant now) {
  in_parts = false;
  const demand now_wanted = asked_for();
  // If nobody may be asked, those are told as well who have no policy yet, but not those who chose to learn.
  const bool to_be_told = allowed.empty() && !now_wanted.predicts;
  if (!now_wanted.any() && !to_be_told) {
    if (!std::exchange(idle, true)) forget_all();
    return;
  }
  idle = false;
  const auto& all = with->nodes.nodes();
  auto at = all.upper_bound(last_looked_at);
  for (std::size_t left = std::min(nodes_a_look, all.size()); left > 0 && !in_parts; --left, ++at) {
    if (at == all.end()) at = all.begin();
    look_at(*at->second, now_wanted.wanted, now);
    last_looked_at = at->first;
    in_parts = left > 1 && boot_clock::now() - now >= longest_look;
  }
}

/// Collects the faults of objects that do not depend on nodes, and writes events about all faults.
void worker::look_at_objects(instant now) {
  if (all_objects && now - objects_looked_at < between_object_looks) return;
  objects_looked_at = now;
  const instant begin = boot_clock::now();
  const auto enough = [begin] { return boot_clock::now() - begin >= longest_look; };
  all_objects = idle || configs.complain(wrong, now, enough);
  if (!all_objects) return;
  for (std::size_t i = 0; i < node_configs::collections; ++i) {
    if (configs.take_freed(i)) followers[i]->read_again();
  }
  wrong.end_old(now);
  wrong.say(now, [this](kube::note n) { return with->say(std::move(n)); });
  if (configs.need_addresses() && followers.size() == node_configs::collections)
    follow(
        std::make_unique<kube::reflector>(node_addresses::collection(), addresses, std::random_device{}()));
}

/// The function by which a client gets the present TLS context; empty for servers without TLS.
std::function<std::shared_ptr<SSL_CTX>()> current_of(const std::shared_ptr<tls::context>& security,
                                                     bool secure) {
  if (!secure) return {};
  return [security] { return security->current(); };
}

http::client& worker::client_of(const served_model& m) {
  auto& there = clients[fmt::format("{}{}", m.scheme(), m.server())];
  if (there) return *there;
  http::server_address where;
  where.host = m.host;
  where.port = m.port;
  there =
      std::make_unique<http::client>(std::move(where), current_of(security, m.secure), "binnacle-aggregator");
  return *there;
}

grpc::client& worker::grpc_client_of(const served_model& m) {
  auto& there = grpc_clients[fmt::format("{}{}", m.scheme(), m.server())];
  if (!there) {
    there = std::make_unique<grpc::client>(endpoint{m.host, m.port}, current_of(grpc_security, m.secure),
                                           "binnacle-aggregator");
  }
  return *there;
}

/// A password goes over TLS only; read_node_config() has refused all else.
bool worker::may_ask(const std::string& secret, bool secure) const {
  return secret.empty() || (secure && secrets.header(secret) != nullptr);
}

task<result<reply>> worker::ask_by_rest(const asker::call& c, const std::string& authorization) {
  http::call what;
  if (c.for_metadata()) {
    what.target = c.about.model.metadata_path();
  } else {
    what.method = "POST";
    what.target = c.about.model.path;
    what.headers = {{"Content-Type", "application/json"}};
    what.body = body_of(c.about, c.first, c.count, c.input);
  }
  if (!authorization.empty()) what.headers.emplace_back("Authorization", authorization);
  what.most_bytes = most_answer_bytes;
  auto got = co_await client_of(c.about.model).ask(std::move(what), async::within(deadline_of_a_call));
  if (got.has_error()) co_return got.error();
  co_return reply_of(*got, c.count, c.about.model.secret);
}

task<result<reply>> worker::ask_by_grpc(const asker::call& c, const std::string& authorization) {
  grpc::call what;
  what.authorization = authorization;
  what.method = c.for_metadata() ? metadata_method : method_of(c.about.model.speaks);
  what.message =
      c.for_metadata() ? metadata_message_of(c.about.model) : message_of(c.about, c.first, c.count, c.input);
  auto got = co_await grpc_client_of(c.about.model).ask(std::move(what), async::within(deadline_of_a_call));
  if (got.has_error()) co_return got.error();
  co_return reply_of(*got, c.count, c.about.model.secret);
}

task<void> worker::ask(std::shared_ptr<worker> self, asker::call c, std::string authorization) {
  const bool by_grpc = c.about.model.by == carrier::grpc;
  auto asked = by_grpc ? self->ask_by_grpc(c, authorization) : self->ask_by_rest(c, authorization);
  const auto got = co_await std::move(asked);
  const instant now = boot_clock::now();
  if (got.has_value() && got->unauthenticated) self->secrets.refused(c.about.model.secret, now);
  self->questions.answered(c, got, now);
  self->answered->notify();
}

task<void> worker::read_secret(std::shared_ptr<worker> self, http::call what) {
  const auto got = co_await self->with->api->ask(std::move(what), async::within(deadline_of_a_secret));
  const instant now = boot_clock::now();
  if (const auto changed = self->secrets.answered(got, now)) {
    self->questions.ask_at_once(*changed);
    self->providers.ask_at_once(*changed, now);
  }
  self->answered->notify();
}

/// Holds a conversation with an endpoint provider. Its connection ends with it: the next one is a quarter of
/// an hour later, and there may be as many providers as nodes.
task<void> worker::ask_provider(std::shared_ptr<worker> self, endpoint_providers::call first,
                                std::string authorization) {
  http::server_address where;
  where.host = first.about.host;
  where.port = first.about.port;
  auto security_of_it = current_of(self->security, first.about.secure);
  http::client server(std::move(where), std::move(security_of_it), "binnacle-aggregator");
  std::optional<endpoint_providers::call> next = std::move(first);
  while (next) {
    http::call what;
    what.target = next->target();
    what.headers = {{"Accept", "application/json"}};
    if (!authorization.empty()) what.headers.emplace_back("Authorization", authorization);
    what.most_bytes = most_provider_bytes;
    const auto got = co_await server.ask(std::move(what), async::within(deadline_of_a_provider));
    const instant now = boot_clock::now();
    if (got.has_value() && got->status == 401) self->secrets.refused(next->about.secret, now);
    next = self->providers.answered(*next, got, now);
  }
  self->answered->notify();
}

void worker::log_troubles(instant now) {
  if (now - logged_at < between_log_lines) return;
  logged_at = now;
  const auto lines = logged.changes(questions.all_ill(with->nodes.learned_counts()), now);
  for (const std::string& one : lines.warnings) log.warning("{}", one);
  if (!lines.relief.empty()) log.info("{}", lines.relief);
}

task<void> worker::keep_asking(std::shared_ptr<worker> self) {
  for (;;) {
    const instant now = boot_clock::now();
    self->look(now);
    self->look_at_objects(now);
    if (auto due = self->secrets.next(now))
      self->running->spawn("secret", read_secret(self, *std::move(due)));
    auto to_providers = self->providers.next(
        now, [&self](const endpoint_provider& p) { return self->may_ask(p.secret, p.secure); });
    for (endpoint_providers::call& c : to_providers) {
      const std::string* const password = self->secrets.header(c.about.secret);
      std::string authorization = password == nullptr ? std::string() : *password;
      self->running->spawn("endpoint provider", ask_provider(self, std::move(c), std::move(authorization)));
    }
    auto calls = self->questions.next(
        now, [&self](const served_model& m) { return self->may_ask(m.secret, m.secure); });
    // Drops connections that are no longer needed. Running calls keep theirs.
    if (calls.empty() && self->clients.size() > most_clients) self->clients.clear();
    if (calls.empty() && self->grpc_clients.size() > most_clients) self->grpc_clients.clear();
    for (asker::call& c : calls) {
      const std::string* const password = self->secrets.header(c.about.model.secret);
      std::string authorization = password == nullptr ? std::string() : *password;
      self->running->spawn("model server", ask(self, std::move(c), std::move(authorization)));
    }
    self->log_troubles(now);
    duration pause = self->allowed.empty() ? between_looks_for_faults : between_looks;
    if (self->in_parts || !self->all_objects) pause = between_parts;
    const async::deadline until = async::within(pause);
    co_await self->answered->wait(until);
  }
}

void worker::follow(std::unique_ptr<kube::reflector> one) {
  kube::reflector& it = *followers.emplace_back(std::move(one));
  running->keep("WAO's objects",
                [self = shared_from_this(), &it] { return kube::follow(self->with->api, it, [self] {}); });
}

void worker::start(async::loop& on, service::parts p) {
  with = std::make_unique<service::parts>(std::move(p));
  answered = std::make_unique<async::event>(on);
  running = std::make_unique<async::task_group>(on, log);
  const auto self = shared_from_this();
  for (std::size_t i = 0; i < node_configs::collections; ++i)
    follow(std::make_unique<kube::reflector>(node_configs::collection(i), configs.watcher_of(i),
                                             std::random_device{}()));
  running->keep("model servers", [self] { return keep_asking(self); });
  if (allowed.empty()) return;
  running->keep("authority", [self] {
    return async::follow_files(self->security, "authority of model servers", self->log);
  });
  running->keep("authority for gRPC", [self] {
    return async::follow_files(self->grpc_security, "authority of model servers by gRPC", self->log);
  });
}

std::vector<std::string> worker::troubles() const {
  std::vector<std::string> out = questions.troubles(with->nodes.learned_counts());
  for (std::string& one : wrong.sentences(boot_clock::now())) out.push_back(std::move(one));
  if (allowed.empty()) return out;  // nobody needs the objects
  for (std::string& one : configs.troubles()) out.push_back(std::move(one));
  for (const auto& f : followers) {
    // A cluster without WAO has no such objects, which is no trouble.
    if (!f->trouble().empty() && !f->trouble().starts_with("the API server has no "))
      out.push_back(f->trouble());
  }
  return out;
}

}  // namespace

struct service::impl {
  explicit impl(std::shared_ptr<worker> w) : work(std::move(w)) {}
  ~impl() {
    if (work->running) work->running->cancel();
  }
  const std::shared_ptr<worker> work;
};

service::service(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
service::~service() = default;

result<std::unique_ptr<service>> service::open(const settings& s, logger log) {
  auto allowed = allowed_servers::read(s.servers);
  if (allowed.has_error()) return allowed.error();
  using shared = std::shared_ptr<tls::context>;
  const auto opened = [&](shared rest, shared grpc) {
    auto work = std::make_shared<worker>(std::move(*allowed), std::move(rest), std::move(grpc), s.secrets_of,
                                         std::move(log));
    return std::unique_ptr<service>(new service(std::make_unique<impl>(std::move(work))));
  };
  // The system's authorities take megabytes.
  if (allowed->empty()) return opened(nullptr, nullptr);
  const auto context_for = [&s](const char* alpn) {
    tls::options o;
    o.side = tls::role::client;
    o.pem.authority = s.authority;
    o.servers = s.authority.empty() ? tls::trust::system : tls::trust::authority;
    o.alpn = alpn;
    return tls::context::load(std::move(o));
  };
  auto rest = context_for("");
  if (rest.has_error()) return rest.error();
  auto grpc = context_for("h2");
  if (grpc.has_error()) return grpc.error();
  return opened(shared(std::move(*rest)), shared(std::move(*grpc)));
}

void service::start(async::loop& on, parts p) { impl_->work->start(on, std::move(p)); }
std::vector<std::string> service::troubles() const { return impl_->work->troubles(); }
const call_counters& service::counted() const noexcept { return impl_->work->questions.counted(); }
const provider_counters& service::counted_of_providers() const noexcept {
  return impl_->work->providers.counted();
}

}  // namespace binnacle::model_servers
