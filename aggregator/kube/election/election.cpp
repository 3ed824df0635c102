// One replica writes labels, statuses and events: the one that holds the Lease. All others read the same
// objects, and one of them takes over when the holder is gone.
//
//   look ──→ create (404) ──┐
//    │ ↑                    ├→ ours: renew, every `retry` ──→ trouble: look
//    │ └── not over yet     │
//    └───→ take (it is over)┘
//
// Clocks of two machines are never compared. renewTime is only written for people. What counts is for how
// long, by our own clock, *we* have seen the Lease unchanged. A replica that started a moment ago therefore
// waits a whole lease duration, even if the holder died an hour before.
//
// The holder stops by itself (`renew`, 10 s) before others may begin (`lease`, 15 s), also when the API
// server cannot be reached. Its running writes have ended by then (write_deadline). Still there may be two
// writers: a process that was stopped for a minute may finish a write that it had begun. So everything that
// the holder writes is a patch that does no harm if another replica writes, too; where it could, it carries a
// resourceVersion.
//
// A write whose answer was lost may have arrived. After every failure the machine reads the Lease before it
// writes again. The resourceVersion makes a write fail if somebody else has written in between.
#include "aggregator/kube/election/election.hpp"

#include "aggregator/kube/json.hpp"
#include "aggregator/kube/refusal.hpp"
#include "aggregator/kube/times.hpp"
#include "common/text/json_members.hpp"
#include "common/text/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::kube {
namespace {

using namespace std::chrono_literals;
using binnacle::duration;

constexpr duration call_deadline = 5s;

}  // namespace

election::election(settings s) : settings_(std::move(s)) {}

bool election::expired(instant now) const noexcept {
  return seen_.holder.empty() || now >= seen_changed_ + std::chrono::seconds(seen_.seconds);
}

election::action election::next(instant now, wall clock) {
  if (now < due_) return {std::nullopt, due_ - now};
  asked_ = now;
  // A Lease that we hold is renewed without reading it first: the version shows whether somebody else has
  // written it.
  if (!look_first_ && seen_.holder == settings_.identity && !expired(now)) {
    step_ = step::renew;
  } else if (!look_first_ && step_ != step::create && expired(now) && !seen_.version.empty()) {
    step_ = step::take;
  } else if (step_ != step::create) {
    step_ = step::look;
  }
  // A late renewal is useless, so its deadline is the end of our own time as leader. A replica that does not
  // lead uses the usual deadline.
  const duration left = leads(now) ? time_left(now) : call_deadline;
  return {write(step_, clock), std::clamp<duration>(left, 500ms, call_deadline)};
}

http::call election::write(step how, wall clock) {
  const std::string collection =
      "/apis/coordination.k8s.io/v1/namespaces/" + settings_.name_space + "/leases";
  http::call out;
  out.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  out.method = how == step::look ? "GET" : how == step::create ? "POST" : "PUT";
  out.target = how == step::create ? collection : collection + "/" + settings_.name;
  if (how != step::look) out.body = body(how, clock);
  return out;
}

std::string election::body(step how, wall clock) const {
  const std::string now = micro_time(clock);
  const bool keep = how == step::renew;
  std::string out;
  json_writer json(out);
  json.begin_object().field("apiVersion", "coordination.k8s.io/v1").field("kind", "Lease");
  json.key("metadata").begin_object().field("name", settings_.name).field("namespace", settings_.name_space);
  // With the version, this write fails if somebody else has written in between, instead of overwriting that.
  if (how != step::create) json.field("resourceVersion", seen_.version);
  json.end_object().key("spec").begin_object().field("holderIdentity", settings_.identity);
  json.field("leaseDurationSeconds",
             std::chrono::duration_cast<std::chrono::seconds>(settings_.lease).count());
  json.field("acquireTime", keep && !seen_.acquired.empty() ? seen_.acquired : now).field("renewTime", now);
  json.field("leaseTransitions", how == step::create ? 0 : keep ? seen_.transitions : seen_.transitions + 1);
  json.end_object().end_object();
  return out;
}

