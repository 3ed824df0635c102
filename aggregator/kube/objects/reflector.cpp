// List and watch: how one collection of the API server is followed, and what an API server does to its
// followers.
//
//   list (pages) ─→ watch ─→ ended, silent, broken ─→ watch from the last version ─→ …
//     ↑                            │
//     └── 410 Expired, a version that the server does not know, an event that cannot be read
//
// The state is small: the version up to which everything is known, and the version of each object. The
// watcher is told of each object once per version (upsert), however often a list or a watch brings it.
// Objects that are missing from a new list are reported as gone. So the watcher sees the same changes whether
// a watch ran on, broke for an hour, or was replaced by a list.
//
// There may be 200,000 objects, and all may be missing. So they are compared in parts (compare_some()), and
// whoever shares the thread has a turn in between. Each known object has the number of the last list that had
// it, so nothing else has to be kept or cleared. The next watch begins behind the last part. Until then an
// object that is missing just counts as known for a little longer.
//
// In a cluster of thousands of nodes it matters where the server takes a list from:
// - the first list from the watch cache (resourceVersion=0), which costs etcd nothing and may be old;
// - a list after a break at our last version or newer, because an older one would bring back objects that
//   were already gone;
// - a list after "expired" from etcd, because the cache may have forgotten the same versions.
//
// A silent watch and a refusing server are treated differently. A bookmark comes every minute, so a watch
// without a byte for 150 s is dead (TCP may notice only after a quarter of an hour), and a new one begins at
// once. After a refusal the client pauses, each time for longer. A 404 may come from an API server that has
// just started: the collection counts as gone only if it lasts for half a minute. A single 429 is no trouble
// either: a server says "storage is (re)initializing" to the first watch of a collection that is new.

#include "aggregator/kube/objects/reflector.hpp"

#include "common/http/target.hpp"
#include "common/text/json_members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::kube {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr duration list_deadline = 60s;
// Bookmarks come about once a minute. After two and a half minutes without one the connection is dead.
constexpr duration longest_silence = 150s;
// A watch that ends sooner than this, without an event, counts as a failure of the server.
constexpr duration shortest_watch = 1s;
constexpr duration calm = 2min;           // without a failure: the next one starts from the smallest pause
constexpr duration surely_removed = 30s;  // a starting API server may say 404 for a moment

struct metadata {
  object_key key;
  std::string_view version;
  bool usable() const { return !key.name.empty() && !version.empty(); }
};

metadata metadata_of(const json::object& object) {
  const json::object* meta = object_in(object, "metadata");
  if (meta == nullptr) return {};
  return {{std::string(text_in(*meta, "namespace")), std::string(text_in(*meta, "name"))},
          text_in(*meta, "resourceVersion")};
}

}  // namespace

reflector::reflector(settings s, watcher& tell, std::uint64_t seed)
    : settings_(std::move(s)),
      page_(settings_.page),
      tell_(tell),
      random_(seed),
      pauses_({400ms, 1600ms, 30s}) {}

reflector::action reflector::next(instant) {
  if (comparing_) {
    compare_some();
    return {step::wait, {}, {}, duration::zero()};
  }
  if (watching_ && opened_ && std::exchange(read_again_, false)) {
    for (auto& [key, known] : known_) known.version.clear();
    relist(from::last);
  }
  opened_ = false;
  if (pause_) return {step::wait, {}, {}, *std::exchange(pause_, std::nullopt)};
  if (!watching_) {
    ++counters_.lists;
    items_come_ = false;
    return {step::list, list_target(), settings_.list_accept, list_deadline};
  }
  ++counters_.watches;
  return {step::watch, watch_target(), settings_.watch_accept, longest_silence};
}

/// The target of a request: the collection, with the selector of the wanted objects.
std::string reflector::asked(std::string_view how) const {
  std::string out = fmt::format("{}?{}", settings_.path, how);
  if (!settings_.field_selector.empty())
    out += "&fieldSelector=" + http::query_escaped(settings_.field_selector);
  return out;
}

