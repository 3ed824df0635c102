#include "aggregator/sender/sender.hpp"

#include "aggregator/sender/cursor.hpp"
#include "aggregator/sender/outbox.hpp"
#include "aggregator/sender/series_labels.hpp"
#include "aggregator/sender/triage.hpp"
#include "aggregator/sender/version_choice.hpp"
#include "common/async/follow_files.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/http/client/client.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <random>
#include <thread>
#include <utility>

namespace binnacle::sender {
namespace {

using async::task;

// Receivers take bodies of some MiB; Prometheus' own senders stay at some thousand samples.
constexpr std::size_t samples_at_once = 5'000;
constexpr std::size_t bytes_at_once = 2u << 20;
// A server's head block does not go back further, so older samples would be refused. Source:
// prometheus.io/docs, storage, out-of-order samples.
constexpr std::chrono::hours longest_wait(1);
// The node at fault loses a part in each round, and the server takes the parts around it. So some rounds.
constexpr std::chrono::minutes lost_is_shown_for(2);

}  // namespace

struct sender::impl {
  impl(settings s, std::shared_ptr<tls::context> certificates, logger l)
      : options(std::move(s)),
        log(std::move(l)),
        tasks(loop, log),
        something_waits(loop),
        tls(std::move(certificates)),
        wire({options.to.at.host, options.to.at.port, {}},
             tls ? std::function<std::shared_ptr<SSL_CTX>()>([c = tls] { return c->current(); }) : nullptr,
             "binnacle-aggregator/" BINNACLE_VERSION),
        unsaid(options.families,
               options.speaks == protocol::remote_write ? target_labels(options.from) : metrics::label_set()),
        versions(dialect_of(options.speaks), options.version),
        request(versions.usual().encode(options.from)),
        waiting(options.most_bytes, longest_wait) {}

  void write_round();
  task<void> deliver();
  result<void> prove(http::call& to) const;
  task<outcome> attempt(const parcel& p);
  void halve(const parcel& p);
  void count(const outcome& o, const parcel& p);
  void publish();

  const settings options;
  const logger log;

  // Owned by the loop.
  async::loop loop;
  async::task_group tasks;
  async::event something_waits;
  const std::shared_ptr<tls::context> tls;  // null: plain HTTP
  http::client wire;
  cursor unsaid;
  version_choice versions;
  std::unique_ptr<encoder> request;  // empty between rounds
  bool begun = false;
  std::size_t left_out = 0;  // series, in the last round
  outbox waiting;
  triage answers;
  counters numbers;
  // What a part of a request lost last. The next part is taken at once, so this stays shown for a while.
  struct {
    std::string why;
    instant at{};
  } part_lost;
  std::optional<instant> sending_since;  // when the request under way was made

  // Shared.
  mutable std::mutex guard;
  std::optional<fleet> next;
  bool rests = false;
  std::uint64_t late_rounds = 0;
  counters published;

  std::thread runner;
};

/// Turns the newest round into requests.
void sender::impl::write_round() {
  std::optional<fleet> nodes;
  {
    const std::lock_guard held(guard);
    nodes = std::exchange(next, std::nullopt);
    if (std::exchange(rests, false)) begun = false;
  }
  if (!nodes) return;
  const instant now = boot_clock::now();
  if (!begun) unsaid.begin(now);
  begun = true;
  const auto wall = wall_time(now);
  const auto ns_of = [&](instant at) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>((wall - (now - at)).time_since_epoch())
        .count();
  };
  std::size_t of_nodes = 0;  // in the request that is being made
  const std::string* newest = nullptr;
  const auto close = [&] {
    const std::size_t samples = request->samples();
    if (samples != 0)
      waiting.put({request->take(), samples, now, &versions.usual(), std::exchange(of_nodes, 0)}, now);
    newest = nullptr;
  };
  unsaid.take(*nodes, now, [&](const point& p) {
    if (std::exchange(newest, &p.node) != &p.node) ++of_nodes;
    request->add(p, ns_of(p.at));
    if (request->samples() >= samples_at_once || request->bytes() >= bytes_at_once) close();
  });
  close();
  if (std::exchange(left_out, unsaid.left_out()) == 0 && left_out != 0)
    log.warning(
        "{}: {} series are not sent, because another series of their node has the same labels there: an "
        "empty label counts as none, and a label node, cluster or replica gets the prefix exported_",
        to_string(options.to.at), left_out);
  publish();
  something_waits.notify();
}

/// The headers that the settings add, and Authorization if the server wants it.
result<void> sender::impl::prove(http::call& to) const {
  auto more = http::headers_of(options.with);
  if (more.has_error()) {
    return error{more.error().code, fmt::format("--{}-headers-file {}: {}", versions.usual().setting,
                                                options.with.file, more.error().message)};
  }
  std::ranges::move(*more, std::back_inserter(to.headers));
  if (options.who.token_file.empty()) return {};
  auto header = http::authorization(options.who);
  if (header.has_error()) {
    return error{header.error().code, fmt::format("--{}-token {}: {}", versions.usual().setting,
                                                  options.who.token_file, header.error().message)};
  }
  to.headers.emplace_back("Authorization", std::move(*header));
  return {};
}

