#include "agent/sources/path/path_source.hpp"

#include "agent/base/problem_summary.hpp"
#include "agent/sources/path/path_window.hpp"
#include "agent/sources/path/prober.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace binnacle::agent {
namespace {

using async::task;

std::string remedy(const path_peer& peer, errc code) {
  switch (code) {
    case errc::not_found: return "check the peer's name and this node's resolver";
    case errc::permission: return {};  // the message says it already
    case errc::timeout: return "is the peer up, and does no firewall drop what is sent to it?";
    default:
      return peer.icmp ? "is there a route to the peer, and does it answer echo requests?"
                       : "does the peer listen on that port, and is there a route to it?";
  }
}

std::string sentence(const path_peer& peer, const error& why) {
  const auto mend = remedy(peer, why.code);
  return fmt::format("{}: {}{}{}", peer.name, why.message, mend.empty() ? "" : ": ", mend);
}

double seconds(duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

/// What a peer's coroutine hands to the source.
struct path_source::inbox {
  explicit inbox(duration window) : probes(window) {}
  path_window probes;
  std::optional<path_outcome> newest;  // the newest outcome that read() has not taken yet
  std::function<void()> arrived;

  static task<void> fill(std::shared_ptr<inbox> in, std::shared_ptr<prober> from, duration offset,
                         duration period) {
    const auto ex = co_await boost::asio::this_coro::executor;
    co_await async::sleep_for(offset);
    async::periodic_timer ticks(ex.context(), period);
    for (;;) {
      co_await fill_once(in, from);
      in->arrived();
      co_await ticks.next();
    }
  }
  static task<void> fill_once(std::shared_ptr<inbox> in, std::shared_ptr<prober> from) {
    in->newest = co_await prober::once(from);
    if (in->newest->sent) in->probes.add(in->newest->when, in->newest->round_trip);
  }
};

struct path_source::watched {
  watched(path_peer p, duration window) : peer(std::move(p)), in(std::make_shared<inbox>(window)) {}
  const path_peer peer;
  std::shared_ptr<inbox> in;
  board::group_ref group = board::no_group;
  board::series_ref up = board::no_series, round_trip = board::no_series, jitter = board::no_series,
                    loss = board::no_series;
  std::string problem;
};

path_source::path_source(path_options options, clocks time)
    : options_(std::move(options)), time_(std::move(time)) {
  options_.timeout = std::min(options_.timeout, options_.period);
  for (const auto& p : options_.peers) peers_.push_back(std::make_unique<watched>(p, options_.window));
}
path_source::~path_source() = default;

void path_source::start(async::task_group& beside, std::function<void()> arrived) {
  const auto apart = options_.period / static_cast<long>(std::max<std::size_t>(peers_.size(), 1));
  long place = 0;
  for (const auto& w : peers_) {
    w->in->arrived = arrived;
    auto from = std::make_shared<prober>(w->peer, options_.timeout, time_);
    beside.keep("path to " + w->peer.name,
                [in = w->in, from = std::move(from), first = apart * place++, period = options_.period] {
                  return inbox::fill(in, from, first, period);
                });
  }
}

result<void> path_source::discover(board& out) {
  for (const auto& w : peers_) {
    w->group = out.add_group("path", w->peer.name, options_.period, metrics::stale_after(options_.period));
    const auto about = [&](const char* family) {
      return out.add_series(w->group, family, {{"peer", w->peer.name}});
    };
    w->up = about("path_up");
    w->round_trip = about("path_round_trip_seconds");
    w->jitter = about("path_jitter_seconds");
    w->loss = about("path_loss_ratio");
  }
  return {};
}

result<void> path_source::read(board& out) {
  for (const auto& w : peers_) {
    if (w->in->newest) take(*w, out);
  }
  return {};
}

void path_source::take(watched& w, board& out) {
  const auto got = *std::exchange(w.in->newest, std::nullopt);
  w.problem = got.round_trip ? std::string() : sentence(w.peer, got.why);
  if (!got.sent) {
    // Nobody was asked, so nothing is known about the path.
    const auto reason = got.why.code == errc::permission ? absence::permission : absence::missing;
    for (const auto s : {w.up, w.round_trip, w.jitter, w.loss}) out.set_absent(s, reason);
    return;
  }
  const auto s = w.in->probes.summarize();
  out.set(w.up, std::int64_t{s.answered() ? 1 : 0});
  out.set(w.loss, static_cast<double>(s.lost) / static_cast<double>(s.sent));
  if (s.answered()) {
    out.set(w.round_trip, seconds(s.round_trip));
  } else {
    out.set_absent(w.round_trip, absence::timeout);
  }
  if (s.has_jitter()) {
    out.set(w.jitter, seconds(s.jitter));
  } else {
    out.set_absent(w.jitter, s.answered() ? absence::not_read_yet : absence::timeout);
  }
  out.mark_read(w.group, got.when);
}

std::string path_source::limitation() const {
  problem_summary all;
  for (const auto& w : peers_) all.add(w->problem);
  return std::move(all).sentence();
}

std::vector<finding> path_source::probe() {
  async::loop loop(1);
  async::task_group all(loop, logger("probe", log_level::off));
  std::vector<std::shared_ptr<inbox>> answers;
  for (const auto& w : peers_) {
    answers.push_back(std::make_shared<inbox>(options_.window));
    all.spawn(w->peer.name,
              inbox::fill_once(answers.back(), std::make_shared<prober>(w->peer, options_.timeout, time_)));
  }
  loop.run_for(std::chrono::seconds(5));
  std::vector<finding> found;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto& peer = peers_[i]->peer;
    const auto what = fmt::format("{} to {}", peer.icmp ? "echo request" : "TCP connection", peer.name);
    const auto& got = answers[i]->newest;
    if (!got) {
      found.push_back(
          {finding::grade::broken, what, "nothing came of it in 5 s", "check this node's resolver"});
    } else if (!got->round_trip) {
      found.push_back({finding::grade::broken, what, got->why.message, remedy(peer, got->why.code)});
    } else {
      found.push_back({finding::grade::works, fmt::format("{} ({})", what, human(*got->round_trip)), {}, {}});
    }
  }
  return found;
}

}  // namespace binnacle::agent
