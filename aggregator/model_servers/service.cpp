#include "aggregator/model_servers/service.hpp"

#include "aggregator/kube/objects/follow.hpp"
#include "aggregator/model_servers/worker.hpp"
#include "common/async/follow_files.hpp"

#include <random>
#include <utility>

namespace binnacle::model_servers {
namespace {

constexpr auto between_looks = std::chrono::milliseconds(200);
constexpr auto between_looks_for_faults = std::chrono::seconds(1);  // while nobody may be asked
constexpr auto between_parts = std::chrono::milliseconds(50);       // of a look that was ended by its time
constexpr std::size_t most_clients = 64;
constexpr auto between_log_lines = std::chrono::seconds(5);

}  // namespace

void worker::log_troubles(instant now) {
  if (now - logged_at < between_log_lines) return;
  logged_at = now;
  const auto lines = logged.changes(questions.all_ill(with->nodes.learned_counts()), now);
  for (const std::string& one : lines.warnings) log.warning("{}", one);
  if (!lines.relief.empty()) log.info("{}", lines.relief);
}

async::task<void> worker::keep_asking(std::shared_ptr<worker> self) {
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
