#include "agent/sources/scrape/sample_picker.hpp"

#include "common/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fnmatch.h>
#include <functional>
#include <utility>

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

// As a sum does, a largest or smallest value that lost a part says so, whatever the order of the parts.
double combined(fold how, double so_far, double value) {
  if (std::isnan(so_far)) return so_far;
  if (std::isnan(value)) return value;
  switch (how) {
    case fold::max: return std::max(so_far, value);
    case fold::min: return std::min(so_far, value);
    default: return so_far + value;
  }
}

}  // namespace

void sample_picker::begin() {
  out_ = {};
  folded_.clear();
  parts_.clear();
  ambiguous_ = not_folded_ = old_ = 0;
  last_name_.clear();
  fitted_.assign(wanted_.metrics.size(), false);
}

// The buckets of histograms would be most of the answer. So they are taken only if a glob has their ending.
bool sample_picker::allowed(const exposition::sample& s) {
  if (s.name == last_name_ && s.part == last_part_) return last_allowed_;
  last_name_ = s.name;
  last_part_ = s.part;
  const bool asked_only = s.part == "_bucket" || s.part == "_created";
  const auto takes = [&](const std::string& glob) {
    return (!asked_only || glob.ends_with(s.part)) && ::fnmatch(glob.c_str(), last_name_.c_str(), 0) == 0;
  };
  last_allowed_ = wanted_.metrics.empty() && !asked_only;
  for (std::size_t i = 0; i < wanted_.metrics.size(); ++i) {
    if ((last_allowed_ && fitted_[i]) || !takes(wanted_.metrics[i])) continue;
    last_allowed_ = fitted_[i] = true;
  }
  return last_allowed_;
}

bool sample_picker::keeps(const std::string& label) const {
  return wanted_.keep_labels.empty() ? !has(wanted_.drop_labels, label) : has(wanted_.keep_labels, label);
}

void sample_picker::take(const exposition::sample& s) {
  ++out_.samples;
  if (!allowed(s)) return;
  auto one = foreign_series::from(s);
  const std::uint64_t whole = keyed_hash{}(one.key());
  std::erase_if(one.labels, [this](const auto& l) { return !keeps(l.first); });
  if (parts_.contains(whole)) {  // the sample is in the answer twice; it is refused when it is announced
    add(std::move(one));
    return;
  }
  if (const auto index = place(std::move(one))) parts_.emplace(whole, part{*index, s.value, s.timestamp_ms});
}

// Returns the index in out_ of the series for this sample: without its dropped labels, or folded with others.
// Nothing if the sample is not taken.
std::optional<std::size_t> sample_picker::place(foreign_series s) {
  if (!drops_labels()) return add(std::move(s));
  auto key = s.key();
  const auto same = folded_.find(key);
  if (same == folded_.end()) {
    const auto index = add(std::move(s));
    if (index) folded_.emplace(std::move(key), folded_series{*index});
    return index;
  }
  auto& into = out_.series[same->second.index];
  const bool counts = into.type == metrics::kind::counter;
  if (wanted_.folded == fold::none && !counts) {
    ++ambiguous_;
    add(std::move(s));
    return std::nullopt;
  }
  if (parts_.size() >= out_.series.size() + most_folded) {
    ++not_folded_;
    into.reason = absence::no_data;  // a sum that lacks a part has no value
    return std::nullopt;
  }
  into.value = combined(counts ? fold::sum : wanted_.folded, into.value, s.value);
  ++same->second.count;
  return same->second.index;
}

std::optional<std::size_t> sample_picker::add(foreign_series s) {
  if (out_.series.size() >= wanted_.series) {
    ++out_.beyond;
    return std::nullopt;
  }
  out_.series.push_back(std::move(s));
  return out_.series.size() - 1;
}

sample_picker::reading sample_picker::finish(instant when) {
  if (wanted_.folded == fold::mean) {
    for (const auto& [key, f] : folded_) {
      auto& s = out_.series[f.index];
      if (s.type != metrics::kind::counter) s.value /= static_cast<double>(f.count);
    }
  }
  add_rates(when);
  out_.note = note();
  out_.remark = remark();
  out_.beyond += not_folded_;
  folded_.clear();
  parts_.clear();
  return std::move(out_);
}

std::string sample_picker::note() const {
  if (out_.beyond > 0) {
    return fmt::format("{} series more than the {} that are taken: narrow metrics, or raise series",
                       out_.beyond, wanted_.series);
  }
  if (out_.series.empty() && out_.samples > 0) {
    return fmt::format("none of its {} samples is taken: look at metrics (scrape-metrics)", out_.samples);
  }
  if (not_folded_ > 0) {
    return fmt::format("{} samples more than the {} that are folded: narrow metrics, or keep more labels",
                       not_folded_, most_folded);
  }
  if (ambiguous_ > 0) {
    return fmt::format("{} series are the same as others without the labels dropped: give fold", ambiguous_);
  }
  if (old_ > 0) {
    return fmt::format(
        "{} samples have had the same timestamp for longer than {}: raise stale-after if the exporter "
        "measures less often",
        old_, human(wanted_.longest_age()));
  }
  return {};
}

std::string sample_picker::remark() const {
  if (out_.series.empty()) return {};  // if no sample fits, the note says so already
  const auto idle = std::find(fitted_.begin(), fitted_.end(), false);
  if (idle == fitted_.end()) return {};
  const auto more = std::count(idle, fitted_.end(), false) - 1;
  return fmt::format("nothing is named \"{}\"{}: look at metrics (scrape-metrics)",
                     wanted_.metrics[static_cast<std::size_t>(idle - fitted_.begin())],
                     more == 0 ? std::string() : fmt::format(" (and {} more)", more));
}

void sample_picker::add_rates(instant when) {
  // The rates, by index in out_.series. A series that is there twice or is no counter has none.
  std::vector<std::optional<foreign_series>> rates(out_.series.size());
  std::map<std::uint64_t, sample_history> kept;
  for (const auto& [whole, p] : parts_) {
    auto known = history_.extract(whole);
    auto& past = (known ? kept.insert(std::move(known)).position : kept.try_emplace(whole).first)->second;
    past.update(p.value, p.stamp_ms, when);
    auto& total = out_.series[p.index];
    if (when - past.changed_at() > wanted_.longest_age()) {
      ++old_;
      total.reason = absence::no_data;
    }
    if (total.type != metrics::kind::counter || total.name.ends_with("_bucket")) continue;
    auto& rate = rates[p.index];
    if (!rate)
      rate = foreign_series{rate_name(total.name), total.labels, 0, metrics::kind::gauge, total.help};
    if (past.rate().reason() == absence::none) {
      rate->value += past.rate().per_second();
    } else {
      rate->reason = past.rate().reason();
    }
  }
  history_ = std::move(kept);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (!rates[i]) continue;
    if (out_.series[i].reason != absence::none) rates[i]->reason = out_.series[i].reason;
    out_.series.push_back(*std::move(rates[i]));
  }
}

}  // namespace binnacle::agent
