#include "cli/dashboard/feed.hpp"

#include "cli/dashboard/event_parts.hpp"
#include "cli/dashboard/fleet.hpp"
#include "cli/doctor/cluster/status_findings.hpp"
#include "cli/views/units.hpp"
#include "cli/views/why.hpp"
#include "common/async/task_group.hpp"
#include "common/async/timers.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

namespace binnacle::cli::dashboard {

using async::task;

/// One topic and what is known about it.
struct feed::source {
  source(async::loop& on, topic t) : about(std::move(t)), changed(on) {}

  const topic about;
  std::size_t followers = 0;
  async::event changed;  // a follower came, or wants other metrics: ask at once
  fleet nodes;           // of subject::fleet
  std::string answer;    // for a topic that one replica answers: the text of its answer
  std::string text;      // for other topics: the event's data
  std::string trouble;   // why the newest try failed; empty: it succeeded
  std::uint64_t version = 0;
};

struct feed::follower::place {
  std::shared_ptr<source> from;
  std::uint64_t seen = 0;        // the version of the source that this page has
  std::uint64_t seen_nodes = 0;  // the version of its fleet that this page has
};

/// A page without a stream, and what it follows.
struct feed::asker {
  asker(async::loop& on, std::unique_ptr<follower> f) : asked(on), following(std::move(f)) {}

  async::event asked;
  std::vector<topic> what;
  std::vector<std::string> metrics;
  std::unique_ptr<follower> following;
};

struct feed::impl {
  impl(async::loop& on, upstream u, rounds& d, pod_names& n, logger l)
      : loop(on), from(std::move(u)), doctor(d), names(n), log(l), group(on, std::move(l)) {}

  async::loop& loop;
  upstream from;
  rounds& doctor;
  pod_names& names;
  logger log;
  std::map<topic, std::shared_ptr<source>> sources;
  std::set<follower*> followers;
  std::map<std::string, std::shared_ptr<asker>, std::less<>> askers;
  totals count;
  async::task_group group;

