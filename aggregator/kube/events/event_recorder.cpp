#include "aggregator/kube/events/event_recorder.hpp"

#include "aggregator/kube/refusal.hpp"
#include "aggregator/kube/times.hpp"
#include "common/text/json_writer.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::kube {
namespace {

using namespace std::chrono_literals;
using binnacle::duration;

constexpr duration quiet = 6min;     // without a repeat: a later one is a new event
constexpr duration between = 30min;  // between two counts of one series
constexpr std::size_t most_known = 1024;
constexpr std::size_t longest_note = 1024;

/// Events about objects without a namespace go into "default".
const std::string& space_of(const object_reference& about) {
  static const std::string fallback = "default";
  return about.name_space.empty() ? fallback : about.name_space;
}

std::string collection(const object_reference& about) {
  return fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", space_of(about));
}

}  // namespace

event_recorder::event_recorder(settings s)
    : settings_(std::move(s)), writes_(settings_.burst, settings_.refill) {}

void event_recorder::record(note n, instant now, wall clock) {
  ++counters_.recorded;
  forget_quiet(now);
  space& here = spaces_[n.about.name_space];
  auto at = here.known.find(n);
  if (at == here.known.end()) {
    if (known_ >= most_known && !make_room(here)) {
      ++counters_.dropped;
      return;
    }
    at = here.known.emplace(std::move(n), series{}).first;
    ++known_;
  }
  series& s = at->second;
  ++s.count;
  s.last = now;
  s.last_wall = clock;
  // The first, and the first repeat, are written as soon as they can be; further ones now and then.
  if (s.count <= 2 || now - s.written_at >= between) enqueue(here, at->first, s);
}

event_recorder::series* event_recorder::find(const note& n) {
  const auto here = spaces_.find(n.about.name_space);
  if (here == spaces_.end()) return nullptr;
  const auto at = here->second.known.find(n);
  return at == here->second.known.end() ? nullptr : &at->second;
}

/// If that is one too many, the longest line loses its newest note. `n` and `s` may be gone afterwards.
void event_recorder::enqueue(space& here, const note& n, series& s) {
  if (s.waiting) return;
  s.waiting = true;
  (n.warning ? here.warnings : here.others).push_back(n);
  if (++waiting_ <= settings_.most_waiting) return;
  drop_newest(
      std::ranges::max_element(spaces_, {}, [](const auto& one) { return one.second.waiting(); })->second);
}

void event_recorder::drop_newest(space& from) {
  std::deque<note>& line = from.others.empty() ? from.warnings : from.others;
  from.known.erase(line.back());
  line.pop_back();
  --known_;
  --waiting_;
  ++counters_.dropped;
}

/// Makes room for one more series. The namespace that has the most loses the one that has been quiet for
/// longest. False: `for_whom` has as many itself.
bool event_recorder::make_room(const space& for_whom) {
  space& from =
      std::ranges::max_element(spaces_, {}, [](const auto& one) { return one.second.known.size(); })->second;
  if (from.known.size() <= for_whom.known.size() + 1) return false;
  auto quietest = from.known.end();
  for (auto at = from.known.begin(); at != from.known.end(); ++at) {
    if (at->second.waiting || at->first == under_way_) continue;
    if (quietest == from.known.end() || at->second.last < quietest->second.last) quietest = at;
  }
  if (quietest != from.known.end()) {
    from.known.erase(quietest);
    --known_;
  } else if (from.waiting() != 0) {
    drop_newest(from);
  }
  return true;
}

// A series that has ended is written for the last time with its final count, then forgotten.
void event_recorder::forget_quiet(instant now) {
  for (auto& [name, here] : spaces_) {
    for (auto at = here.known.begin(); at != here.known.end();) {
      series& s = at->second;
      const bool over = now - s.last >= quiet && !s.waiting && at->first != under_way_;
      const bool owes_a_count = s.count != s.written && !s.event_name.empty();
      if (over && !owes_a_count) {
        at = here.known.erase(at);
        --known_;
        continue;
      }
      if (over && waiting_ < settings_.most_waiting) enqueue(here, at->first, s);
      ++at;
    }
  }
  std::erase_if(spaces_, [](const auto& one) { return one.second.known.empty(); });
}

/// The namespace whose turn it is, of those with a note that waits. There must be one.
event_recorder::space& event_recorder::next_space() {
  for (auto at = spaces_.upper_bound(last_space_);; ++at) {
    if (at == spaces_.end()) at = spaces_.begin();
    if (at->second.waiting() == 0) continue;
    last_space_ = at->first;
    return at->second;
  }
}

