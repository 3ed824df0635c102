#include "cli/bridge/bridge.hpp"

#include "aggregator/kube/client/access.hpp"
#include "aggregator/kube/client/credentials.hpp"
#include "cli/bridge/forward.hpp"
#include "cli/bridge/overheard.hpp"
#include "cli/bridge/replicas.hpp"
#include "common/async/run_program.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/os_error.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <future>
#include <optional>
#include <ostream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace binnacle::cli::bridge {

using async::task;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 20s;         // for one call of kubectl; as long again for the forwards
constexpr auto login_patience = 3min;  // for a person at a terminal: a browser, a password, a second factor
constexpr auto glance = 2s;  // a call that ends earlier shows nothing; if it failed, the error has its words
constexpr auto shortest_pause = 1s, longest_pause = 15s;
constexpr auto pause_between_looks = 10s;  // between checks whether the kubeconfig's token ends soon

/// A file in memory without a name in any folder; only this process has a path to it. So nothing of it is
/// left, however the process ends. Source: memfd_create(2), proc(5).
class file_in_memory {
 public:
  /// Whoever opens the path from now on reads the whole of `text`. Errors: io.
  result<void> hold(std::string_view text) {
    descriptor fresh(::memfd_create("binnacle", MFD_CLOEXEC));
    if (!fresh || ::fchmod(fresh.get(), 0600) != 0 ||
        ::write(fresh.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return error{errc::io, fmt::format("a file in memory cannot be written: {}", describe(errno))};
    if (!held_) {
      held_ = std::move(fresh);
    } else if (::dup3(fresh.get(), held_.get(), O_CLOEXEC) < 0) {
      return error{errc::io, fmt::format("a file in memory cannot be replaced: {}", describe(errno))};
    }
    return {};
  }
  /// Empty before hold().
  std::string path() const { return held_ ? fmt::format("/proc/self/fd/{}", held_.get()) : ""; }

 private:
  descriptor held_;
};

/// Shows it if the call still runs after a glance.
task<void> show_later(std::weak_ptr<overheard> what) {
  co_await async::sleep_for(glance);
  if (const auto still = what.lock()) still->show();
}

}  // namespace

struct way::impl {
  impl(connection given, std::ostream* watching)
      : to(std::move(given)), cluster(to.cluster), person(watching) {
    to.cluster.config = kubeconfig_files(cluster);  // for what the command itself asks the API server
  }
  ~impl() {
    async::post(loop, [this] {
      group.cancel();
      work.reset();
    });
    if (thread.joinable()) thread.join();
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  /// The forward to one replica.
  struct lane {
    std::string pod;
    std::uint16_t port = 0;  // on loopback; 0 until the first forward is open
    std::optional<error> trouble;
  };

  std::vector<std::string> kubectl(std::vector<std::string> words) const;
  task<result<std::string>> ask(std::vector<std::string> words, overheard* heard = nullptr) const;
  task<result<tls::files>> read_secret() const;
  task<result<void>> find_authority();
  task<result<void>> find_identity();
  result<void> hold_identity();
  result<void> hold_certificate(const tls::files& text);
  error not_for_a_secrets_server(std::string_view token) const;
  task<result<replicas>> list(overheard* heard = nullptr) const;
  task<result<void>> begin();
  task<void> begin_and_tell(std::promise<result<void>>& outcome);
  task<void> keep(std::size_t which);
  task<void> keep_identity();

  connection to;
  const cluster_access cluster;
  std::ostream* const person;  // who waits at a terminal; null: nobody
  file_in_memory authority, certificate, key, token;
  const logger log{"bridge", log_level::off};
  async::loop loop{1};
  boost::asio::executor_work_guard<async::executor> work{loop.get_executor()};
  async::event changed{loop};  // some lane changed
  std::string service;
  std::vector<lane> lanes;
  std::optional<tls::files> secret;  // the chart's, as PEM text; set if only its CA says who the server is
  std::shared_ptr<kube::credentials> identity;  // null: `to` came with one
  std::string token_held, certificate_held;
  async::task_group group{loop, log};
  std::thread thread;
};

std::vector<std::string> way::impl::kubectl(std::vector<std::string> words) const {
  if (!cluster.context.empty()) words.insert(words.begin(), {"--context", cluster.context});
  words.insert(words.begin(), {"--namespace", cluster.name_space});
  return words;
}

// What kubectl prints. If it fails, the error has kubectl's own words, which name the user and the missing
// right. A person who is there to hear what kubectl says has the time to log in.
task<result<std::string>> way::impl::ask(std::vector<std::string> words, overheard* heard) const {
  const std::string what = fmt::format("kubectl {}", fmt::join(words, " "));
  async::program call{"kubectl", kubectl(std::move(words))};
  const auto until = heard == nullptr ? async::within(patience) : async::within(login_patience);
  if (heard != nullptr) call.hears_errors = [heard](std::string_view text) { heard->take(text); };
  const auto ended = co_await async::run_program(std::move(call), until, 16u << 20);
  if (ended.has_error()) {
    std::string why = ended.error().message;
    if (ended.error().code == errc::not_found) {
      why =
          "a kubeconfig alone needs kubectl, which is not in PATH: install it "
          "(kubernetes.io/docs/tasks/tools), or give --aggregator, --ca and --token-file";
    } else if (ended.error().code == errc::timeout) {
      why = fmt::format(
          "{}: {}; if kubectl wants a login, log in first, with the same kubeconfig and context: kubectl get "
          "--raw /version",
          what, why);
    }
    co_return error{ended.error().code, std::move(why)};
  }
  if (ended->status != 0) {
    const bool forbidden = ended->errors.find("orbidden") != ended->errors.npos;
    co_return error{
        forbidden ? errc::permission : errc::io,
        fmt::format("{}: {}{}", what, words_of(ended->errors),
                    forbidden ? "; docs/operate.md, 'With a kubeconfig', has the Role that grants it" : "")};
  }
  co_return ended->output;
}

task<result<replicas>> way::impl::list(overheard* heard) const {
  std::vector<std::string> words{"get", "services,pods", "-l", std::string(labels), "-o", "json"};
  const auto told = co_await ask(std::move(words), heard);
  if (told.has_error()) co_return told.error();
  co_return replicas_in(*told, cluster.name_space);
}

task<result<tls::files>> way::impl::read_secret() const {
  std::vector<std::string> words{"get", "secret", service + "-client", "-o", "json"};
  const auto told = co_await ask(std::move(words));
  if (told.has_error()) {
    co_return error{told.error().code,
                    told.error().message + "; or give the CA of the aggregator's certificate with --ca"};
  }
  co_return pem_in_secret(*told, service + "-client");
}

task<result<void>> way::impl::find_authority() {
  if (!to.pem.authority.empty()) co_return result<void>();
  std::vector<std::string> words{"get", "apiservice", std::string(api_service), "-o", "json"};
  const auto told = co_await ask(std::move(words));
  std::string pem;
  if (told.has_value()) {
    const auto named = authority_in(*told, service, cluster.name_space);
    if (named.has_error()) co_return named.error();
    pem = *named;
  }
  if (pem.empty()) {  // a chart without custom metrics has no APIService, and not everybody may read it
    const auto kept = co_await read_secret();
    if (kept.has_error()) co_return kept.error();
    secret = *kept;
    pem = kept->authority;
  }
  if (const auto held = authority.hold(pem); held.has_error()) co_return held.error();
  to.pem.authority = authority.path();
  co_return result<void>();
}

// Puts the identity into files in memory, because every command takes an identity as files.
result<void> way::impl::hold_identity() {
  if (const std::string& now = identity->token(); !now.empty() && now != token_held) {
    if (auto held = token.hold(now); held.has_error()) return held;
    token_held = now;
  }
  return hold_certificate(identity->shown().tls.text);
}

result<void> way::impl::hold_certificate(const tls::files& text) {
  if (text.certificate.empty() || text.certificate == certificate_held) return {};
  // The certificate is written last: a reader that finds the new certificate also finds its key.
  if (auto held = key.hold(text.key); held.has_error()) return held;
  if (auto held = certificate.hold(text.certificate); held.has_error()) return held;
  certificate_held = text.certificate;
  return {};
}

// Whoever receives a token can use it at the API server. Whoever may write in one namespace can make a
// Service, a pod and a Secret with the chart's names there, so a CA from a Secret is not enough for a token.
error way::impl::not_for_a_secrets_server(std::string_view token) const {
  return {
      errc::permission,
      fmt::format("{} is not sent, because only Secret {}-client, which anybody who may write in namespace "
                  "{} can make, says whose server that is: give the CA of the aggregator's certificate "
                  "with --ca",
                  token, service, cluster.name_space)};
}

task<result<void>> way::impl::find_identity() {
  if (secret && !to.token_file.empty())
    co_return not_for_a_secrets_server(fmt::format("the token in {}", to.token_file));
  if (!to.token_file.empty() || !to.pem.certificate.empty()) co_return result<void>();
  const auto variable = [](const char* name) { return std::getenv(name); };
  const auto as = kube::access_by(kubeconfig_files(cluster), cluster.context, variable);
  if (as.has_error()) co_return as.error();
  auto opened = kube::credentials::open(*as, log);
  if (opened.has_error()) co_return opened.error();
  identity = std::move(*opened);
  const auto fresh = co_await identity->refresh(async::within(patience));
  if (fresh.has_error()) co_return fresh.error();
  if (const auto held = hold_identity(); held.has_error()) co_return held.error();
  to.pem.certificate = certificate.path();
  to.pem.key = key.path();
  if (const tls::files& named = as->tls.pem; to.pem.certificate.empty()) {
    to.pem.certificate = named.certificate;
    to.pem.key = named.key;
  }
  if (secret && to.pem.certificate.empty()) {
    // The Secret's own certificate opens the ops port to whoever may read the Secret.
    if (const auto held = hold_certificate(*secret); held.has_error()) co_return held.error();
    to.pem.certificate = certificate.path();
    to.pem.key = key.path();
    if (to.pem.certificate.empty() && !token_held.empty())
      co_return not_for_a_secrets_server("the kubeconfig's token");
  }
  // Whoever runs the server could use a token at the API server, but not a certificate that was shown to it.
  if (to.pem.certificate.empty()) to.token_file = token.path();
  if (to.token_file.empty() && to.pem.certificate.empty()) {
    co_return error{errc::permission,
                    as->plugin ? fmt::format("{}, which the kubeconfig names, gave no credentials: run it by "
                                             "hand to see why",
                                             as->plugin->command)
                               : "the kubeconfig has neither a token nor a certificate: write a token with "
                                 "`kubectl create token ACCOUNT > FILE` and name it with --token-file"};
  }
  group.spawn("identity", keep_identity());
  co_return result<void>();
}

task<void> way::impl::keep_identity() {
  for (;;) {
    co_await async::sleep_for(pause_between_looks);
    // If no new identity can be had now, the old one stays in use, and the next round asks again.
    const auto fresh = co_await identity->refresh(async::within(patience));
    if (fresh.has_value()) (void)hold_identity();
  }
}

task<void> way::impl::keep(std::size_t which) {
  async::deadline::duration pause = shortest_pause;
  for (;;) {
    lane& mine = lanes[which];
    const auto begun = std::chrono::steady_clock::now();
    const std::string ports =
        mine.port == 0 ? fmt::format(":{}", ops_port) : fmt::format("{}:{}", mine.port, ops_port);
    std::vector<std::string> words =
        kubectl({"port-forward", "--address", "127.0.0.1", "pod/" + mine.pod, ports});
    words.insert(words.begin(), "kubectl");
    const std::function<void(std::uint16_t)> opened = [this, which](std::uint16_t port) {
      lanes[which].port = port;
      lanes[which].trouble.reset();
      changed.notify();
    };
    const auto ended = co_await forward(std::move(words), opened);
    const std::string said = ended.has_error() ? ended.error().message : words_of(*ended);
    const bool forbidden = said.find("orbidden") != said.npos;
    lanes[which].trouble = error{
        forbidden ? errc::permission : errc::disconnected,
        fmt::format("kubectl port-forward pod/{}: {}{}", mine.pod, said.empty() ? "it ended" : said,
                    forbidden ? "; docs/operate.md, 'With a kubeconfig', has the Role that grants it" : "")};
    changed.notify();
    if (std::chrono::steady_clock::now() - begun > 2 * longest_pause) pause = shortest_pause;
    co_await async::sleep_for(pause);
    pause = std::min<async::deadline::duration>(2 * pause, longest_pause);
    const auto now = co_await list();
    if (now.has_error()) continue;
    std::vector<std::string> taken;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (i != which) taken.push_back(lanes[i].pod);
    }
    lanes[which].pod = next_pod(lanes[which].pod, now->pods, taken);
  }
}

task<result<void>> way::impl::begin() {
  // The first call is the one that finds out whether a login is needed; the others have its credentials.
  std::shared_ptr<overheard> heard;
  if (person != nullptr) {
    heard = std::make_shared<overheard>(*person);
    group.spawn("what kubectl says", show_later(heard));
  }
  const auto found = co_await list(heard.get());
  heard.reset();
  if (found.has_error()) co_return found.error();
  service = found->service;
  to.server_name = fmt::format("{}.{}.svc", service, cluster.name_space);
  if (const auto had = co_await find_authority(); had.has_error()) co_return had.error();
  if (const auto had = co_await find_identity(); had.has_error()) co_return had.error();
  for (const std::string& pod : found->pods) lanes.push_back({pod, 0, std::nullopt});
  for (std::size_t i = 0; i < lanes.size(); ++i) group.spawn("forward", keep(i));
  const auto is_decided = [](const lane& l) { return l.port != 0 || l.trouble; };
  const auto until = async::within(patience);
  while (!std::ranges::all_of(lanes, is_decided)) {
    const bool told = co_await changed.wait(until);
    if (!told) break;
  }
  // A replica whose forward is not open yet has no address, so it is left out.
  to.aggregators.clear();
  for (const lane& l : lanes) {
    if (l.port == 0) continue;
    to.aggregators.push_back(fmt::format("https://127.0.0.1:{}", l.port));
    to.pods[to.aggregators.back()] = "pod/" + l.pod;
  }
  if (!to.aggregators.empty()) co_return result<void>();
  co_return lanes.front().trouble.value_or(
      error{errc::timeout, fmt::format("kubectl port-forward pod/{} took too long", lanes.front().pod)});
}

task<void> way::impl::begin_and_tell(std::promise<result<void>>& outcome) {
  auto begun = co_await begin();
  outcome.set_value(std::move(begun));
}

result<std::unique_ptr<way>> way::open(const connection& given, std::ostream* person) {
  // Makes kubectl and our own reader of kubeconfigs look at the same files. setenv() is safe: no thread runs
  // yet.
  if (!given.cluster.config.empty() && given.cluster.config != "in-cluster")
    ::setenv("KUBECONFIG", given.cluster.config.c_str(), 1);
  std::promise<result<void>> outcome;
  auto made = std::make_unique<impl>(given, person);
  auto begun = outcome.get_future();
  made->thread = std::thread([&of = *made] { async::run(of.loop, of.log); });
  async::post(made->loop, [&] { made->group.spawn("begin", made->begin_and_tell(outcome)); });
  const auto longest = 6 * patience + (person == nullptr ? 0s : std::chrono::seconds(login_patience));
  if (begun.wait_for(longest) != std::future_status::ready)
    return error{errc::timeout, "kubectl and the credentials of the kubeconfig took too long"};
  const result<void> had = begun.get();
  if (had.has_error()) return had.error();
  return std::unique_ptr<way>(new way(std::move(made)));
}

way::way(std::unique_ptr<impl> i) : impl_(std::move(i)) {}
way::~way() = default;
const connection& way::to() const noexcept { return impl_->to; }

}  // namespace binnacle::cli::bridge
