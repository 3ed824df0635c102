#include "aggregator/model_servers/asker.hpp"

#include "aggregator/model_servers/message.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace binnacle::model_servers {
namespace {

constexpr std::string_view falling_behind = "the curves that it is asked for take more than 15 minutes";
static_assert(asker::asked_again_after == std::chrono::minutes(15));

}  // namespace

/// Whether there is room for one more question. If not, those are dropped that nobody has wanted for a while:
/// their nodes' inputs have moved on.
bool asker::make_room(instant now) {
  if (entries_.size() < most_questions) return true;
  if (now < room_at_) return false;
  instant oldest = now;
  const auto dropped = std::erase_if(entries_, [&](const auto& one) {
    if (now - one.second.wanted_at >= dropped_early_after) return true;
    oldest = std::min(oldest, one.second.wanted_at);
    return false;
  });
  any_dropped_ = any_dropped_ || dropped != 0;
  room_at_ = oldest + dropped_early_after;
  return dropped != 0;
}

std::shared_ptr<const predict::model> asker::want(const question& q, instant now) {
  auto at = entries_.find(q);
  if (at == entries_.end()) {
    full_ = !make_room(now);
    if (full_) return nullptr;
    at = entries_.try_emplace(q).first;
    at->second.answered_at = now - counts_for;
  }
  entry& e = at->second;
  e.wanted_at = now;
  if (e.known && now - e.answered_at >= counts_for) e.known = nullptr;
  return e.known;
}

std::string asker::trouble(const question& q) const {
  const auto at = entries_.find(q);
  if (at == entries_.end()) return full_ ? "more curves are asked for than are kept" : "";
  const entry& e = at->second;
  const auto s = servers_.find(q.model.server());
  if (!e.trouble.empty() || s == servers_.end()) return e.trouble;
  const bool waits = s->second.trouble.empty() && s->second.falls_behind && e.known == nullptr;
  return waits ? std::string(falling_behind) : s->second.trouble;
}

std::string_view after_last_curve(bool learned_counts) noexcept {
  return learned_counts ? "then the learned one" : "then none: all policies say model: External";
}

std::vector<asker::ill> asker::all_ill(bool learned_counts) const {
  std::vector<ill> out;
  if (full_) {
    out.push_back(
        {"the number of curves",
         fmt::format("model servers are asked for more than {} curves: the nodes beyond get none of "
                     "theirs; give nodes of a kind the same model",
                     most_questions)});
  }
  const auto add = [&](std::string who, std::string_view what) {
    std::string sentence = fmt::format("{}: {}; nodes with this model use its last curve for an hour, {}",
                                       who, what, after_last_curve(learned_counts));
    out.push_back({std::move(who), std::move(sentence)});
  };
  for (const auto& [name, s] : servers_) {
    const std::string_view what = s.trouble.empty() && s.falls_behind ? falling_behind : s.trouble;
    if (!what.empty()) add("model server " + name, what);
  }
  const served_model* last = nullptr;
  for (const auto& [q, e] : entries_) {
    if (e.trouble.empty() || (last != nullptr && *last == q.model)) continue;
    last = &q.model;
    add("model " + q.model.text(), e.trouble);
  }
  return out;
}

std::vector<std::string> asker::troubles(bool learned_counts) const {
  constexpr std::size_t most = 10;
  std::vector<ill> all = all_ill(learned_counts);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) out.push_back(std::move(all[i].sentence));
  if (all.size() > most) {
    out.push_back(
        fmt::format("model servers and models: {} more have trouble: `binnacle power NODE` says "
                    "it of a node",
                    all.size() - most));
  }
  return out;
}

bool asker::due(const entry& e, instant now) const {
  return now >= e.not_before && (e.known == nullptr || now - e.answered_at >= asked_again_after);
}

/// How many points to ask for at once. A limit may have been temporary, so after a while a larger batch is
/// tried.
std::size_t asker::batch_of(const question& q, const entry& e, instant now) {
  const auto at = batches_.find(q.model);
  if (at == batches_.end()) return points;
  limit& most = at->second;
  if (e.watts.empty() && now - most.since >= batches_grow_after) {
    most = {2 * most.points_at_once, now};
    if (most.points_at_once >= points) {
      batches_.erase(at);
      return points;
    }
  }
  return most.points_at_once;
}

void asker::halve(const call& c, instant now) { batches_[c.about.model] = {c.count / 2, now}; }

void asker::ask_at_once(std::string_view secret) {
  for (auto& [q, e] : entries_) {
    if (q.model.secret != secret) continue;
    e.not_before = {};
    e.pauses.reset();
  }
}

