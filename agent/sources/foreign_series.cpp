#include "agent/sources/foreign_series.hpp"

#include "agent/base/series_key.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace binnacle::agent {
namespace {

constexpr std::size_t most_help = 160;  // a help text travels with every catalog

std::size_t text_of(const foreign_series& s) {
  std::size_t bytes = s.name.size() + s.help.size();
  for (const auto& [label, value] : s.labels) bytes += label.size() + value.size();
  return bytes;
}

// About how many bytes a series costs in a catalog. Cap'n Proto rounds every text up to words and needs a
// pointer to it.
std::size_t cost_of(const foreign_series& s) { return 64 + 48 * s.labels.size() + text_of(s); }

}  // namespace

foreign_series foreign_series::from(const exposition::sample& s) {
  return {std::string(s.name), s.labels, s.value, s.type, std::string(clip(s.help, most_help))};
}

std::string foreign_series::key() const {
  auto sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  return series_key(name, sorted);
}

std::optional<foreign_names::refusal> foreign_names::why_refused(const std::string& key,
                                                                 const foreign_series& s) const {
  if (metrics::find(s.name) != nullptr) {
    return refusal{"built_in_name",
                   fmt::format("{} is a metric of Binnacle's own: give it another name", s.name)};
  }
  if (taken_.contains(key)) {
    return refusal{"duplicate", fmt::format("{} with the same labels comes from elsewhere already", s.name)};
  }
  if (!fits(taken_.size(), bytes_, cost_of(s))) {
    return refusal{
        "bound",
        fmt::format(
            "{} and the series after it are left out: at most {} series and {} bytes of names are taken",
            s.name, most_.series, most_.bytes)};
  }
  return std::nullopt;
}

void foreign_names::take(std::string_view key, const foreign_series& s, foreign_origin& holder) {
  const auto cost = cost_of(s);
  if (taken_.emplace(key, taken{cost, text_of(s), &holder}).second) bytes_ += cost;
}

void foreign_names::release(std::string_view key) {
  const auto it = taken_.find(key);
  if (it == taken_.end()) return;
  back(key);
  bytes_ -= it->second.cost;
  taken_.erase(it);
  ++freed_;
}

void foreign_names::gone(std::string_view key) {
  const auto it = taken_.find(key);
  if (it == taken_.end() || it->second.gone != 0) return;
  it->second.gone = ++last_gone_;
  gone_.emplace(last_gone_, it->first);
  gone_bytes_ += it->second.cost;
  gone_text_ += it->second.text;
  ++freed_;
}

void foreign_names::back(std::string_view key) {
  const auto it = taken_.find(key);
  if (it == taken_.end() || it->second.gone == 0) return;
  gone_.erase(std::exchange(it->second.gone, 0));
  gone_bytes_ -= it->second.cost;
  gone_text_ -= it->second.text;
}

void foreign_names::make_room(const foreign_series& s, board& out) {
  const auto cost = cost_of(s), text = text_of(s);
  if (!fits(taken_.size() - gone_.size(), bytes_ - gone_bytes_, cost)) return;
  if (!out.has_room(text, gone_.size(), gone_text_)) return;
  while (!gone_.empty() && !(fits(taken_.size(), bytes_, cost) && out.has_room(text))) {
    const auto key = gone_.begin()->second;
    taken_.at(key).holder->yield(key, out);
  }
}

void foreign_names::ask_for(const std::string& key, board& out) {
  if (const auto it = taken_.find(key); it != taken_.end()) it->second.holder->yield(key, out);
}

foreign_origin::~foreign_origin() { clear(); }

std::string foreign_origin::apply(board::group_ref group, const std::vector<foreign_series>& found,
                                  instant now, board& out) {
  ++round_;
  std::string problem;
  const auto refuse = [&](std::string_view reason, std::string sentence) {
    out.count_refused(reason);
    if (problem.empty()) problem = std::move(sentence);
  };
  const auto refuse_double = [&](const foreign_series& s) {
    refuse("duplicate", fmt::format("{} appears twice with the same labels: the first counts", s.name));
  };
  // Handle the known series first. Only then is it certain which of them are gone and may make room for new
  // ones.
  std::vector<std::pair<std::string, const foreign_series*>> added;
  for (const auto& s : found) {
    auto key = s.key();
    const auto held = held_.find(key);
    if (held == held_.end()) {
      added.emplace_back(std::move(key), &s);
    } else if (held->second.round == round_) {
      refuse_double(s);
    } else {
      held->second.round = round_;
      if (held->second.gone_at) names_->back(held->first);
      show(held->second, s, out);
    }
  }
  mark_gone(now, out);
  refused_ = false;
  for (auto& [key, s] : added) {
    if (held_.contains(key)) {
      refuse_double(*s);
      continue;
    }
    names_->ask_for(key, out);
    names_->make_room(*s, out);
    if (auto no = names_->why_refused(key, *s)) {
      refused_ = true;
      refuse(no->reason, std::move(no->sentence));
      continue;
    }
    const auto ref =
        out.add_series(group, s->name, s->labels, natural_exponent(s->value).value_or(0), s->type, s->help);
    if (ref == board::no_series) {  // the board counts the refusal
      refused_ = refused_ || !out.has_room(text_of(*s));
      if (problem.empty()) problem = out.last_refusal();
      continue;
    }
    const auto held = held_.emplace(std::move(key), series{ref, round_, {}}).first;
    names_->take(held->first, *s, *this);
    show(held->second, *s, out);
  }
  freed_before_ = names_->freed();
  return problem;
}

void foreign_origin::show(series& h, const foreign_series& s, board& out) {
  h.gone_at.reset();
  if (s.reason == absence::none) {
    out.set(h.ref, s.value);
  } else {
    out.set_absent(h.ref, s.reason);
  }
}

void foreign_origin::mark_gone(instant now, board& out) {
  for (auto& [key, h] : held_) {
    if (h.round == round_) continue;
    if (!h.gone_at) {
      h.gone_at = now;
      names_->gone(key);
    }
    out.set_absent(h.ref, absence::missing);
  }
}

void foreign_origin::yield(std::string_view key, board& out) {
  const auto it = held_.find(std::string(key));
  if (it == held_.end() || !it->second.gone_at) return;
  out.remove_series(it->second.ref);
  names_->release(it->first);
  held_.erase(it);
}

void foreign_origin::lose(absence reason, board& out) {
  for (auto& [key, h] : held_) out.set_absent(h.ref, reason);
}

void foreign_origin::sweep(instant now, board& out) {
  for (auto it = held_.begin(); it != held_.end();) {
    if (!it->second.gone_at || now - *it->second.gone_at <= foreign_remembered) {
      ++it;
      continue;
    }
    out.remove_series(it->second.ref);
    names_->release(it->first);
    it = held_.erase(it);
  }
}

void foreign_origin::clear() {
  for (const auto& [key, h] : held_) names_->release(key);
  held_.clear();
}

}  // namespace binnacle::agent
