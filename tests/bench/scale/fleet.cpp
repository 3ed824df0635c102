#include "tests/bench/scale/fleet.hpp"

#include "common/async/stream.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/backoff.hpp"
#include "common/wire/agent_session.hpp"
#include "tests/bench/scale/node_sim.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>

#include <thread>
#include <vector>

namespace binnacle::bench {
namespace {

using async::task;
using async::within;
using namespace std::chrono_literals;

struct simulated_agent {
  simulated_agent(std::uint32_t number, std::shared_ptr<tls::context> certificate)
      : name("sim-" + std::to_string(number)),
        tls(std::move(certificate)),
        sim(number, 40 + number % 50),
        random(number) {}
  std::string name;
  std::shared_ptr<tls::context> tls;
  node_sim sim;
  std::minstd_rand random;
  async::stream* connection = nullptr;  // while connected
};

}  // namespace

struct fleet::impl {
  impl(fleet_options o, logger l) : options(std::move(o)), log(std::move(l)), group(loop, log) {}

  task<void> live(simulated_agent* agent);
  task<void> end();
  /// After a welcome the pauses begin with the shortest again, as a real agent's do.
  task<result<void>> session(simulated_agent* agent, backoff& pauses);
  task<result<void>> flush(async::stream& stream, wire::agent_session& session);
  task<result<void>> receive_until(async::stream& stream, wire::agent_session& session,
                                   async::deadline until);

  fleet_options options;
  logger log;
  async::loop loop;
  async::task_group group;
  std::vector<std::unique_ptr<simulated_agent>> agents;
  fleet_counters counters;
  std::thread thread;
};

task<result<void>> fleet::impl::flush(async::stream& stream, wire::agent_session& session) {
  wire::bytes out;
  session.take_output(out);
  if (out.empty()) co_return result<void>{};
  counters.wire_bytes += out.size() + (out.size() + 16383) / 16384 * 22;  // 22: header, type, tag
  const std::string_view text(reinterpret_cast<const char*>(out.data()), out.size());
  co_return co_await stream.write(text, within(30s));
}

// Receives the aggregator's messages until this time.
task<result<void>> fleet::impl::receive_until(async::stream& stream, wire::agent_session& session,
                                              async::deadline until) {
  for (;;) {
    auto readable = co_await stream.wait_readable(until);
    if (readable.has_error()) {
      if (readable.error().code == errc::timeout) co_return result<void>{};
      co_return readable.error();
    }
    const auto room = session.prepare(512);
    const std::span<char> to(reinterpret_cast<char*>(room.data()), room.size());
    auto got = co_await stream.read_some(to, within(30s));
    if (got.has_error()) co_return got.error();
    if (got.value() == 0) co_return error{errc::disconnected, "closed"};
    session.received(got.value());
    for (;;) {
      const auto event = session.next(boot_clock::now());
      if (event == wire::agent_session::event::nothing) break;
      if (event == wire::agent_session::event::welcomed) co_return result<void>{};
      if (event == wire::agent_session::event::ended)
        co_return error{errc::disconnected, session.ended()->message};
    }
  }
}

task<result<void>> fleet::impl::session(simulated_agent* agent, backoff& pauses) {
  auto connected =
      co_await async::connect("localhost", options.port, agent->tls->current(), "localhost", within(15s));
  if (connected.has_error()) co_return connected.error();
  async::stream stream = std::move(connected.value());
  agent->connection = &stream;

  const wire::agent_session::settings settings;
  wire::agent_session session(settings);
  wire::hello hello;
  hello.node = agent->name;
  hello.agent_version = "fleet";
  hello.boot_id = "00000000-0000-0000-0000-000000000001";
  if (auto said = session.start(hello, boot_clock::now()); said.has_error())
    co_return error{errc::internal, said.error().message};
  if (auto sent = co_await flush(stream, session); sent.has_error()) co_return sent;
  if (auto answered = co_await receive_until(stream, session, within(60s)); answered.has_error())
    co_return answered;
  if (session.now_in() != wire::agent_session::state::streaming) co_return error{errc::timeout, "no welcome"};
  if (auto put = session.send(node_sim::catalog(), boot_clock::now()); put.has_error())
    co_return error{errc::internal, put.error().message};
  ++counters.welcomed;
  ++counters.streaming;
  pauses.reset();

  struct count_down {
    fleet_counters& c;
    ~count_down() { --c.streaming; }
  } leaving{counters};

  // Ticks of the fleet are spread evenly over the period.
  const auto offset = std::uniform_int_distribution<std::int64_t>(
      0, std::chrono::nanoseconds(options.period).count())(agent->random);
  auto next = std::chrono::steady_clock::now() + std::chrono::nanoseconds(offset);
  wire::batch batch;
  for (;;) {
    if (auto took = co_await receive_until(stream, session, next); took.has_error()) co_return took;
    for (unsigned i = 0; i < options.coalesced; ++i) {
      const instant now = boot_clock::now();
      agent->sim.step(batch, session.needs_full(), now, options.period);
      if (auto put = session.send(batch, now); put.has_error())
        co_return error{errc::internal, put.error().message};
      ++counters.batches;
      counters.values += node_sim::series;
    }
    if (auto sent = co_await flush(stream, session); sent.has_error()) co_return sent;
    next += options.period;
  }
}

task<void> fleet::impl::live(simulated_agent* agent) {
  backoff pauses(backoff::settings{});
  for (;;) {
    auto ended = co_await session(agent, pauses);
    agent->connection = nullptr;
    ++counters.failed;
    if (ended.has_error()) log.debug("{}: {}", agent->name, ended.error().message);
    co_await async::sleep_for(pauses.next(agent->random));
  }
}

// The agents' coroutines end before the objects that they use.
task<void> fleet::impl::end() {
  group.cancel();
  co_await group.wait(within(10s));
  loop.stop();
}

fleet::fleet(fleet_options options, logger log)
    : impl_(std::make_unique<impl>(std::move(options), std::move(log))) {
  const std::uint32_t first = impl_->options.first;
  for (std::uint32_t i = first; i < first + impl_->options.nodes; ++i) {
    tls::options wanted;
    wanted.side = tls::role::client;
    wanted.pem = impl_->options.certificate(i);
    wanted.tls13_only = true;
    wanted.alpn = "binnacle/1";
    impl_->agents.push_back(std::make_unique<simulated_agent>(
        i, std::shared_ptr<tls::context>(tls::context::load(wanted).value())));
  }
}

fleet::~fleet() { stop(); }

void fleet::start() {
  for (auto& agent : impl_->agents) impl_->group.spawn(agent->name, impl_->live(agent.get()));
  impl_->thread = std::thread([this] {
    const auto guard = boost::asio::make_work_guard(impl_->loop);
    async::run(impl_->loop, impl_->log);
  });
}

void fleet::storm() {
  async::post(impl_->loop, [this] {
    for (auto& agent : impl_->agents) {
      if (agent->connection != nullptr) agent->connection->close();
    }
  });
}

void fleet::heat(std::uint32_t node, double watts) {
  async::post(impl_->loop, [this, node, watts] { impl_->agents[node]->sim.set_watts(watts); });
}

void fleet::stop() {
  if (!impl_->thread.joinable()) return;
  async::post(impl_->loop,
              [this] { boost::asio::co_spawn(impl_->loop, impl_->end(), boost::asio::detached); });
  impl_->thread.join();
}

const fleet_counters& fleet::counters() const noexcept { return impl_->counters; }

}  // namespace binnacle::bench