std::optional<http::call> event_recorder::next(instant now, wall clock) {
  if (under_way_ || now < paused_until_) return std::nullopt;
  forget_quiet(now);
  if (waiting_ == 0 || !writes_.take(now)) return std::nullopt;
  space& here = next_space();
  std::deque<note>& line = here.warnings.empty() ? here.others : here.warnings;
  under_way_ = std::move(line.front());
  line.pop_front();
  --waiting_;
  series& s = here.known.at(*under_way_);
  s.waiting = false;
  counting_ = s.count;
  return s.event_name.empty() ? create(*under_way_, s, clock) : count_up(*under_way_, s);
}

std::optional<instant> event_recorder::wakes(instant now) const {
  if (under_way_ || waiting_ == 0) return std::nullopt;
  return std::max({now, writes_.next(), paused_until_});
}

http::call event_recorder::create(const note& n, series& s, wall clock) {
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(clock.time_since_epoch()).count();
  // Unique enough for an event's hour; other components name theirs in the same way.
  s.event_name =
      fmt::format("{}.{:x}", clip(n.about.name, 230), static_cast<std::uint64_t>(nanos) + counters_.written);
  std::string body;
  json_writer out(body);
  out.begin_object().field("apiVersion", "events.k8s.io/v1").field("kind", "Event");
  out.key("metadata")
      .begin_object()
      .field("name", s.event_name)
      .field("namespace", space_of(n.about))
      .end_object();
  out.field("eventTime", micro_time(s.last_wall)).field("type", n.warning ? "Warning" : "Normal");
  out.field("reason", clip(n.reason, 128))
      .field("action", clip(n.action, 128))
      .field("note", clip(n.text, longest_note));
  out.field("reportingController", settings_.controller)
      .field("reportingInstance", clip(settings_.instance, 128));
  out.key("regarding").begin_object().field("kind", n.about.kind).field("apiVersion", n.about.api_version);
  if (!n.about.name_space.empty()) out.field("namespace", n.about.name_space);
  out.field("name", n.about.name).field("uid", n.about.uid).end_object();
  if (s.count > 1) {
    out.key("series").begin_object().field("count", s.count);
    out.field("lastObservedTime", micro_time(s.last_wall)).end_object();
  }
  out.end_object();
  http::call call;
  call.method = "POST";
  call.target = collection(n.about);
  call.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  call.body = std::move(body);
  return call;
}

http::call event_recorder::count_up(const note& n, const series& s) const {
  std::string body;
  json_writer out(body);
  out.begin_object().key("series").begin_object().field("count", s.count);
  out.field("lastObservedTime", micro_time(s.last_wall)).end_object().end_object();
  http::call call;
  call.method = "PATCH";
  call.target = collection(n.about) + "/" + s.event_name;
  call.headers = {{"Content-Type", "application/merge-patch+json"}, {"Accept", "application/json"}};
  call.body = std::move(body);
  return call;
}

void event_recorder::answered(const http::answer& a, instant now) {
  if (!under_way_) return;
  const note n = *std::exchange(under_way_, std::nullopt);
  series* const s = find(n);  // null: it gave way meanwhile
  const auto r = refusal_of(a);
  if (!r) {
    ++counters_.written;
    pauses_.reset();
    if (s == nullptr) return;
    s->written = counting_;
    s->written_at = now;
    return;
  }
  ++counters_.failed;
  const bool was_there = s != nullptr && s->written > 0;
  if (s != nullptr && !was_there) s->event_name.clear();
  if (r->status == 404 && was_there) {
    // The server deletes events after an hour. The series goes on with a new event.
    s->event_name.clear();
    s->written = 0;
    enqueue(spaces_.at(n.about.name_space), n, *s);
    return;
  }
  if (r->status == 429 || r->status >= 500) {
    if (s != nullptr) enqueue(spaces_.at(n.about.name_space), n, *s);
    paused_until_ = now + std::max(pauses_.next(), r->retry_after.value_or(duration::zero()));
    return;
  }
  // The API server would refuse it again: the namespace is being deleted, or we lack a right. If it was said
  // once more meanwhile, it waits already, and is tried once more.
  if (s != nullptr && !s->waiting) {
    spaces_.at(n.about.name_space).known.erase(n);
    --known_;
  }
  ++counters_.dropped;
  paused_until_ = now + 1s;
}

void event_recorder::broke(const error&, instant now) {
  if (!under_way_) return;
  const note n = *std::exchange(under_way_, std::nullopt);
  ++counters_.failed;
  if (series* const s = find(n)) {
    if (s->written == 0) s->event_name.clear();
    enqueue(spaces_.at(n.about.name_space), n, *s);
  }
  paused_until_ = now + pauses_.next();
}

}  // namespace binnacle::kube