// resourceVersion=0 is served from the watch cache at no cost to etcd; pages, and the list after an expired
// version, come from etcd.
std::string reflector::list_target() const {
  std::string out = asked(fmt::format("limit={}", page_));
  if (!continue_.empty()) return out + "&continue=" + http::query_escaped(continue_);
  // With a version the server would leave out the limit, or take the version as exact.
  if (settings_.page != usual_page) return out;
  switch (list_from_) {
    case from::cache: return out + "&resourceVersion=0";
    // Without a limit: with one the server would take the version as exact, not as the least.
    case from::last: return asked("resourceVersion=" + http::query_escaped(version_));
    case from::newest: break;
  }
  return out;
}

std::string reflector::watch_target() {
  std::uniform_int_distribution<int> seconds(300, 600);  // so that not all watches end at one moment
  return asked(fmt::format("watch=1&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                           http::query_escaped(version_), seconds(random_)));
}

void reflector::listed(const http::answer& a, list_reader& body, instant now) {
  if (const auto r = refusal_of(a)) return refused(*r, now);
  const auto list = body.finish();
  if (list.has_error()) return broke(list.error(), now);
  const json::object* meta = object_in(*list, "metadata");
  const json::value* items = list->if_contains("items");
  if (meta == nullptr || text_in(*meta, "resourceVersion").empty() || items == nullptr ||
      !(items->is_array() || items->is_null()))
    return broke({errc::protocol, "what the API server answered is not a list"}, now);
  unknown_since_.reset();
  absent_ = false;
  continue_ = text_in(*meta, "continue");
  if (!continue_.empty()) return;
  comparing_.emplace().version = text_in(*meta, "resourceVersion");
  compare_some();  // small collections are done at once
}

/// Items come before their list is complete. If it then breaks, they are true all the same.
void reflector::take_item(const json::value& item, std::size_t members_left_out) {
  const json::object* object = item.if_object();
  if (object == nullptr) return;
  const metadata meta = metadata_of(*object);
  if (members_left_out > 0) leave_out(members_left_out, meta.key);
  if (!meta.usable()) return;
  upsert(*object);
}

/// Reports some of the objects that are missing from the list. Behind the last object the list is finished.
void reflector::compare_some() {
  auto at = known_.lower_bound(comparing_->from);
  for (std::size_t i = 0; i < compared_at_once && at != known_.end(); ++i) {
    const auto one = at++;
    if (one->second.seen == list_) continue;
    const auto missing = known_.extract(one);
    tell_.gone(missing.key());
  }
  if (at != known_.end()) {
    comparing_->from = at->first;
    return;
  }
  version_ = std::move(comparing_->version);
  comparing_.reset();
  watching_ = true;
  synced_ = true;
  page_ = std::min(settings_.page, 2 * page_);
  told_to_wait_ = false;
  trouble_.clear();
  tell_.synced();
}

bool reflector::opened(const http::answer& a, instant now) {
  if (const auto r = refusal_of(a)) {
    refused(*r, now);
    return false;
  }
  stream_.emplace();
  opened_ = true;
  watch_began_ = now;
  events_at_begin_ = counters_.events;
  told_to_wait_ = false;
  trouble_.clear();
  return true;
}

bool reflector::received(std::string_view piece, instant now) {
  bool go_on = true;
  const auto each = [&](const json::object& event) { return go_on = take_event(event, now); };
  const auto fed = stream_->feed(piece, each);
  if (fed.has_value()) return go_on;
  relist(from::last);
  fail(fed.error(), std::nullopt, now);
  return false;
}

bool reflector::take_event(const json::object& event, instant now) {
  const std::string_view type = text_in(event, "type");
  const json::object* object = object_in(event, "object");
  if (object == nullptr) {
    relist(from::last);
    fail({errc::protocol, "a watch event without an object came"}, std::nullopt, now);
    return false;
  }
  if (type == "ERROR") {
    const refusal r = refusal_of(*object);
    if (!r.expired()) relist(from::last);
    refused(r, now);
    return false;
  }
  ++counters_.events;
  list_from_ = from::last;  // the newest list was good; only later versions can expire now
  const metadata meta = metadata_of(*object);
  if (const std::size_t members = stream_->members_left_out(); members > 0) leave_out(members, meta.key);
  if (!meta.version.empty()) version_ = meta.version;
  if (type == "ADDED" || type == "MODIFIED") {
    if (meta.usable()) upsert(*object);
  } else if (type == "DELETED") {
    forget(meta.key);
  }
  return true;  // BOOKMARK, and types that later servers may add
}

void reflector::leave_out(std::size_t members, const object_key& of) {
  left_out_.members += members;
  left_out_.last = fmt::format("{} {}", settings_.what, of.text());
}

void reflector::upsert(const json::object& object) {
  const metadata meta = metadata_of(object);
  known_object& known = known_[meta.key];
  known.seen = list_;
  if (known.version == meta.version) return;
  known.version = meta.version;
  tell_.changed(meta.key, object);
}

void reflector::forget(const object_key& key) {
  if (known_.erase(key) > 0) tell_.gone(key);
}

void reflector::ended(instant now) {
  if (counters_.events == events_at_begin_ && now - watch_began_ < shortest_watch)
    fail({errc::disconnected, "the API server ends the watch at once"}, std::nullopt, now);
}

void reflector::broke(const error& why, instant now) {
  // A watch that was silent for too long begins again at once, because most likely the connection is dead. If
  // the watch was never answered, the server is at fault, and the next try waits.
  if (opened_ && why.code == errc::timeout && now - watch_began_ >= longest_silence) return;
  if (!watching_) {
    halve_page(why);
    relist(list_from_);
  }
  fail(why, std::nullopt, now);
}

/// After a page that was too large, or whose items took too long. A server that says nothing at all is not
/// asked for less, and a slow one not for much less: such a list would take longer than it is valid.
void reflector::halve_page(const error& why) {
  constexpr std::size_t smallest_share = 4;
  if (why.code == errc::overloaded) page_ = std::max<std::size_t>(1, page_ / 2);
  if (why.code == errc::timeout && items_come_)
    page_ = std::max({std::size_t{1}, page_ / 2, std::min(page_, settings_.page / smallest_share)});
}

void reflector::relist(from where) {
  watching_ = false;
  list_from_ = where == from::last && version_.empty() ? from::cache : where;
  continue_.clear();
  ++list_;
}

void reflector::refused(const refusal& r, instant now) {
  if (r.status != 404) unknown_since_.reset();
  if (r.expired() || r.from_the_future()) {
    ++counters_.expired;
    // Its pages took longer than the server remembers.
    if (!continue_.empty()) page_ = std::min(settings_.page, 2 * page_);
    // The first new list is asked for at once. If the server refuses the newest list, too, or the watch that
    // follows it, the next try waits.
    const bool again = list_from_ == from::newest;
    relist(from::newest);
    if (again) fail(r.as_error("reading " + settings_.what), r.retry_after, now);
    return;
  }
  if (r.status == 404) return unknown(r, now);
  const bool for_good =
      r.status >= 400 && r.status < 500 && r.status != 401 && r.status != 403 && r.status != 429;
  if (for_good && watching_) relist(from::newest);
  if (!watching_) relist(list_from_);
  if (r.status == 429 && !std::exchange(told_to_wait_, true)) return pause(r.retry_after, now);
  fail(r.as_error("reading " + settings_.what), r.retry_after, now);
}

void reflector::unknown(const refusal& r, instant now) {
  ++counters_.failures;
  relist(from::cache);
  trouble_ = fmt::format("the API server has no {}: {}", settings_.what,
                         settings_.if_unknown.empty() ? r.message : settings_.if_unknown);
  pause_ = settings_.look_again;
  if (!unknown_since_) unknown_since_ = now;
  absent_ = absent_ || now - *unknown_since_ >= surely_removed;
  if (!absent_ || known_.empty()) return;
  // If the collection is gone, so are all its objects.
  for (const auto& [key, known] : std::exchange(known_, {})) tell_.gone(key);
  version_.clear();
  tell_.synced();
}

void reflector::pause(std::optional<duration> retry_after, instant now) {
  ++counters_.failures;
  unknown_since_.reset();  // only 404s in a row count: a starting server gives mixed answers
  if (now - last_failure_ > calm) pauses_.reset();
  last_failure_ = now;
  pause_ = pauses_.next(random_, retry_after.value_or(duration::zero()));
}

void reflector::fail(const error& why, std::optional<duration> retry_after, instant now) {
  pause(retry_after, now);
  trouble_ = fmt::format("{} cannot be followed: {}", settings_.what, why.message);
}

}  // namespace binnacle::kube
