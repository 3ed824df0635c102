// When each source is read, and what happens if one fails.
//
// An entry has two times of its own. `ticks` says when the source is read. `look_at` says when the source
// looks again for what there is to read (discover), because devices come and go. A source that failed, or
// that works only in part, looks again soon, and then less and less often (pauses). A source that works looks
// again every regular_look.
//
// What policies watch is read more often than the source's own period, within a budget: the sampler measures
// the CPU time of reads, and a source that costs more than its share is read more slowly (read_budget).
// Sources that wait for a helper process or a scrape report new readings by arrived(). These go to the board
// at once.
//
// A source cannot harm another one. If it throws, that is an error of this source (guarded). If it returns an
// error, its series become absent with the reason. What the board refuses is counted in its own status.
//
// The status of a source may change with every read, but people want to hear of a problem once. say() logs
// problems of a new kind, and for a source that works in part at most one line a minute.

#include "agent/sampling/sampler.hpp"

#include "agent/base/problem_summary.hpp"
#include "agent/kernel/absence_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <set>
#include <utility>

namespace binnacle::agent {
namespace {

bool same(const wire::interest& a, const wire::interest& b) {
  return std::ranges::equal(a.wishes, b.wishes, [](const auto& x, const auto& y) {
    return x.family == y.family && x.period_ms == y.period_ms;
  });
}

// Calls a step of a source and turns an exception into an error. A library that the source uses may throw,
// and that must not affect other sources.
template <class Step>
result<void> guarded(Step step) {
  try {
    return step();
  } catch (const std::exception& e) {
    return error{errc::internal, e.what()};
  }
}

}  // namespace

sampler::sampler(board& out, logger log, clocks time, sampler_options options)
    : out_(out),
      log_(std::move(log)),
      time_(std::move(time)),
      share_(options.share),
      stuck_(options.frozen) {}

void sampler::add(std::unique_ptr<source> s) {
  const auto period = s->period();
  entries_.push_back(
      {.from = std::move(s), .ticks = {instant{}, period}, .budget = read_budget(share_), .asked = period});
}

void sampler::start(instant now) {
  for (auto& e : entries_) {
    e.ticks = schedule(now, e.from->period());
    e.pauses.reset();
    look(e, now);
  }
}

bool sampler::run(instant now) {
  bool any = false;
  // Which source a family belongs to is known only once its series are announced.
  if (wishes_.expire(now) || applied_to_ != out_.version()) apply_interest(now);
  for (auto& e : entries_) {
    if (!e.ticks.due(now) && !e.arrived) continue;
    e.arrived = false;
    e.missed += e.ticks.take(now);
    if (now >= e.look_at) look(e, now);
    if (e.found) read(e, now);
    any = true;
  }
  if (any) stuck_.look(out_, now);
  return any;
}

void sampler::arrived(std::string_view source) {
  for (auto& e : entries_) {
    if (e.from->name() == source) e.arrived = true;
  }
}

instant sampler::next_deadline() const noexcept {
  auto next = entries_.empty() ? instant::max() : wishes_.next_deadline();
  for (const auto& e : entries_) next = std::min(next, e.arrived ? instant{} : e.ticks.next());
  return next;
}

void sampler::look(entry& e, instant now) {
  e.look_at = now + (e.up ? regular_look : e.pauses.next());
  const auto refusals = out_.refusals();
  const auto there = guarded([&] { return e.from->discover(out_); });
  e.refused_by_look = refusal_since(refusals);
  if (!there) return failed(e, there.error(), now);
  e.found = true;
}

void sampler::read(entry& e, instant now) {
  const auto before = time_.now();
  const auto worked = time_.worked();
  const auto refusals = out_.refusals();
  const auto done = guarded([&] { return e.from->read(out_); });
  e.last_read = time_.now() - before;
  e.budget.took(time_.worked() - worked);
  set_period(e, now);
  if (!done) return failed(e, done.error(), now);
  const bool came_back = !e.up;
  e.up = true;
  const auto limited = e.from->limitation();
  if (limited.empty()) {
    e.pauses.reset();
    if (came_back || e.look_at > now + regular_look) e.look_at = now + regular_look;
  } else if (e.look_at > now + e.pauses.upcoming()) {
    // Something is missing: look for it soon, then less and less often.
    e.look_at = now + e.pauses.next();
  }
  std::string message = limited;
  // If the source itself knows which of its series were refused, its own sentence is better.
  const auto refused = refusal_since(refusals);
  for (const auto& more :
       {limited.empty() ? refused : std::string(), limited.empty() ? e.refused_by_look : std::string(),
        e.slowed, stuck_.sentence(e.from->name(), out_)}) {
    if (!more.empty()) message += (message.empty() ? "" : "; ") + more;
  }
  say(e, true, message, now);
}

std::string sampler::refusal_since(std::uint64_t refusals) const {
  const auto count = out_.refusals() - refusals;
  if (count == 0) return {};
  return fmt::format("{} of its series {} refused, the last one: {}", count, count == 1 ? "is" : "are",
                     out_.last_refusal());
}

void sampler::failed(entry& e, const error& why, instant now) {
  out_.set_without_value(e.from->name(), absence_of(why.code));
  if (e.up) {
    e.up = false;
    e.pauses.reset();
    e.look_at = now + e.pauses.next();
  }
  say(e, false, why.message, now);
}

void sampler::say(entry& e, bool ok, const std::string& message, instant now) {
  const std::string name(e.from->name());
  out_.set_status(name, ok, message);
  const auto [what, more] = problem_summary::outline_of(message);
  const bool same = e.told_ok == ok && e.told == what;
  if (same && more <= e.told_more) {  // already logged
    // If there have been fewer problems for long, then the next time there are more is news.
    if (more < e.told_more && e.lines.take(now)) e.told_more = more;
    return;
  }
  const bool still_in_part = e.told_ok == true && ok && !e.told.empty() && !what.empty();
  if (!still_in_part) e.lines.reset();
  if (!e.lines.take(now)) return;
  e.told_ok = ok;
  e.told = what;
  e.told_more = more;
  if (!ok) {
    log_.warning("source {} does not work: {}", name, message);
  } else if (!message.empty()) {
    log_.warning("source {} works in part: {}", name, message);
  } else {
    log_.info("source {} works", name);
  }
}

void sampler::set_interest(std::size_t link, const wire::interest& wanted, instant now) {
  wishes_.set(link, wanted);
  apply_interest(now);
}

void sampler::lose_interest(std::size_t link, instant now) { wishes_.lost(link, now); }

void sampler::apply_interest(instant now) {
  applied_to_ = out_.version();
  const auto wanted = wishes_.wanted();
  // A family belongs to the source that METRICS.md names, and to each source that brought a series of it
  // (for example a user's file).
  std::map<std::string_view, std::set<std::string_view>> sources;
  for (const auto& w : wanted.wishes) {
    const auto* family = metrics::find(w.family);
    auto& those = sources[w.family];
    if (family != nullptr) those.insert(family->source);
  }
  if (!wanted.wishes.empty()) {
    for (const auto& s : out_.series()) {
      const auto at = s.removed ? sources.end() : sources.find(s.info.family);
      if (at != sources.end()) at->second.insert(out_.groups()[s.info.group].info.source);
    }
  }
  for (auto& e : entries_) {
    wire::interest own;
    e.asked = e.from->period();
    for (const auto& w : wanted.wishes) {
      if (!sources[w.family].contains(e.from->name())) continue;
      own.wishes.push_back(w);
      const duration period = std::chrono::milliseconds(w.period_ms);
      e.asked = std::min(e.asked, std::max(period, e.from->least_period()));
    }
    if (!same(own, e.wanted)) {
      e.wanted = std::move(own);
      e.from->set_interest(e.wanted);
    }
    set_period(e, now);
  }
}

void sampler::set_period(entry& e, instant now) {
  const auto period = e.budget.allowed(e.asked, e.from->period());
  e.slowed =
      period == e.asked
          ? std::string()
          : fmt::format(
                "it is read every {} instead of every {} as wanted, which would take more than {} % of "
                "a core (read-budget)",
                human(period), human(e.asked), share_ * 100);
  if (period == e.ticks.period()) return;
  if (e.up && e.period_lines.take(now))
    log_.info("source {} is read every {} now", e.from->name(), human(period));
  e.ticks.set_period(period, now);
}

std::vector<sampler::health> sampler::report() const {
  std::vector<health> all;
  all.reserve(entries_.size());
  for (const auto& e : entries_) {
    all.push_back({std::string(e.from->name()), e.up, e.last_read, e.ticks.period(), e.missed,
                   stuck_.count(e.from->name()), e.from->events()});
  }
  return all;
}

}  // namespace binnacle::agent
