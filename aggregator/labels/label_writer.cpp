// The queue of patches: few, late enough to be worth it, and never from an old state.
//
// A node's labels may change many times a second, and each patch costs the API server a write and every
// watcher of Nodes an event. So a wish is not a patch. A wish only puts its node into the queue, and the
// patch is made when its turn comes, from what is wished for and what the Node carries at that moment
// (change_for). Two changes that cancel each other come out as none.
//
// `queue_` is ordered by the instant from which a node may be patched: at once, or `between` after its
// last patch, or much later if the server does not take its patch. queued_for is the node's key in it, so
// that a node is in the queue once. A node is put in again after each answer, because its wishes may have
// changed meanwhile; if there is nothing to change, next() drops it without a call.
//
// Some patches are under way at a time, so that the pace is the API server's and not that of one answer after
// the other. A node has one of them at most: its next patch is made from what the answer brings.
//
// Failures are of three kinds, and cost accordingly:
//   the server is away or overloaded (no answer, 429, 5xx)   all wait, longer each time, with jitter
//   we may not (401, 403)                                    all wait for half a minute
//   this node's patch is refused (422 and so on)             this node alone waits, for five minutes
// A conflict (409) is no failure: somebody else wrote the node first. The watch brings the node's new state,
// and the patch is made again from that.

#include "aggregator/labels/label_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::labels {
namespace {

using namespace std::chrono_literals;
using binnacle::duration;

constexpr int most_looks = 256;      // of one next(), which runs on the extender's loop
constexpr duration hopeless = 5min;  // for one node, when the server does not take its patch
constexpr duration forbidden = 30s;  // for all, until somebody grants the right

}  // namespace

label_writer::label_writer(const kube::node_objects& nodes, settings s, std::uint64_t seed)
    : nodes_(nodes), settings_(s), random_(seed), pauses_({400ms, 1600ms, 30s}) {}

void label_writer::enqueue(const std::string& node, work& w, instant now) {
  const instant at = std::max(now, w.not_before);
  if (w.queued_for && *w.queued_for <= at) return;
  if (w.queued_for) queue_.erase({*w.queued_for, node});
  w.queued_for = at;
  queue_.emplace(at, node);
}

void label_writer::enqueue_all(instant now) {
  for (auto& [name, w] : work_) enqueue(name, w, now);
}

void label_writer::look_at(const std::string& node, instant now) {
  if (nodes_.find(node) != nullptr) return enqueue(node, work_[node], now);
  foreign_.erase(node);
  taken_.erase(node);  // the receiver forgets them, too, when it hears that the node is gone
  taken_news_.erase(node);
  const auto at = work_.find(node);
  if (at == work_.end()) return;
  if (at->second.queued_for) queue_.erase({*at->second.queued_for, node});
  work_.erase(at);
}

void label_writer::wish(const std::string& node, policy::label_wishes wishes, instant now) {
  // The node has just gone. If one comes back under its name, its wishes come again.
  if (nodes_.find(node) == nullptr) return;
  work& w = work_[node];
  w.wishes = std::move(wishes);
  enqueue(node, w, now);
}

void label_writer::claim(policy::label_claims claims, instant now) {
  if (claims_ == claims) return;
  claims_ = std::move(claims);
  enqueue_all(now);
}

void label_writer::wake(const std::string& node, instant now) {
  if (nodes_.find(node) == nullptr) return;
  work& w = work_[node];
  w.wake = true;
  enqueue(node, w, now);
}

void label_writer::set_leads(bool leads, instant now) {
  if (std::exchange(leads_, leads) == leads || !leads) return;
  enqueue_all(now);
}

label_change label_writer::change_of(const std::string& node, const work& w) {
  label_change out;
  const kube::node_objects::node* known = nodes_.find(node);
  if (known == nullptr) return out;
  if (claims_) {
    out = change_for(*known, w.wishes ? &*w.wishes : nullptr, *claims_);
    note(node, std::exchange(out.taken, {}));
  }
  if (!leads_) out = {};
  if (out.foreign.empty()) {
    foreign_.erase(node);
  } else {
    foreign_[node] = std::exchange(out.foreign, {});
  }
  if (w.wake) add_wake(*known, out);
  return out;
}

void label_writer::note(const std::string& node, policy::taken_keys taken) {
  const auto at = taken_.find(node);
  if (at == taken_.end() ? taken.empty() : at->second == taken) return;
  taken_news_[node] = taken;
  if (taken.empty()) {
    taken_.erase(at);
  } else {
    taken_[node] = std::move(taken);
  }
}

