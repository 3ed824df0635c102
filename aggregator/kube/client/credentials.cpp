#include "aggregator/kube/client/credentials.hpp"

#include "aggregator/kube/client/exec_credential.hpp"
#include "aggregator/kube/client/token.hpp"
#include "common/async/run_program.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/system/read_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace binnacle::kube {

using async::deadline;
using async::task;

namespace {

constexpr auto plugin_deadline = std::chrono::seconds(30);
constexpr duration leeway = std::chrono::seconds(10);  // before a credential's end
constexpr duration least_freshness =
    std::chrono::seconds(10);  // a plug-in costs a process, often a call abroad

constexpr std::size_t most_secret = 1u << 20;  // bytes of a token or of a bundle of CAs

}  // namespace

struct credentials::impl {
  impl(access a, logger l) : to(std::move(a)), log(std::move(l)) {}

  result<void> build_tls();
  result<void> read_token();
  task<result<void>> run_plugin();
  result<void> take(exec_credential given);
  void tell(const result<void>& outcome, const std::string& what);

  access to;  // with the plug-in's certificate, when it gives one
  const logger log;
  std::shared_ptr<tls::context> security;  // null: plain HTTP
  token_cache fresh;                       // of the file or the plug-in; its value is the token
  bool failing = false;
  bool plugin_runs = false;
  instant plugin_ran{};
  std::vector<async::event*> waiting;          // for the plug-in that runs
  std::unique_ptr<async::task_group> running;  // its task; from the first one on
};

// A caller that waits for the plug-in, and may be cancelled while it waits.
struct credentials::waiter {
  waiter(credentials::impl& in, const async::executor& on)
      : room(in), done(std::make_unique<async::event>(on)) {
    room.waiting.push_back(done.get());
  }
  ~waiter() { std::erase(room.waiting, done.get()); }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  credentials::impl& room;
  std::unique_ptr<async::event> done;
};

// Lets the waiting callers go on when the coroutine that runs the plug-in ends, even by an exception.
struct credentials::plugin_run {
  explicit plugin_run(credentials::impl& in) : room(in) {}
  ~plugin_run() {
    room.plugin_runs = false;
    for (async::event* e : room.waiting) e->notify();
  }
  plugin_run(const plugin_run&) = delete;
  plugin_run& operator=(const plugin_run&) = delete;
  credentials::impl& room;
};

result<void> credentials::impl::build_tls() {
  if (!to.secure) return {};
  auto loaded = tls::context::load(to.tls);
  if (loaded.has_error())
    return error{loaded.error().code, fmt::format("{}: {}", to.url(), loaded.error().message)};
  security = std::move(*loaded);
  return {};
}

// The file is opened by its path every time, because Kubernetes swaps a link when it rotates the token.
result<void> credentials::impl::read_token() {
  auto text = read_file(to.token_file, most_secret);
  if (text.has_error()) return text.error();
  return fresh.took(std::move(*text), boot_clock::now() + token_cache::file_freshness);
}

task<result<void>> credentials::impl::run_plugin() {
  const exec_plugin& plugin = *to.plugin;
  std::string authority = to.tls.text.authority;
  if (authority.empty() && !to.tls.pem.authority.empty()) {
    if (auto text = read_file(to.tls.pem.authority, most_secret); text.has_value())
      authority = std::move(*text);
  }
  async::program what{plugin.command, plugin.arguments, plugin.environment};
  what.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(to, authority));
  auto ended = co_await async::run_program(std::move(what), async::within(plugin_deadline));
  if (ended.has_error()) {
    const bool missing = ended.error().code == errc::not_found && !plugin.install_hint.empty();
    co_return error{ended.error().code, ended.error().message + (missing ? "; " + plugin.install_hint : "")};
  }
  // Its standard error may hold secrets, so only the exit status is reported. A person can run the program to
  // see more.
  if (ended->status != 0)
    co_return error{errc::permission, fmt::format("{} ended with status {}: run it by hand to see why",
                                                  plugin.command, ended->status)};
  auto given = parse_exec_credential(ended->output, plugin.api_version);
  if (given.has_error()) co_return error{given.error().code, plugin.command + ": " + given.error().message};
  co_return take(std::move(*given));
}