/// Forgets servers and models that no question is about any more.
void asker::forget_unused() {
  any_dropped_ = false;
  if (entries_.size() < most_questions) full_ = false;
  std::set<std::string> used;
  for (const auto& [q, e] : entries_) used.insert(q.model.server());
  std::erase_if(servers_, [&](const auto& one) { return !one.second.busy && !used.contains(one.first); });
  // Questions are in the order of their models.
  const auto is_unused = [&](const auto& one) {
    question first;
    first.model = one.first;
    const auto at = entries_.lower_bound(first);
    return at == entries_.end() || at->first.model != one.first;
  };
  std::erase_if(inputs_, is_unused);
  std::erase_if(versions_, is_unused);
  std::erase_if(batches_, is_unused);
}

asker::call asker::call_for(const question& q, const entry& e, const server& s, instant now) {
  call c{q, e.watts.size(), 0, {}};
  if (q.model.speaks == protocol::v2) {
    const auto input = inputs_.find(q.model);
    if (input == inputs_.end()) return c;
    c.input = input->second;
  }
  // Whether an ill server is well again, one load shows.
  const bool one = c.input.one_at_a_time() || !s.trouble.empty();
  c.count = std::min(one ? 1 : batch_of(q, e, now), points - e.watts.size());
  return c;
}

std::vector<asker::call> asker::next(instant now, const may_be_asked& may) {
  const auto dropped = std::erase_if(entries_, [&](const auto& one) {
    if (now - one.second.wanted_at < dropped_after) return false;
    const auto s = servers_.find(one.first.model.server());
    return s == servers_.end() || !s->second.busy;
  });
  if (dropped != 0 || any_dropped_) forget_unused();
  // The least rank has its server's turn.
  const auto rank = [](const server& s, const entries::value_type& one) {
    const auto& [q, e] = one;
    return std::tuple<bool, const served_model&, bool, instant>(q.model <= s.last, q.model, e.watts.empty(),
                                                                e.answered_at);
  };
  std::map<std::string_view, const entries::value_type*> turns;  // by server
  for (const auto& one : entries_) {
    if (!due(one.second, now) || (may && !may(one.first.model))) continue;
    const auto there = servers_.try_emplace(one.first.model.server()).first;
    const server& s = there->second;
    if (s.busy || now < s.not_before) continue;
    const entries::value_type*& turn = turns[there->first];
    if (turn == nullptr || rank(s, one) < rank(s, *turn)) turn = &one;
  }
  std::vector<std::pair<server*, const entries::value_type*>> waiting;
  std::size_t calls = 0, of_ill_ones = 0;
  for (auto& [name, s] : servers_) {
    if (const auto turn = turns.find(name); turn != turns.end()) {
      waiting.emplace_back(&s, turn->second);
      if (!s.waits_since) s.waits_since = now;
      if (!s.at_work_since) s.at_work_since = now;
    } else if (s.busy) {
      ++calls;
      if (!s.trouble.empty()) ++of_ill_ones;
    } else {
      s.waits_since.reset();
      s.at_work_since.reset();
    }
    s.falls_behind = s.at_work_since && now - *s.at_work_since >= asked_again_after;
  }
  std::ranges::stable_sort(waiting, {}, [](const auto& one) { return one.first->waits_since; });
  std::vector<call> out;
  for (const auto& [s, turn] : waiting) {
    if (calls == most_calls) break;
    const bool ill = !s->trouble.empty();
    if (ill && of_ill_ones == most_calls / 2) continue;
    ++calls;
    if (ill) ++of_ill_ones;
    const auto& [q, e] = *turn;
    out.push_back(call_for(q, e, *s, now));
    s->busy = true;
    s->last = q.model;
    s->waits_since.reset();
  }
  return out;
}

void asker::leave_alone(server& s, std::string why, duration at_least, instant now) {
  count(call_outcome::failed);
  s.trouble = std::move(why);
  s.not_before = now + s.pauses.next(random_, at_least);
}

void asker::leave_alone(entry& e, call_outcome what, std::string why, instant now) {
  count(what);
  e.watts.clear();
  e.trouble = std::move(why);
  e.not_before = now + e.pauses.next(random_);
}

void asker::take(const question& q, entry& e, server& s, std::vector<double> watts, instant now) {
  s.trouble.clear();
  s.pauses.reset();
  s.answers = q.model;
  e.watts.insert(e.watts.end(), watts.begin(), watts.end());
  if (e.watts.size() < points) return count(call_outcome::answered);
  const auto curve = curve_of(std::exchange(e.watts, {}), q.cores);
  if (curve.has_error()) return leave_alone(e, call_outcome::implausible, curve.error().message, now);
  count(call_outcome::answered);
  predict::model m{*curve};
  m.from = predict::model_source::server;
  m.server = q.model.text();
  m.inputs_assumed = q.assumed;
  m.made = now;
  e.known = std::make_shared<const predict::model>(std::move(m));
  e.answered_at = now;
  e.trouble.clear();
  e.pauses.reset();
}

