#include "agent/sources/scrape/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fnmatch.h>

namespace binnacle::agent {
namespace {

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string rate_name(const std::string& counter) {
  constexpr std::string_view total = "_total";
  return (counter.ends_with(total) ? counter.substr(0, counter.size() - total.size()) : counter) +
         "_per_second";
}

double combined(fold how, double so_far, double value) {
  switch (how) {
    case fold::max: return std::max(so_far, value);
    case fold::min: return std::min(so_far, value);
    default: return so_far + value;
  }
}

}  // namespace

void selection::begin() {
  out_ = {};
  folded_.clear();
  whole_keys_.clear();
  ambiguous_ = 0;
}

// A part of a histogram that nobody asked for by its ending would be most of the answer.
bool selection::allowed(const exposition::sample& s) {
  if (s.name == last_name_ && s.part == last_part_) return last_allowed_;
  last_name_ = s.name;
  last_part_ = s.part;
  const bool asked_only = s.part == "_bucket" || s.part == "_created";
  const auto takes = [&](const std::string& glob) {
    return (!asked_only || glob.ends_with(s.part)) && ::fnmatch(glob.c_str(), last_name_.c_str(), 0) == 0;
  };
  last_allowed_ = wanted_.metrics.empty()
                      ? !asked_only
                      : std::any_of(wanted_.metrics.begin(), wanted_.metrics.end(), takes);
  return last_allowed_;
}

bool selection::keeps(const std::string& label) const {
  return wanted_.keep_labels.empty() ? !has(wanted_.drop_labels, label) : has(wanted_.keep_labels, label);
}

void selection::take(const exposition::sample& s) {
  ++out_.samples;
  if (!allowed(s)) return;
  auto one = foreign_series::from(s);
  if (!drops_labels()) return add(std::move(one));
  auto whole_key = one.key();
  std::erase_if(one.labels, [this](const auto& l) { return !keeps(l.first); });
  fold_in(std::move(one), std::move(whole_key));
}

void selection::add(foreign_series s) {
  if (out_.series.size() < wanted_.series) {
    out_.series.push_back(std::move(s));
  } else {
    ++out_.beyond;
  }
}

void selection::fold_in(foreign_series s, std::string whole_key) {
  auto key = s.key();
  const auto same = folded_.find(key);
  if (same == folded_.end()) {
    if (out_.series.size() < wanted_.series) {
      folded_.emplace(std::move(key), folded_series{out_.series.size()});
      whole_keys_.insert(std::move(whole_key));
    }
    return add(std::move(s));
  }
  // Twice in the answer: refused where it is announced.
  if (!whole_keys_.insert(std::move(whole_key)).second) return add(std::move(s));
  if (wanted_.folded == fold::none && s.type != metrics::kind::counter) {
    ++ambiguous_;
    return add(std::move(s));
  }
  auto& into = out_.series[same->second.index];
  into.value = combined(wanted_.folded, into.value, s.value);
  ++same->second.count;
}

selection::reading selection::finish(instant when) {
  if (wanted_.folded == fold::mean) {
    for (const auto& [key, f] : folded_) out_.series[f.index].value /= static_cast<double>(f.count);
  }
  add_rates(when);
  if (out_.beyond > 0) {
    out_.note = fmt::format("{} series more than the {} that are taken: narrow metrics, or raise series",
                            out_.beyond, wanted_.series);
  } else if (ambiguous_ > 0) {
    out_.note =
        fmt::format("{} series are the same as others without the labels dropped: give fold", ambiguous_);
  }
  folded_.clear();
  whole_keys_.clear();
  return std::move(out_);
}

void selection::add_rates(instant when) {
  ++round_;
  const auto readings = out_.series.size();
  for (std::size_t i = 0; i < readings; ++i) {
    const auto& total = out_.series[i];
    if (total.type != metrics::kind::counter || total.name.ends_with("_bucket")) continue;
    auto& c = counters_[total.key()];
    if (c.round == round_) continue;
    c.round = round_;
    c.rate.update(total.value, when);
    foreign_series rate{rate_name(total.name), total.labels, 0, metrics::kind::gauge, total.help};
    rate.reason = c.rate.reason();
    if (rate.reason == wire::absence::none) rate.value = c.rate.per_second();
    out_.series.push_back(std::move(rate));
  }
  std::erase_if(counters_, [this](const auto& c) { return c.second.round != round_; });
}

}  // namespace binnacle::agent
