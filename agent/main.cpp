// binnacle-agent: reads this node's sensors and streams them to the aggregators. This file creates all parts
// and connects them.
#include "agent/base/probe.hpp"
#include "agent/base/token_file.hpp"
#include "agent/config.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/metrics_page.hpp"
#include "agent/privileges.hpp"
#include "agent/process/standard_descriptors.hpp"
#include "agent/process/startup_memory.hpp"
#include "agent/report/report.hpp"
#include "agent/sampling/sampler.hpp"
#include "agent/self.hpp"
#include "agent/source_list.hpp"
#include "agent/uplink/uplink.hpp"
#include "common/async/follow_files.hpp"
#include "common/async/task.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/http/server.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/descriptor_limit.hpp"
#include "common/system/os_error.hpp"
#include "common/text/text.hpp"
#include "common/tls/own_certificate.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <signal.h>
#include <unistd.h>
#include <utility>

namespace binnacle::agent {
namespace {

constexpr auto drain = std::chrono::seconds(2);
// Few programs scrape an agent, and most descriptors are needed for its sources. A connection beyond this
// number replaces another one.
constexpr std::size_t most_connections = 64;
constexpr std::size_t most_answer_bytes = 16u << 20;

void log_findings(const logger& log, std::span<const source_findings> all) {
  for (const auto& s : all) {
    for (const auto& f : s.found) {
      if (f.how == finding::grade::works) {
        log.info("{}: {}", s.source, f.what);
        continue;
      }
      const auto line = fmt::format("{}: {}: {}: {}{}{}", s.source, f.what, to_string(f.how), f.why,
                                    f.remedy.empty() ? "" : "; ", f.remedy);
      // If a source works, a part that this kernel does not have is no problem. If `sources` names a source
      // and all of it is absent, that is one.
      if (f.how == finding::grade::absent && s.works()) {
        log.info("{}", line);
      } else {
        log.warning("{}", line);
      }
    }
  }
}

/// Lets the sampler `what` read each time a source is due, until cancelled, and calls `after` when it has
/// read. `look_again` makes the loop ask for the next deadline again, for example because a period changed.
/// `what` must outlive the coroutine.
async::task<void> sample_loop(sampler* what, std::shared_ptr<async::event> look_again,
                              std::function<void()> after) {
  for (;;) {
    const auto next = what->next_deadline();
    const auto now = boot_clock::now();
    // Boot time goes on while the machine sleeps, but the timer's clock does not. So the span is computed
    // anew for each wait.
    const auto until =
        next == instant::max() ? async::never : async::within(std::max(next - now, duration::zero()));
    // Wait even if the tick is already over. Otherwise sources that take longer than their period would
    // starve the links.
    if (co_await look_again->wait(until)) continue;
    if (what->run(boot_clock::now())) after();
  }
}

/// The context of `o`. A coroutine of `tasks` loads its files again when they are renewed.
result<std::shared_ptr<tls::context>> load_followed(tls::options o, const char* what,
                                                    async::task_group& tasks, const logger& log,
                                                    std::shared_ptr<async::reload_troubles> troubles) {
  auto loaded = tls::context::load(std::move(o));
  if (!loaded) return loaded.error();
  const std::shared_ptr<tls::context> context = *std::move(loaded);
  tasks.keep("certificates", [context, what, log, troubles = std::move(troubles)] {
    return async::follow_files(context, what, log, std::chrono::seconds(5), troubles);
  });
  return context;
}

/// A random number that is not 0, since 0 would mean that the number is not known.
std::uint64_t drawn_number() {
  std::random_device source;
  return std::uniform_int_distribution<std::uint64_t>(1)(source);
}

/// `reader` learns what the aggregators want. `look_again` wakes the loop that reads.
result<std::unique_ptr<uplink>> make_uplink(const settings& s, async::loop& loop, const board& from,
                                            const logger& log, sampler& reader,
                                            const std::shared_ptr<async::event>& look_again,
                                            async::task_group& tasks, std::function<bool()> complete,
                                            std::shared_ptr<async::reload_troubles> troubles) {
  uplink_options o;
  for (const auto& text : s.aggregator) o.aggregators.push_back(parse_endpoint(text).value());
  if (!o.aggregators.empty()) {
    tls::options t;
    t.side = tls::role::client;
    t.pem = {s.cert, s.key, s.ca};
    t.tls13_only = true;
    t.alpn = "binnacle/1";
    auto context =
        load_followed(std::move(t), "certificate for the aggregators", tasks, log, std::move(troubles));
    if (!context) return context.error();
    o.tls = *std::move(context);
  }
  o.server_name = s.server_name;
  o.budget = s.uplink_budget;
  o.complete = std::move(complete);
  o.hello.agent_version = BINNACLE_VERSION;
  o.hello.cluster = s.cluster;
  o.hello.node = s.node_name;
  o.hello.boot_id = read_line(s.proc_root + "/sys/kernel/random/boot_id").value_or("unknown");
  o.hello.process = drawn_number();
  if (!s.token_file.empty()) {
    o.credential = [file = s.token_file]() -> result<std::string> {
      auto token = read_token(file);
      if (!token) return error{token.error().code, token.error().message + ": check --token-file"};
      return token;
    };
  }
  o.on_interest = [&reader, look_again](std::size_t link, const wire::interest& wanted) {
    reader.set_interest(link, wanted, boot_clock::now());
    look_again->notify();
  };
  o.on_lost = [&reader, look_again](std::size_t link) {
    reader.lose_interest(link, boot_clock::now());
    look_again->notify();
  };
  return std::make_unique<uplink>(loop, std::move(o), from, log.part("uplink"));
}

/// Starts the server that `o` describes, at the address `at`.
result<std::unique_ptr<http::server>> open_server(http::server_options o, const endpoint& at,
                                                  http::router routes, async::loop& loop, const logger& log) {
  logger part = log.part(o.name);
  o.address = at.host;
  o.port = at.port;
  o.max_connections = most_connections;
  auto server = std::make_unique<http::server>(loop, std::move(o), std::move(routes), std::move(part));
  if (auto started = server->start(); !started) return started.error();
  return server;
}

result<std::unique_ptr<http::server>> make_server(const settings& s, async::loop& loop, http::router routes,
                                                  const logger& log, async::task_group& tasks,
                                                  std::shared_ptr<async::reload_troubles> troubles) {
  const auto at = parse_listen(s.listen);
  if (!at) return at.error();
  http::server_options o;
  o.name = "scrape";
  o.most_answer_bytes = most_answer_bytes;
  if (!s.listen_cert.empty()) {
    tls::options t;
    t.pem = {s.listen_cert, s.listen_key, s.listen_ca, s.listen_denied_serials};
    t.clients = s.listen_ca.empty() ? tls::client_certificate::none : tls::client_certificate::required;
    auto context =
        load_followed(std::move(t), "certificate of the scrape endpoint", tasks, log, std::move(troubles));
    if (!context) return context.error();
    o.tls = *std::move(context);
  }
  auto server = open_server(std::move(o), *at, std::move(routes), loop, log);
  if (!server) return server.error();
  log.info("metrics are on {}://{}/metrics", s.listen_cert.empty() ? "http" : "https",
           host_and_port(at->host, (*server)->port()));
  return server;
}

std::vector<std::pair<std::string, std::uint64_t>> dropped_by(
    const std::vector<std::unique_ptr<http::server>>& servers) {
  const auto reasons = http::server_counters().dropped();
  std::vector<std::pair<std::string, std::uint64_t>> sums(reasons.begin(), reasons.end());
  for (const auto& one : servers) {
    const auto dropped = one->counters().dropped();
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].second += dropped[i].second;
  }
  return sums;
}

// A port for the kubelet's probes alone: /livez and /readyz.
result<std::unique_ptr<http::server>> make_health_server(const settings& s, async::loop& loop,
                                                         std::function<bool()> complete, const logger& log) {
  const auto at = parse_listen(s.health, "health");
  if (!at) return at.error();
  http::server_options o;
  o.name = "health";
  http::router routes;
  mount_health(routes, std::move(complete));
  auto server = open_server(std::move(o), *at, std::move(routes), loop, log);
  if (!server) return server.error();
  log.info("health is on http://{}", host_and_port(at->host, (*server)->port()));
  return server;
}

// All running parts. Each part uses only parts above it, and is destroyed before them.
struct parts {
  async::loop loop{1};
  board readings;
  std::unique_ptr<sampler> reader;
  std::unique_ptr<uplink> up;
  std::vector<std::unique_ptr<http::server>> servers;
};

async::task<void> stop_when_asked(parts* p, async::task_group* tasks, logger log) {
  const int signal = co_await async::stop_signal();
  log.info("{}: sending what is left and stopping", async::name_of_signal(signal));
  auto stopped = std::make_shared<async::event>(p->loop);
  auto waiting = std::make_shared<std::size_t>(1 + p->servers.size());
  const std::function<void()> done = [stopped, waiting] {
    if (--*waiting == 0) stopped->notify();
  };
  p->up->stop(drain, done);
  for (auto& server : p->servers) server->stop(drain, done);
  co_await stopped->wait(async::within(drain + std::chrono::seconds(1)));
  tasks->cancel();
  p->loop.stop();
}

// After ten seconds everything has been found, read and sent once.
async::task<void> shrink_after_the_start() {
  co_await async::sleep_for(std::chrono::seconds(10));
  give_back_startup_memory();
}

// Runs before anything is opened or started. If a part does not work without a capability, that shows at
// once.
result<privileges> drop_privileges(const settings& s, const source_kinds& kinds) {
  auto kept = needed_privileges(s, kinds);
  kept.needed &= permitted_capabilities();
  if (auto done = keep_only(kept.needed); !done) return done.error();
  return kept;
}

result<void> serve(const settings& s, const source_kinds& kinds, const logger& log) {
  raise_descriptor_limit();
  for (const auto* key : {&s.key, &s.listen_key}) {
    if (const auto exposed = tls::exposed_key(*key); !exposed.empty()) log.warning("{}", exposed);
  }
  auto found = make_sources(kinds, s, log);
  log_findings(log, probe_all(found, [](const source& one) { return !one.waits(); }));

  parts p;
  async::task_group tasks(p.loop, log);
  p.reader = std::make_unique<sampler>(p.readings, log.part("sampler"), clocks{},
                                       sampler_options{s.read_budget / 100, s.frozen});
  auto look_again = std::make_shared<async::event>(p.loop);
  const auto troubles = std::make_shared<async::reload_troubles>();
  const auto named = found.size() + 1;  // with the agent itself
  const auto complete = [&p, named] { return p.readings.statuses().size() >= named; };
  auto up = make_uplink(s, p.loop, p.readings, log, *p.reader, look_again, tasks, complete, troubles);
  if (!up) return up.error();
  p.up = *std::move(up);
  for (auto& one : found) {
    one->start(tasks, [&p, look_again, name = std::string(one->name())] {
      p.reader->arrived(name);
      look_again->notify();
    });
    p.reader->add(std::move(one));
  }
  self_source::origins about{[&p] { return p.reader->report(); }, [&p] { return p.up->report(); },
                             [troubles] { return !troubles->empty(); },
                             [&p] { return dropped_by(p.servers); }};
  p.reader->add(std::make_unique<self_source>(std::move(about), s.self_period));

  if (!s.listen.empty()) {
    http::router routes;
    mount_metrics_page(routes, p.readings, complete, boot_clock::now);
    auto server = make_server(s, p.loop, std::move(routes), log, tasks, troubles);
    if (!server) return server.error();
    p.servers.push_back(*std::move(server));
  }
  if (!s.health.empty()) {
    auto server = make_health_server(s, p.loop, complete, log);
    if (!server) return server.error();
    p.servers.push_back(*std::move(server));
  }
  if (s.aggregator.empty())
    log.info("no aggregator is configured: what is read is only served at the scrape endpoint");

  p.reader->start(boot_clock::now());
  p.up->start();
  tasks.keep("sampling",
             [&p, look_again] { return sample_loop(p.reader.get(), look_again, [&p] { p.up->changed(); }); });
  tasks.spawn("shrinking", shrink_after_the_start());
  tasks.spawn("stopping", stop_when_asked(&p, &tasks, log));
  log.info("binnacle-agent {} runs as node {}", BINNACLE_VERSION, s.node_name);
  async::run(p.loop, log);
  log.info("stopped");
  return {};
}

int probe(const settings& s, const source_kinds& kinds) {
  auto all = probe_all(make_sources(kinds, s, logger("probe", log_level::off)));
  for (auto& one : findings_of_unmade(kinds, s)) all.push_back(std::move(one));
  std::cout << (s.output == output_form::json ? as_json(s.node_name, all) : as_text(s.node_name, all))
            << std::flush;
  return std::any_of(all.begin(), all.end(), [](const auto& f) { return f.works(); }) ? 0 : 1;
}

// A report is about the machine itself. This removes what users' files, exporters, peers and a BMC elsewhere
// would say.
void keep_what_reads_this_machine(settings& s, source_kinds& kinds) {
  std::erase_if(kinds, [](const auto& kind) { return !kind->of_this_machine(); });
  s.sources = offered_names(kinds);
}

/// Opens the file that --report writes. This happens before capabilities are given up: with sudo the folder
/// may belong to another user.
result<descriptor> open_report(const std::string& path) {
  if (path == "-") return descriptor(::dup(STDOUT_FILENO));
  descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file) return file;
  const int failed = errno;
  return error{errc_of(failed), fmt::format("report: {}: {}: name another file, or - for the standard output",
                                            in_quotes(path, 200), describe(failed))};
}

