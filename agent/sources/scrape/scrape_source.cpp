#include "agent/sources/scrape/scrape_source.hpp"

#include "agent/base/problem_summary.hpp"
#include "agent/kernel/absence_of.hpp"
#include "agent/sources/scrape/scraper.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <optional>
#include <utility>

namespace binnacle::agent {
namespace {

using async::task;

constexpr std::uint64_t sweep_every_readings = 60;

}  // namespace

/// What a target's coroutine hands to the source: the newest outcome that read() has not taken yet.
struct scrape_source::inbox {
  std::optional<scrape_outcome> newest;
  std::function<void()> arrived;

  static task<void> fill(std::shared_ptr<inbox> in, std::shared_ptr<scraper> from) {
    const auto ex = co_await boost::asio::this_coro::executor;
    async::periodic_timer ticks(ex.context(), from->wanted().period);
    for (;;) {
      in->newest = co_await scraper::once(from);
      in->arrived();
      co_await ticks.next();
    }
  }
  static task<void> fill_once(std::shared_ptr<inbox> in, std::shared_ptr<scraper> from) {
    in->newest = co_await scraper::once(from);
  }
};

struct scrape_source::watched {
  watched(const scrape_target& t, std::shared_ptr<foreign_names> names) : wanted(t), held(std::move(names)) {}
  const scrape_target wanted;
  std::shared_ptr<inbox> in = std::make_shared<inbox>();
  foreign_origin held;
  board::group_ref group = board::no_group;
  board::series_ref up = board::no_series, seconds = board::no_series, bytes = board::no_series,
                    series = board::no_series;
  std::string problem;  // why the last scrape gave no reading, or which samples were not taken
  std::string remark;   // a remark that costs no value
  std::uint64_t readings = 0;
};

scrape_source::scrape_source(scrape_options options, clocks time)
    : options_(std::move(options)), time_(std::move(time)) {
  for (const auto& t : options_.targets) targets_.push_back(std::make_unique<watched>(t, options_.names));
}
scrape_source::~scrape_source() = default;

void scrape_source::start(async::task_group& beside, std::function<void()> arrived) {
  for (const auto& w : targets_) {
    w->in->arrived = arrived;
    beside.keep(
        "scrape of " + w->wanted.name,
        [in = w->in, from = std::make_shared<scraper>(w->wanted, time_)] { return inbox::fill(in, from); });
  }
}

result<void> scrape_source::discover(board& out) {
  group_ = out.add_group("scrape", "", options_.period, metrics::stale_after(options_.period));
  for (const auto& w : targets_) {
    const auto& t = w->wanted;
    w->group = out.add_group("scrape", t.name, t.period, t.longest_age());
    const auto about = [&](const char* family) {
      return out.add_series(group_, family, {{"target", t.name}});
    };
    w->up = about("binnacle_agent_scrape_up");
    w->seconds = about("binnacle_agent_scrape_seconds");
    w->bytes = about("binnacle_agent_scrape_bytes");
    w->series = about("binnacle_agent_scrape_series");
  }
  return {};
}

result<void> scrape_source::read(board& out) {
  for (const auto& w : targets_) {
    if (w->in->newest) take(*w, out);
  }
  // This also happens when all targets are down. An error would make the series absent that say so.
  out.mark_read(group_, time_.now());
  return {};
}

void scrape_source::take(watched& w, board& out) {
  const auto got = *std::exchange(w.in->newest, std::nullopt);
  const bool good = got.reading.has_value();
  out.set(w.up, std::int64_t{good ? 1 : 0});
  out.set(w.seconds, std::chrono::duration<double>(got.took).count());
  out.set(w.bytes, static_cast<std::int64_t>(got.bytes));
  if (!good) {
    w.problem = fmt::format("{}: {}: {}", w.wanted.name, got.why.message, got.remedy);
    w.held.lose(absence_of(got.why.code), out);
    out.set(w.series, std::int64_t{0});
    return;
  }
  if (got.reading->beyond > 0) out.count_refused("bound", got.reading->beyond);
  auto note = w.held.apply(w.group, got.reading->series, got.at, out);
  if (!got.reading->note.empty()) note = got.reading->note;
  w.problem = note.empty() ? std::string() : fmt::format("{}: {}", w.wanted.name, note);
  w.remark = got.remark.empty() ? std::string() : fmt::format("{}: {}", w.wanted.name, got.remark);
  if (++w.readings % sweep_every_readings == 0) w.held.sweep(got.at, out);
  out.set(w.series, static_cast<std::int64_t>(w.held.size()));
  out.mark_read(w.group, got.at);
}

std::string scrape_source::limitation() const {
  problem_summary all;
  for (const auto& w : targets_) all.add(w->problem);
  for (const auto& w : targets_) all.add(w->remark);
  return std::move(all).sentence();
}

std::vector<finding> scrape_source::probe() {
  async::loop loop(1);
  async::task_group all(loop, logger("probe", log_level::off));
  std::vector<std::shared_ptr<inbox>> answers;
  for (const auto& w : targets_) {
    auto wanted = w->wanted;
    wanted.timeout = std::min<duration>(wanted.timeout, std::chrono::seconds(3));
    answers.push_back(std::make_shared<inbox>());
    const auto reader = std::make_shared<scraper>(std::move(wanted), time_);
    all.spawn(w->wanted.name, inbox::fill_once(answers.back(), reader));
  }
  loop.run_for(std::chrono::seconds(5));

  board scratch;
  std::vector<finding> found;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const auto& t = targets_[i]->wanted;
    const auto& got = answers[i]->newest;
    if (!got || !got->reading) {
      found.push_back({finding::grade::broken, t.url(), got ? got->why.message : "nothing came of it",
                       got ? got->remedy : "tell Binnacle's developers"});
      continue;
    }
    foreign_origin held(std::make_shared<foreign_names>());
    auto note = held.apply(scratch.add_group("scrape", t.name, t.period, t.period), got->reading->series,
                           got->at, scratch);
    if (!got->reading->note.empty()) note = got->reading->note;
    if (note.empty()) note = got->remark;
    auto what = fmt::format("{} ({} series of {} samples, {} bytes in {})", t.url(), held.size(),
                            got->reading->samples, got->bytes, human(got->took));
    found.push_back(
        {note.empty() ? finding::grade::works : finding::grade::limited, std::move(what), note, {}});
  }
  return found;
}

}  // namespace binnacle::agent