result<void> credentials::impl::take(exec_credential given) {
  const instant now = boot_clock::now();
  instant until = instant::max();
  if (given.expires) {
    const auto left = std::chrono::duration_cast<duration>(*given.expires - std::chrono::system_clock::now());
    until = now + std::max(left - leeway, least_freshness);
  }
  if (!given.certificate.empty() && given.certificate != to.tls.text.certificate) {
    to.tls.text.certificate = std::move(given.certificate);
    to.tls.text.key = std::move(given.key);
    if (auto built = build_tls(); built.has_error()) return built;
  }
  if (!given.token.empty()) return fresh.took(std::move(given.token), until);
  fresh.keep(until);
  return {};
}

void credentials::impl::tell(const result<void>& outcome, const std::string& what) {
  if (outcome.has_error()) {
    fresh.failed(boot_clock::now());
    if (!failing) log.error("{}: {}; what was there before stays in use", what, outcome.error().message);
  } else if (failing) {
    log.info("{}: in order again", what);
  }
  failing = outcome.has_error();
}

credentials::credentials(std::shared_ptr<impl> i) : impl_(std::move(i)) {}
credentials::~credentials() {
  if (impl_->running) impl_->running->cancel();
}

result<std::shared_ptr<credentials>> credentials::open(access to, logger log) {
  auto made = std::make_shared<impl>(std::move(to), std::move(log));
  if (auto built = made->build_tls(); built.has_error()) return built.error();
  return std::shared_ptr<credentials>(new credentials(std::move(made)));
}

task<void> credentials::run_to_end(std::shared_ptr<impl> self) {
  const plugin_run until_it_ends(*self);
  auto outcome = co_await self->run_plugin();
  self->tell(outcome, "the credentials plug-in");
}

task<result<void>> credentials::refresh(deadline until) {
  const std::shared_ptr<impl> held = impl_;
  impl& self = *held;
  const instant now = boot_clock::now();
  if (!self.fresh.is_due(now)) co_return result<void>();
  if (!self.to.token_file.empty()) {
    self.tell(self.read_token(), "the token file " + self.to.token_file);
  } else if (self.to.plugin) {
    const auto executor = co_await boost::asio::this_coro::executor;
    const waiter in_line(self, executor);
    if (!self.plugin_runs) {
      self.plugin_runs = true;
      self.plugin_ran = now;
      if (!self.running) self.running = std::make_unique<async::task_group>(executor.context(), self.log);
      self.running->spawn("credentials plug-in", run_to_end(held));
    }
    const bool ended = co_await in_line.done->wait(until);
    if (!ended)
      co_return error{errc::timeout, fmt::format("{}, which gives the credentials, has not ended in time",
                                                 self.to.plugin->command)};
  }
  co_return result<void>();
}

bool credentials::refused() {
  if (impl_->to.token_file.empty() && !impl_->to.plugin) return false;
  if (impl_->to.plugin && boot_clock::now() - impl_->plugin_ran < least_freshness) return false;
  impl_->fresh.refused();
  return true;
}

const std::string& credentials::token() const noexcept {
  return impl_->to.token.empty() ? impl_->fresh.value() : impl_->to.token;
}

const access& credentials::shown() const noexcept { return impl_->to; }

// Each new connection costs a few stat(2) calls, because certificates and authorities are rotated in place.
std::shared_ptr<SSL_CTX> credentials::tls() {
  if (!impl_->security) return nullptr;
  if (const auto reloaded = impl_->security->reload_if_changed(); reloaded.has_error())
    impl_->log.error("credentials for {}: {}", impl_->to.url(), reloaded.error().message);
  return impl_->security->current();
}

}  // namespace binnacle::kube