  /// The metrics that pages ask for beyond those that the aggregator chooses itself; without those of the
  /// page `one`.
  std::vector<std::string> metrics(const follower* one = nullptr) const;
  void wake(const source& whose) const;
  task<void> keep(std::shared_ptr<source> s);
  task<bool> ask(source& s);
  task<void> forget(std::string page, std::shared_ptr<asker> a);
  totals now() const {
    totals all = count;
    all.pages = followers.size();
    all.topics = sources.size();
    return all;
  }
};

namespace {

/// As JSON: what each replica says of itself, and what the doctor finds in it.
std::string status_text(const std::vector<upstream::told>& all, const feed::totals& own) {
  std::string text;
  json_writer out(text);
  out.begin_object().field("nowMs", unix_ms()).key("replicas").begin_array();
  for (const auto& t : all) {
    out.begin_object().field("url", t.url);
    if (t.said.has_error()) {
      out.field("error", t.said.error().message);
    } else {
      out.key("status").raw(to_text(t.said->json));
      add_findings(out, doctor::findings_of_status(t.said->json, t.url));
    }
    out.end_object();
  }
  out.end_array()
      .key("dashboard")
      .begin_object()
      .field("pages", own.pages)
      .field("topics", own.topics)
      .field("asked", own.asked);
  out.field("conflated", own.conflated).end_object().end_object();
  return text;
}

std::string decisions_text(const std::vector<upstream::told>& all, const std::string& pod) {
  std::vector<told_decision> decisions;
  std::string text;
  json_writer out(text);
  out.begin_object().field("about", pod).field("nowMs", unix_ms()).key("errors").begin_array();
  for (const auto& t : all) {
    if (t.said.has_error()) {
      out.value(t.said.error().message);
      continue;
    }
    for (const auto& record : list(t.said->json, "decisions")) decisions.push_back({record, t.url});
    if (const std::int64_t omitted = integer(t.said->json, "omitted"); omitted > 0)
      out.value(fmt::format("{}: {} had no room in the answer", t.url, counted(omitted, "older decision")));
  }
  out.end_array().key("decisions").begin_array();
  for (told_decision& d : newest_first(std::move(decisions), true)) {
    if (auto* o = d.record.if_object()) (*o)["aggregator"] = d.url;
    out.raw(to_text(d.record));
  }
  out.end_array().end_object();
  return text;
}

/// As JSON: for each replica, the agents that it lacks and another replica has.
std::string links_text(const std::vector<upstream::told>& all) {
  constexpr std::size_t most_named = 50;
  std::set<std::string> linked;
  for (const auto& t : all) {
    if (t.said.has_error()) continue;
    for (const auto& node : list(t.said->json, "nodes")) {
      if (flag(node, "connected")) linked.insert(text(node, "name"));
    }
  }
  std::string out_text;
  json_writer out(out_text);
  out.begin_object().field("nowMs", unix_ms()).key("replicas").begin_array();
  for (const auto& t : all) {
    out.begin_object().field("url", t.url);
    if (t.said.has_error()) {
      out.field("error", t.said.error().message).end_object();
      continue;
    }
    std::set<std::string> missing = linked;
    for (const auto& node : list(t.said->json, "nodes")) {
      if (flag(node, "connected")) missing.erase(text(node, "name"));
    }
    out.field("missing", missing.size()).key("first").begin_array();
    std::size_t named = 0;
    for (const std::string& name : missing) {
      if (++named > most_named) break;
      out.value(name);
    }
    out.end_array().end_object();
  }
  out.end_array().end_object();
  return out_text;
}

std::string answer_text(const upstream::told& t, const std::string& about) {
  std::string text;
  json_writer out(text);
  out.begin_object().field("about", about).field("nowMs", unix_ms()).field("url", t.url).key("answer");
  out.raw(to_text(t.said->json)).end_object();
  return text;
}

std::string trouble_text(const topic& about, const std::string& sentence) {
  std::string text;
  json_writer out(text);
  out.begin_object().field("about", about.about).field("nowMs", unix_ms()).field("error", sentence);
  out.end_object();
  return text;
}

/// An event is one line: JSON has no line feeds outside strings, and escapes them inside.
void add_event(std::string& out, std::string_view name, std::string_view data) {
  fmt::format_to(std::back_inserter(out), "event: {}\ndata: {}\n\n", name, data);
}

}  // namespace

std::vector<std::string> feed::impl::metrics(const follower* one) const {
  std::set<std::string> all;
  for (const follower* f : followers) {
    if (f != one) all.insert(f->metrics_.begin(), f->metrics_.end());
  }
  return {all.begin(), all.end()};
}

void feed::impl::wake(const source& whose) const {
  for (const follower* f : followers) {
    if (std::ranges::any_of(f->places_, [&](const auto& p) { return p.from.get() == &whose; })) f->wake_();
  }
}

// Asks the aggregator once. True if there is something new for the pages.
task<bool> feed::impl::ask(source& s) {
  if (s.about.what == subject::doctor) {
    s.text = co_await doctor.make();
    co_return !s.text.empty();
  }
  if (s.about.what == subject::pods) {
    s.text = co_await names.ask(s.about.about);
    co_return !s.text.empty();
  }
  ++count.asked;
  const std::string target =
      target_of(s.about, s.about.what == subject::fleet ? metrics() : std::vector<std::string>());
  if (is_each_replicas(s.about.what)) {
    const auto all = co_await from.ask_each(target);
    switch (s.about.what) {
      case subject::status: s.text = status_text(all, now()); break;
      case subject::links: s.text = links_text(all); break;
      default: s.text = decisions_text(all, s.about.about);
    }
    co_return true;
  }
  auto told = co_await from.ask_one(target);
  const std::string before =
      std::exchange(s.trouble, told.said.has_error() ? told.said.error().message : std::string());
  if (told.said.has_error()) co_return true;
  if (s.about.what == subject::fleet) {
    s.nodes.take(told.said->json, unix_ms());
    co_return true;
  }
  if (s.version > 0 && before.empty() && s.answer == told.said->text) co_return false;
  s.text = answer_text(told, s.about.about);
  s.answer = std::move(told.said->text);
  co_return true;
}

// Asks again and again as long as some page follows the topic.
task<void> feed::impl::keep(std::shared_ptr<source> s) {
  while (s->followers > 0) {
    const auto due = std::chrono::steady_clock::now();
    const bool is_new = co_await ask(*s);
    if (is_new) {
      ++s->version;
      wake(*s);
    }
    co_await s->changed.wait(due + pause_of(s->about.what, s->nodes.size()));
  }
  // If a page followed the topic again meanwhile, the map holds a new source, which must stay.
  if (const auto at = sources.find(s->about); at != sources.end() && at->second == s) sources.erase(at);
}

// Ends what a page without a stream follows when it no longer asks.
task<void> feed::impl::forget(std::string page, std::shared_ptr<asker> a) {
  bool still_asks = true;
  while (still_asks) still_asks = co_await a->asked.wait(async::within(patience));
  askers.erase(page);
}

feed::feed(async::loop& on, upstream from, rounds& doctor, pod_names& names, logger log)
    : impl_(std::make_shared<impl>(on, std::move(from), doctor, names, std::move(log))) {}
feed::~feed() = default;

void feed::stop() {
  impl_->group.cancel();
  impl_->askers.clear();  // what they follow holds impl, which holds them
}

feed::totals feed::counters() const noexcept { return impl_->now(); }

result<std::unique_ptr<feed::follower>> feed::follow(const std::vector<topic>& what,
                                                     std::vector<std::string> metrics,
                                                     std::function<void()> wake) {
  auto f = std::unique_ptr<follower>(new follower(impl_));
  f->wake_ = std::move(wake);
  impl_->followers.insert(f.get());
  if (const auto fits = f->change(what, std::move(metrics)); fits.has_error()) return fits.error();
  return f;
}

result<std::string> feed::changes(const std::string& page, const std::vector<topic>& what,
                                  const std::vector<std::string>& metrics) {
  auto& askers = impl_->askers;
  auto at = askers.find(page);
  if (at == askers.end()) {
    if (askers.size() == most_askers) {
      return error{errc::overloaded,
                   fmt::format("{} windows show the dashboard already: close some", most_askers)};
    }
    auto following = follow(what, metrics, [] {});
    if (following.has_error()) return following.error();
    at = askers.emplace(page, std::make_shared<asker>(impl_->loop, std::move(*following))).first;
    impl_->group.spawn("a page without a stream", impl_->forget(page, at->second));
  } else if (at->second->what != what || at->second->metrics != metrics) {
    if (const auto fits = at->second->following->change(what, metrics); fits.has_error()) return fits.error();
  }
  asker& a = *at->second;
  a.what = what;
  a.metrics = metrics;
  a.asked.notify();
  return a.following->next();
}

feed::follower::follower(std::shared_ptr<impl> of) : of_(std::move(of)) {}

feed::follower::~follower() {
  of_->followers.erase(this);
  for (const place& p : places_) leave(*p.from);
}

void feed::follower::leave(source& s) {
  if (--s.followers > 0) return;
  auto& sources = of_->sources;
  if (const auto at = sources.find(s.about); at != sources.end() && at->second.get() == &s) sources.erase(at);
  s.changed.notify();
}

result<void> feed::follower::change(const std::vector<topic>& what, std::vector<std::string> metrics) {
  const std::set<topic> wanted(what.begin(), what.end());
  std::size_t more = 0;
  for (const topic& t : wanted) more += of_->sources.contains(t) ? 0 : 1;
  if (of_->sources.size() + more > most_topics) {
    return error{errc::overloaded,
                 fmt::format("the open pages follow {} things already: close some", most_topics)};
  }
  const auto asked = of_->metrics();
  auto known = of_->metrics(this);
  std::set<std::string> all(metrics.begin(), metrics.end());
  const bool is_new = !std::ranges::includes(asked, all);
  all.insert(known.begin(), known.end());
  const auto is_counted = [](std::string_view metric) { return metric != uncounted_metric; };
  if (std::ranges::count_if(all, is_counted) > static_cast<std::ptrdiff_t>(most_extra_metrics)) {
    std::erase_if(known, [&](const std::string& metric) { return !is_counted(metric); });
    return error{
        errc::overloaded,
        fmt::format("the open pages show {} metrics already: {}; choose one of them, or close a page",
                    most_extra_metrics, fmt::join(known, ", "))};
  }

  metrics_ = std::move(metrics);
  std::vector<place> before = std::exchange(places_, {});
  for (const topic& t : wanted) {
    const auto at =
        std::ranges::find_if(before, [&](const place& p) { return p.from && p.from->about == t; });
    if (at != before.end()) {
      places_.push_back(std::move(*at));
      at->from = nullptr;
      // The part of the page that shows the fleet stays, so the fleet goes on. Other parts are built anew, so
      // their topics are told from the beginning.
      if (t.what != subject::fleet) places_.back().seen = 0;
      if (t.what == subject::fleet && is_new) places_.back().from->changed.notify();
      continue;
    }
    auto& s = of_->sources[t];
    const bool begins = s == nullptr;
    if (begins) s = std::make_shared<source>(of_->loop, t);
    ++s->followers;
    places_.push_back({s, 0, 0});
    if (begins) {
      of_->group.spawn(std::string(name_of(t.what)), of_->keep(s));
    } else if (t.what == subject::fleet && is_new) {
      s->changed.notify();
    }
  }
  for (const place& p : before) {
    if (p.from) leave(*p.from);
  }
  return {};
}

std::string feed::follower::next() {
  std::string events;
  for (place& p : places_) {
    const source& s = *p.from;
    if (s.version == p.seen) continue;
    if (p.seen > 0) of_->count.conflated += s.version - p.seen - 1;
    p.seen = s.version;
    const std::string_view name = name_of(s.about.what);
    if (!s.trouble.empty()) {
      add_event(events, name, trouble_text(s.about, s.trouble));
    } else if (s.about.what == subject::fleet) {
      add_event(events, name, s.nodes.since(p.seen_nodes));
      p.seen_nodes = s.nodes.version();
    } else {
      add_event(events, name, s.text);
    }
  }
  return events;
}

}  // namespace binnacle::cli::dashboard