/// If another version answers than before, all curves of the model are asked for again, and what was heard of
/// them so far is dropped.
void asker::note_version(const served_model& model, const std::string& said, instant now) {
  if (said.empty()) return;
  version& last = versions_[model];
  if (last.text == said || (!last.text.empty() && now - last.changed_at < version_lasts)) return;
  if (std::exchange(last.text, said).empty()) return;
  last.changed_at = now;
  inputs_.erase(model);
  question first;
  first.model = model;
  for (auto at = entries_.lower_bound(first); at != entries_.end() && at->first.model == model; ++at) {
    entry& e = at->second;
    e.answered_at = std::min(e.answered_at, now - asked_again_after);
    e.watts.clear();
  }
}

/// Whatever keeps a server from saying what a model takes, the next call shows how ill it is.
void asker::take_metadata(const call& c, entry& e, const result<reply>& got, instant now) {
  const served_model& model = c.about.model;
  if (got.has_error() || got->is != reply::verdict::answered) {
    count(got.has_error() ? call_outcome::failed : call_outcome::refused);
    inputs_[model] = {};
    return;
  }
  const auto described =
      model.by == carrier::grpc ? described_in_message(got->body) : described_in(got->body);
  auto input = input_of(described, c.about.count + std::size_t{1});
  if (input.has_error()) return leave_alone(e, call_outcome::refused, input.error().message, now);
  count(call_outcome::answered);
  inputs_[model] = std::move(*input);
}

void asker::answered(const call& c, const result<reply>& got, instant now) {
  const auto at = entries_.find(c.about);
  server& s = servers_[c.about.model.server()];
  s.busy = false;
  if (at == entries_.end()) return;
  entry& e = at->second;
  if (c.for_metadata()) return take_metadata(c, e, got, now);
  if (got.has_error()) {
    e.watts.clear();
    const bool late = got.error().code == errc::timeout;
    // Not even one load was answered in time, so the size of the batches before was not the reason.
    if (late && c.count == 1) batches_.erase(c.about.model);
    // Where another model has answered meanwhile, the server is well, and the others need not wait for it.
    if (late && c.count == 1 && s.answers && *s.answers != c.about.model) {
      s.answers.reset();
      return leave_alone(e, call_outcome::failed, got.error().message, now);
    }
    if (!late || c.count == 1) return leave_alone(s, got.error().message, {}, now);
    halve(c, now);
    return leave_alone(e, call_outcome::halved,
                       fmt::format("{} loads at once: {}", c.count, got.error().message), now);
  }
  const served_model& model = c.about.model;
  switch (got->is) {
    case reply::verdict::answered: {
      auto said = model.by == carrier::grpc ? answer_in_message(model.speaks, got->body, c.count)
                                            : answer_in(model.speaks, got->body, c.count);
      if (said.has_error() && said.error().code == errc::unsupported && c.count > 1) {
        // Some models answer for the first load of a batch alone.
        count(call_outcome::halved);
        return halve(c, now);
      }
      if (said.has_error()) return leave_alone(e, call_outcome::implausible, said.error().message, now);
      note_version(model, said->version, now);
      if (c.first != e.watts.size()) return count(call_outcome::answered);  // those before were dropped
      if (c.first > 0 && said->version != e.version)
        return leave_alone(e, call_outcome::implausible,
                           fmt::format("two versions of it answer for one curve, {} and {}",
                                       in_quotes(e.version, 40), in_quotes(said->version, 40)),
                           now);
      e.version = std::move(said->version);
      return take(c.about, e, s, std::move(said->watts), now);
    }
    case reply::verdict::too_many:
      count(call_outcome::halved);
      halve(c, now);
      return;
    case reply::verdict::busy: return leave_alone(s, got->said, {}, now);
    case reply::verdict::refused: break;
  }
  // A single point was refused, so the size of the batch was not the reason.
  if (c.count == 1) batches_.erase(model);
  s.trouble.clear();
  if (c.input.of == model_input::shape::bare) {
    // Some describe one load where they mean any number of them.
    inputs_[model].of = model_input::shape::rows;
  } else {
    inputs_.erase(model);
  }
  leave_alone(e, call_outcome::refused, got->said, now);
}

std::string_view to_string(call_outcome o) noexcept {
  switch (o) {
    case call_outcome::answered: return "answered";
    case call_outcome::halved: return "halved";
    case call_outcome::refused: return "refused";
    case call_outcome::implausible: return "implausible";
    case call_outcome::failed: return "failed";
  }
  return "unknown";
}

}  // namespace binnacle::model_servers
