// binnacle-kube-probe: runs the parts of aggregator/kube one by one against an API server, for the cluster
// tests.
#include "aggregator/kube/election/campaign.hpp"
#include "aggregator/kube/events/send_events.hpp"
#include "aggregator/kube/objects/merge_patch.hpp"
#include "aggregator/kube/refusal.hpp"
#include "aggregator/kube/reviews/reviewer.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace binnacle;
using async::task;
using async::within;
using words = std::vector<std::string>;

constexpr const char* usage = R"(usage: binnacle-kube-probe KUBECONFIG COMMAND
  get PATH                           the answer's status and body
  label NODE KEY=VALUE KEY- ...      sets and removes labels
  who TOKEN [AUDIENCE]               user and node name of a token, or why it is refused
  may USER VERB GROUP RESOURCE [NAMESPACE]
  tell KIND APIVERSION NAMESPACE NAME UID REASON TEXT TIMES    an event, so many times
  lead NAMESPACE IDENTITY            says "leads" and "waits" until SIGTERM, then gives the Lease back
)";

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

http::answer checked(const result<http::answer>& got) {
  if (got.has_error()) throw std::runtime_error(got.error().message);
  if (const auto r = kube::refusal_of(*got)) throw std::runtime_error(r->as_error("the call").message);
  return *got;
}

task<void> get(std::shared_ptr<kube::client> api, words w) {
  http::call what;
  what.target = w.at(0);
  auto got = co_await api->ask(std::move(what), within(std::chrono::seconds(10)));
  if (got.has_error()) throw std::runtime_error(got.error().message);
  say(fmt::format("{} {}", got->status, got->body));
}

task<void> label(std::shared_ptr<kube::client> api, words w) {
  kube::key_changes changes;
  for (std::size_t i = 1; i < w.size(); ++i) {
    const auto equals = w[i].find('=');
    if (equals == std::string::npos) {
      changes[w[i].substr(0, w[i].size() - 1)] = std::nullopt;
    } else {
      changes[w[i].substr(0, equals)] = w[i].substr(equals + 1);
    }
  }
  http::call patch = kube::node_patch(w.at(0), changes);
  auto got = co_await api->ask(std::move(patch), within(std::chrono::seconds(10)));
  checked(got);
}

task<void> who(std::shared_ptr<kube::client> api, words w) {
  kube::reviewer reviews(api);
  words audiences(w.begin() + 1, w.end());
  auto verdict = co_await reviews.token(w.at(0), audiences, within(std::chrono::seconds(10)));
  if (verdict.has_error()) throw std::runtime_error(verdict.error().message);
  say(verdict->authenticated ? fmt::format("{} node={}", verdict->who.name,
                                           verdict->who.only_extra("authentication.kubernetes.io/node-name"))
                             : "nobody: " + verdict->why);
}

task<void> may(std::shared_ptr<kube::client> api, words w) {
  kube::reviewer reviews(api);
  kube::access_question q;
  q.who.name = w.at(0);
  q.verb = w.at(1);
  q.group = w.at(2);
  q.resource = w.at(3);
  if (w.size() > 4) q.name_space = w[4];
  auto verdict = co_await reviews.access(std::move(q), within(std::chrono::seconds(10)));
  if (verdict.has_error()) throw std::runtime_error(verdict.error().message);
  say(verdict->allowed ? "yes" : "no");
}

task<void> tell(std::shared_ptr<kube::client> api, words w) {
  kube::event_recorder recorder({"binnacle-aggregator", "probe"});
  const kube::note n{{w.at(0), w.at(1), w.at(2), w.at(3), w.at(4)}, true, w.at(5), "Probe", w.at(6)};
  for (int i = 0; i < std::stoi(w.at(7)); ++i) {
    recorder.record(n, boot_clock::now(), std::chrono::system_clock::now());
    while (auto due = recorder.next(boot_clock::now(), std::chrono::system_clock::now())) {
      auto got = co_await api->ask(std::move(*due), within(std::chrono::seconds(10)));
      const http::answer a = checked(got);
      recorder.answered(a, boot_clock::now());
    }
  }
}

task<void> lead(std::shared_ptr<kube::client> api, words w, async::loop& loop) {
  const kube::election::settings settings{w.at(0), "binnacle-aggregator", w.at(1)};
  kube::election machine(settings);
  std::string last;
  const std::function<void()> after = [&machine, &last] {
    std::string now = machine.leads(boot_clock::now()) ? "leads" : "waits for " + machine.holder();
    if (!machine.trouble().empty()) now = machine.trouble();
    if (now != last) say(now);
    last = std::move(now);
  };
  {
    async::task_group running(loop, logger("probe"));
    running.spawn("campaign", kube::campaign(api, machine, after));
    const int number = co_await async::stop_signal();
    (void)number;
    running.cancel();
    (void)co_await running.wait(within(std::chrono::seconds(5)));
  }
  co_await kube::resign(api, machine, within(std::chrono::seconds(5)));
  say("resigned");
}

task<void> run(async::loop& loop, words w, int& status) {
  try {
    auto to = kube::load_kubeconfig(w.at(0));
    if (to.has_error()) throw std::runtime_error(to.error().message);
    auto api = kube::client::open(std::move(*to), logger("probe"));
    if (api.has_error()) throw std::runtime_error(api.error().message);
    const std::string command = w.at(1);
    words rest(w.begin() + 2, w.end());
    if (command == "get")
      co_await get(*api, std::move(rest));
    else if (command == "label")
      co_await label(*api, std::move(rest));
    else if (command == "who")
      co_await who(*api, std::move(rest));
    else if (command == "may")
      co_await may(*api, std::move(rest));
    else if (command == "tell")
      co_await tell(*api, std::move(rest));
    else if (command == "lead")
      co_await lead(*api, std::move(rest), loop);
    else
      throw std::out_of_range(command);
    status = 0;
  } catch (const std::out_of_range&) {
    std::fputs(usage, stderr);
    status = 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "binnacle-kube-probe: %s\n", e.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int status = 1;
  async::loop loop(1);
  async::task_group all(loop, logger("probe"));
  words w(argv + 1, argv + argc);
  all.spawn("probe", run(loop, std::move(w), status));
  async::run(loop, logger("probe"));
  return status;
}