int report(const settings& s, const source_kinds& kinds, const descriptor& out) {
  const auto probed = probe_all(make_sources(kinds, s, logger("probe", log_level::off)));
  report_options o;
  o.sys_root = s.sys_root;
  o.proc_root = s.proc_root;
  o.probe = probed;
  o.names = {s.node_name};
  const auto text = make_report(o);
  for (std::string_view left = text; !left.empty();) {
    const auto n = ::write(out.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      std::fprintf(stderr, "binnacle-agent: the report cannot be written: %s\n", describe(errno).c_str());
      return 1;
    }
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

int run(int argc, const char* const* argv) {
  settings s;
  auto kinds = all_source_kinds();
  auto spec = agent::bind(s, kinds);
  const auto parsed = spec.parse(argc, argv, std::cout);
  const auto refuse = [](const error& why) {
    std::fprintf(stderr, "binnacle-agent: %s\n", why.message.c_str());
    return 2;
  };
  if (!parsed) return refuse(parsed.error());
  if (parsed->exit) return 0;
  if (const auto right = complete(s, kinds); !right) return refuse(right.error());
  descriptor report_file;
  if (!s.report.empty()) {
    auto opened = open_report(s.report);
    if (!opened) return refuse(opened.error());
    report_file = *std::move(opened);
    keep_what_reads_this_machine(s, kinds);
  }
  const auto kept = drop_privileges(s, kinds);
  if (!kept) return refuse(kept.error());
  if (report_file) return report(s, kinds, report_file);
  if (s.probe) return probe(s, kinds);

  const logger log("agent", s.log_level);
  for (const auto& note : parsed->notes) log.warning("{}", note);
  for (const auto& reason : kept->reasons) log.info("privileges: needs {}", reason);
  log.info("privileges: runs with user id {}, capabilities: {}", ::geteuid(), names_of(kept->needed));
  if (const auto ran = serve(s, kinds, log); !ran) return refuse(ran.error());
  return 0;
}

}  // namespace
}  // namespace binnacle::agent

int main(int argc, char** argv) {
  binnacle::agent::open_standard_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  try {
    return binnacle::agent::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "binnacle-agent: %s\n", e.what());
    return 1;
  }
}