void election::look_at(const http::answer& a, instant now) {
  const auto object = parse_object(a.body);
  if (object.has_error()) return lost(object.error().message, {}, now);
  const auto* meta = object_in(*object, "metadata");
  const auto* spec = object_in(*object, "spec");
  record r;
  if (meta != nullptr) r.version = text_in(*meta, "resourceVersion");
  if (spec != nullptr) {
    r.holder = text_in(*spec, "holderIdentity");
    r.acquired = text_in(*spec, "acquireTime");
    r.renewed = text_in(*spec, "renewTime");
    r.seconds = std::clamp<std::int64_t>(integer_in(*spec, "leaseDurationSeconds").value_or(0), 0, 3600);
    r.transitions = integer_in(*spec, "leaseTransitions").value_or(0);
  }
  if (r != seen_) seen_changed_ = now;
  seen_ = std::move(r);
  look_first_ = false;
  trouble_.clear();
}

void election::answered(const http::answer& a, instant now) {
  const step done = std::exchange(step_, step::look);
  if (const auto r = refusal_of(a)) {
    if (done == step::look && r->status == 404) {
      step_ = step::create;
      due_ = now;
      return;
    }
    look_first_ = true;
    // Another replica was quicker. That is no trouble.
    if (r->status == 409) {
      due_ = now + 200ms;
      return;
    }
    return lost(r->as_error("the Lease " + settings_.name).message, r->retry_after.value_or(duration::zero()),
                now);
  }
  look_at(a, now);
  if (!trouble_.empty()) return;
  const bool ours = seen_.holder == settings_.identity;
  // Somebody deleted or edited the Lease while we held it.
  if (!ours) renewed_.reset();
  if (done == step::look) {
    // If the Lease has our own identity though we do not lead, we must win it again, and try at once.
    due_ = expired(now) || ours
               ? now
               : std::min(now + settings_.look, seen_changed_ + std::chrono::seconds(seen_.seconds));
    return;
  }
  if (ours) renewed_ = asked_;
  due_ = asked_ + settings_.retry;
}

void election::broke(const error& why, instant now) {
  // Nobody knows whether the write arrived, so the Lease is read before the next one.
  step_ = step::look;
  look_first_ = true;
  lost(why.message, {}, now);
}

// The pause does not grow with the attempts, as it does elsewhere (common/backoff.hpp): a Lease that is kept
// has to be renewed in time, and a holder that died has to be followed in time.
void election::lost(std::string why, duration at_least, instant now) {
  trouble_ = fmt::format("the Lease {}/{} cannot be kept: {}", settings_.name_space, settings_.name, why);
  // Even if the server asks for a long pause, a leader tries once more before its time ends.
  due_ = now + (leads(now) ? std::clamp<duration>(at_least, 1s, std::max<duration>(1s, time_left(now) - 2s))
                           : std::max(at_least, settings_.look));
}

std::optional<http::call> election::release(instant now, wall clock) {
  const bool held = leads(now) && seen_.holder == settings_.identity;
  renewed_.reset();
  if (!held) return std::nullopt;
  std::string text;
  json_writer json(text);
  json.begin_object().field("apiVersion", "coordination.k8s.io/v1").field("kind", "Lease");
  json.key("metadata").begin_object().field("name", settings_.name).field("namespace", settings_.name_space);
  json.field("resourceVersion", seen_.version).end_object();
  json.key("spec").begin_object().field("holderIdentity", "").field("leaseDurationSeconds", 1);
  json.field("acquireTime", micro_time(clock)).field("renewTime", micro_time(clock));
  json.field("leaseTransitions", seen_.transitions).end_object().end_object();
  http::call out = write(step::take, clock);
  out.body = std::move(text);
  return out;
}

}  // namespace binnacle::kube