task<outcome> sender::impl::attempt(const parcel& p) {
  for (;;) {
    const dialect& in = versions.next();
    http::call what{.method = "POST",
                    .target = options.to.target,
                    .body = p.in == &in ? p.body : p.in->in_older(p.body),
                    .most_bytes = 1u << 16};
    what.headers = in.headers;
    if (auto proven = prove(what); proven.has_error())
      co_return outcome{outcome::kind::later, {}, proven.error().message};
    const auto answer = co_await wire.ask(std::move(what), async::within(options.patience));
    const dialect& before = versions.usual();
    const bool again = answer.has_value() && versions.learn(*answer);
    if (const dialect& now = versions.usual(); &now != &before) {
      log.info("{} does not know {} {}: it gets {}", to_string(options.to.at), before.called, before.version,
               now.version);
      request = now.encode(options.from);
    }
    if (!again) co_return in.outcome_of(answer, p.samples);
  }
}

/// Puts the request back in two parts. Both are of other nodes, so each series stays in order.
void sender::impl::halve(const parcel& p) {
  halves both = p.in->in_halves(p.body);
  const instant now = boot_clock::now();
  const auto put = [&](part& one) {
    if (one.samples == 0) return;
    parcel half{std::move(one.body), one.samples, p.made, p.in, one.nodes, p.failures, p.failing_since};
    half.is_part = true;
    waiting.put_back(std::move(half), now);
  };
  put(both.second);
  put(both.first);
}

void sender::impl::count(const outcome& o, const parcel& p) {
  const auto& where = options.to.at;
  const instant now = boot_clock::now();
  if (p.is_part && o.left_out != 0) part_lost = {o.why, now};
  const bool shows_lost = o.why.empty() && now - part_lost.at < lost_is_shown_for;
  const std::string& why = shows_lost ? part_lost.why : o.why;
  if (why.empty() && !numbers.trouble.empty()) log.info("{} takes samples again", to_string(where));
  if (!why.empty() && why != numbers.trouble) log.warning("{}: {}", to_string(where), why);
  numbers.trouble = why;
  ++numbers.requests;
  switch (o.is) {
    case outcome::kind::taken:
    case outcome::kind::refused:
      numbers.sent += p.samples - o.left_out;
      numbers.refused += o.left_out;
      break;
    case outcome::kind::later: ++numbers.retries; break;
  }
}

task<void> sender::impl::deliver() {
  std::minstd_rand random(std::random_device{}());
  backoff pause(options.between_attempts);
  for (;;) {
    auto first = waiting.take(boot_clock::now());
    if (!first) {
      publish();
      co_await something_waits.wait();
      continue;
    }
    sending_since = first->made;
    outcome o = co_await attempt(*first);
    sending_since.reset();
    const instant now = boot_clock::now();
    if (o.is != outcome::kind::later) pause.reset();
    const fate next_step = answers.of(o, *first, now);
    if (next_step == fate::given_up) {
      o.is = outcome::kind::refused;
      o.left_out = first->samples;
      o.why += " to some samples again and again, and takes others: its log says why";
    }
    if (next_step == fate::in_halves && o.is == outcome::kind::refused) {
      ++numbers.requests;  // its parts will tell what became of the samples
    } else {
      count(o, *first);
    }
    if (next_step == fate::in_halves) halve(*first);
    if (next_step == fate::again) waiting.put_back(std::move(*first), now);
    if (next_step == fate::after_next) waiting.put_after_next(std::move(*first), now);
    publish();
    if (next_step == fate::again || next_step == fate::after_next)
      co_await async::sleep_for(pause.next(random, o.wait_at_least));
  }
}

void sender::impl::publish() {
  const auto oldest = sending_since ? sending_since : waiting.oldest();
  numbers.dropped = waiting.dropped_samples();
  numbers.waiting_bytes = waiting.bytes();
  numbers.lag = oldest ? boot_clock::now() - *oldest : duration::zero();
  const std::lock_guard held(guard);
  published = numbers;
}

sender::sender(std::unique_ptr<impl> i) : impl_(std::move(i)) {}

result<std::unique_ptr<sender>> sender::open(settings s, logger log) {
  auto security = http::security_for(s.to, s.who);
  if (security.has_error()) return security.error();
  const std::shared_ptr<tls::context> certificates = std::move(*security);
  auto made = std::make_unique<impl>(std::move(s), certificates, std::move(log));
  impl& self = *made;
  self.tasks.keep("delivering samples", [&self] { return self.deliver(); });
  if (self.tls)
    self.tasks.keep("certificates", [&self] {
      return async::follow_files(
          self.tls, fmt::format("{} certificate", dialect_of(self.options.speaks).called), self.log);
    });
  self.runner = std::thread([&self] {
    pthread_setname_np(pthread_self(), dialect_of(self.options.speaks).setting);
    const auto stay = boost::asio::make_work_guard(self.loop);
    async::run(self.loop, self.log);
  });
  return std::unique_ptr<sender>(new sender(std::move(made)));
}

sender::~sender() {
  impl_->loop.stop();
  impl_->runner.join();
}

void sender::take(fleet nodes) {
  {
    const std::lock_guard held(impl_->guard);
    if (impl_->next) ++impl_->late_rounds;
    impl_->next = std::move(nodes);
  }
  async::post(impl_->loop, [self = impl_.get()] { self->write_round(); });
}

void sender::rest() {
  const std::lock_guard held(impl_->guard);
  impl_->next.reset();
  impl_->rests = true;
}

counters sender::counted() const {
  const std::lock_guard held(impl_->guard);
  counters out = impl_->published;
  out.late_rounds = impl_->late_rounds;
  return out;
}

}  // namespace binnacle::sender