std::map<std::string, policy::taken_keys> label_writer::take_taken() {
  return std::exchange(taken_news_, {});
}

std::optional<label_writer::patch> label_writer::next(instant now) {
  if (under_way_.size() >= most_under_way || now < paused_until_ || now < patches_.next())
    return std::nullopt;
  for (int looks = 0; looks < most_looks && !queue_.empty() && queue_.begin()->first <= now; ++looks) {
    const std::string name = queue_.begin()->second;
    queue_.erase(queue_.begin());
    work& w = work_.at(name);
    w.queued_for.reset();
    // A patch that is made before the last answer has come could undo what that answer brings.
    if (const auto before = under_way_.find(name); before != under_way_.end()) {
      before->second.again = true;
      continue;
    }
    const label_change change = change_of(name, w);
    if (change.empty()) continue;
    flight& f = under_way_[name];
    const bool paced = patches_.sent(now);
    f = {now, std::exchange(w.wake, false), paced && under_way_.size() < most_under_way};
    w.not_before = now + settings_.between;
    return patch{name, patch_of(name, *nodes_.find(name), change)};
  }
  return std::nullopt;
}

std::optional<instant> label_writer::next_wake() const noexcept {
  if (under_way_.size() >= most_under_way || queue_.empty()) return std::nullopt;
  return std::max({queue_.begin()->first, paused_until_, patches_.next()});
}

/// Patches that were under way together often fail together. They cause one pause, as long as the longest
/// that any of them asks for.
void label_writer::pause(const flight& of, std::string why, duration at_least, instant now) {
  trouble_ = "node labels cannot be written: " + std::move(why);
  unanswered_ = false;
  if (of.sent < paused_at_) {
    paused_until_ = std::max(paused_until_, now + at_least);
    return;
  }
  paused_at_ = now;
  paused_until_ = now + pauses_.next(random_, at_least);
}

label_writer::flight label_writer::land(const std::string& node) {
  const auto at = under_way_.find(node);
  const flight out = at->second;
  under_way_.erase(at);
  return out;
}

void label_writer::answered(const std::string& name, const http::answer& a, instant now) {
  const flight f = land(name);
  const auto refused = kube::refusal_of(a);
  ++(refused ? counters_.refused : counters_.written);
  if (!refused) {
    patches_.taken(now - f.sent, f.held, now);
    if (f.waking) ++counters_.woken;
  }
  // A patch that was sent before a pause says nothing about the server after it.
  if (!refused && f.sent >= paused_at_) {
    trouble_.clear();
    pauses_.reset();
  }
  const auto at = work_.find(name);
  if (at == work_.end()) return;  // gone meanwhile
  work& w = at->second;
  // The node is gone: look_at() will say so. If a new node of its name has come, look_at() has queued it.
  // Only if its turn came while the patch was under way (`again`), it must be queued once more.
  if (refused && refused->status == 404 && !f.again) return;
  if (refused) {
    w.wake = w.wake || f.waking;
    const error why = refused->as_error("labelling the node " + name);
    if (refused->status == 429 || refused->status >= 500) {
      patches_.refused(now);
      pause(f, why.message, refused->retry_after.value_or(duration::zero()), now);
    } else if (refused->status == 401 || refused->status == 403) {
      pause(f, why.message, forbidden, now);
    } else if (refused->status == 404) {
      // The node that was patched is gone. A new node of its name need not wait.
    } else if (refused->status != 409) {
      w.not_before = now + hopeless;
      trouble_ = why.message;
    }
  }
  // Wishes may have changed while the patch was under way. After a conflict the watch brings the node's new
  // state.
  enqueue(name, w, now);
}

void label_writer::broke(const std::string& name, const error& why, instant now) {
  const flight f = land(name);
  ++counters_.broken;
  patches_.refused(now);
  pause(f, why.message, duration::zero(), now);
  unanswered_ = true;
  const auto at = work_.find(name);
  if (at == work_.end()) return;
  at->second.wake = at->second.wake || f.waking;
  enqueue(name, at->second, now);
}

void label_writer::reachable(instant now) {
  if (std::exchange(unanswered_, false)) paused_until_ = now;
}

std::map<std::string, std::set<std::string>> label_writer::foreign() const {
  std::map<std::string, std::set<std::string>> out;
  for (const auto& [node, keys] : foreign_) {
    for (const std::string& key : keys) out[key].insert(node);
  }
  return out;
}

}  // namespace binnacle::labels
