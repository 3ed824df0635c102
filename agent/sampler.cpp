#include "agent/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace binnacle::agent {
namespace {

using std::chrono::seconds;

constexpr duration first_pause = seconds(1);
constexpr duration longest_pause = seconds(60);
constexpr duration regular_look = std::chrono::minutes(5);  // zones, page sizes and disks come and go

wire::absence absence_for(errc code) {
  switch (code) {
    case errc::permission: return wire::absence::permission;
    case errc::not_found:
    case errc::unsupported: return wire::absence::missing;
    case errc::invalid_input: return wire::absence::malformed;
    case errc::timeout: return wire::absence::timeout;
    default: return wire::absence::no_data;
  }
}

// A source is ours, but a library under it may throw; nothing that one throws may reach the others.
template <class Step>
result<void> guarded(Step step) {
  try {
    return step();
  } catch (const std::exception& e) {
    return error{errc::internal, e.what()};
  }
}

}  // namespace

sampler::sampler(board& out, logger log, clocks time)
    : out_(out), log_(std::move(log)), time_(std::move(time)) {}

void sampler::add(std::unique_ptr<source> s, duration least_period) {
  const auto period = s->period();
  entries_.push_back(
      {.from = std::move(s), .least = std::min(least_period, period), .ticks = {instant{}, period}});
}

void sampler::start(instant now) {
  for (auto& e : entries_) {
    e.ticks = schedule(now, e.from->period());
    e.pause = first_pause;
    look(e, now);
  }
}

bool sampler::run(instant now) {
  bool any = false;
  for (auto& e : entries_) {
    if (!e.ticks.due(now) && !e.arrived) continue;
    e.arrived = false;
    e.missed += e.ticks.take(now);
    if (now >= e.look_at) look(e, now);
    if (e.found) read(e, now);
    any = true;
  }
  return any;
}

void sampler::arrived(std::string_view source) {
  for (auto& e : entries_) {
    if (e.from->name() == source) e.arrived = true;
  }
}

instant sampler::next_deadline() const noexcept {
  auto next = instant::max();
  for (const auto& e : entries_) next = std::min(next, e.arrived ? instant{} : e.ticks.next());
  return next;
}

void sampler::look(entry& e, instant now) {
  e.look_at = now + (e.up ? regular_look : e.pause);
  if (!e.up) e.pause = std::min(e.pause * 2, longest_pause);
  const auto there = guarded([&] { return e.from->discover(out_); });
  if (!there) return failed(e, there.error(), now);
  e.found = true;
}

void sampler::read(entry& e, instant now) {
  const auto before = time_.now();
  const auto done = guarded([&] { return e.from->read(out_); });
  e.last_read = time_.now() - before;
  if (!done) return failed(e, done.error(), now);
  const bool came_back = !e.up;
  e.up = true;
  const auto limited = e.from->limitation();
  if (limited.empty()) {
    e.pause = first_pause;
    if (came_back || e.look_at > now + regular_look) e.look_at = now + regular_look;
  } else if (e.look_at > now + e.pause) {
    // Something is missing: look for it soon, then less and less often.
    e.look_at = now + e.pause;
    e.pause = std::min(e.pause * 2, longest_pause);
  }
  say(e, true, limited);
}

void sampler::failed(entry& e, const error& why, instant now) {
  const auto reason = absence_for(why.code);
  const auto& groups = out_.groups();
  for (board::group_ref g = 0; g < groups.size(); ++g) {
    if (!groups[g].removed && groups[g].info.source == e.from->name()) out_.set_without_value(g, reason);
  }
  if (e.up) {
    e.up = false;
    e.look_at = now + first_pause;
    e.pause = 2 * first_pause;
  }
  say(e, false, why.message);
}

void sampler::say(const entry& e, bool ok, const std::string& message) {
  const auto before = out_.status_change();
  const std::string name(e.from->name());
  out_.set_status(name, ok, message);
  if (out_.status_change() == before) return;  // a person was told already
  if (!ok) {
    log_.warning("source {} does not work: {}", name, message);
  } else if (!message.empty()) {
    log_.warning("source {} works in part: {}", name, message);
  } else {
    log_.info("source {} works", name);
  }
}

void sampler::set_interest(std::size_t link, const wire::interest& wanted, instant now) {
  auto& wishes = wishes_[link];
  wishes.clear();
  for (const auto& w : wanted.wishes) {
    const auto* family = metrics::find(w.family);
    if (family == nullptr || w.period_ms == 0) continue;
    const duration period = std::chrono::milliseconds(w.period_ms);
    const auto [it, fresh] = wishes.emplace(family->source, period);
    if (!fresh) it->second = std::min(it->second, period);
  }
  if (wishes.empty()) wishes_.erase(link);
  apply_interest(now);
}

void sampler::apply_interest(instant now) {
  for (auto& e : entries_) {
    auto period = e.from->period();
    for (const auto& [link, wishes] : wishes_) {
      const auto it = wishes.find(std::string(e.from->name()));
      if (it != wishes.end()) period = std::min(period, std::max(it->second, e.least));
    }
    if (period == e.ticks.period()) continue;
    log_.info("source {} is read every {} now", e.from->name(), human(period));
    e.ticks.set_period(period, now);
  }
}

std::vector<sampler::health> sampler::report() const {
  std::vector<health> all;
  all.reserve(entries_.size());
  for (const auto& e : entries_) {
    all.push_back({std::string(e.from->name()), e.up, e.last_read, e.ticks.period(), e.missed});
  }
  return all;
}

}  // namespace binnacle::agent
