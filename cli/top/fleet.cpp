#include "cli/top/fleet.hpp"

#include "cli/views/units.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace binnacle::cli::top {
namespace {

reading reading_of(const json::value* told) {
  reading r;
  if (told == nullptr) return r;
  r.value = number(*told, "value");
  r.age_ms = integer(*told, "ageMs", -1);
  r.partial = flag(*told, "partial");
  if (!r.value) r.absent = reason_words(text(*told, "absent"));
  return r;
}

/// The text in which a filter looks for the node: its name, its labels, and what is wrong with it.
std::string words_of(const node& n, const std::vector<std::string>& policies) {
  std::string words = n.name;
  for (const auto& [key, value] : n.object_labels) words += '\n' + key + '=' + value;
  for (const auto& [key, value] : n.labels) words += '\n' + key + '=' + value;
  for (std::size_t p = 0; p < policies.size(); ++p) {
    if (badness(n.standings[p].state) > 0) words += '\n' + policies[p] + ':' + n.standings[p].state;
  }
  if (n.connected == 0) words += "\ndown";
  if (n.lacking) words += "\nin part";
  return lowered(words);
}

}  // namespace

void trail::add(float value) noexcept {
  kept_[next_] = value;
  next_ = static_cast<std::uint8_t>((next_ + 1) % most);
  count_ = static_cast<std::uint8_t>(std::min<std::size_t>(count_ + 1u, most));
}

void fleet::choose(const json::value& answer) {
  std::vector<shown_metric> chosen = choose_metrics(answer, wanted_);
  usual_ = chosen.size();
  for (const auto& m : list(answer, "metrics")) {
    const std::string name = text(m, "name");
    if (std::ranges::find(chosen, name, &shown_metric::name) == chosen.end())
      chosen.push_back({name, text(m, "unit"), name});
  }
  const auto same = [](const shown_metric& a, const shown_metric& b) { return a.name == b.name; };
  if (!std::ranges::equal(chosen, metrics_, same)) {
    // The metrics have changed: each trail moves to its metric's new index.
    for (auto& [name, n] : nodes_) {
      std::vector<trail> moved(chosen.size());
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto at = std::ranges::find(metrics_, chosen[i].name, &shown_metric::name);
        if (at != metrics_.end()) moved[i] = n.trails[static_cast<std::size_t>(at - metrics_.begin())];
      }
      n.trails = std::move(moved);
    }
  }
  metrics_ = std::move(chosen);
}

void fleet::take_node(node& n, const json::value& told) {
  n.connected = flag(told, "connected") ? 1 : 0;
  n.version = text(told, "agentVersion");
  n.labels.clear();
  for (const auto& label : object(told, "labels"))
    n.labels.emplace_back(text(json::value(label.key())), text(label.value()));

  const json::value model = object(told, "model");
  n.model = text(model, "source");
  n.covered = integer(model, "coveredPercent");
  n.noise = number(model, "noisePercent");

  n.values.clear();
  n.trails.resize(metrics_.size());
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    n.values.push_back(reading_of(value_of(told, metrics_[i].name)));
    const auto& value = n.values.back().value;
    n.trails[i].add(value ? static_cast<float>(*value) : std::numeric_limits<float>::quiet_NaN());
  }

  const std::vector<shown_metric> beside(metrics_.begin(),
                                         metrics_.begin() + static_cast<std::ptrdiff_t>(usual_));
  node_verdicts verdicts = verdicts_of(told, policies_, beside);
  n.standings = std::move(verdicts.of);
  n.concerned.clear();
  for (const standing& s : n.standings) n.concerned.push_back(badness(s.state) > 0 ? 1 : 0);
  n.why = std::move(verdicts.why);
  const auto lacks = lacks_of(told);
  n.lacking = !lacks.empty();
  for (const std::string& lack : lacks) n.why += (n.why.empty() ? "" : "; ") + lack;
}

void fleet::label(const std::string& name, node& n) {
  n.object_labels.clear();
  for (const auto& [key, of] : labelled_) {
    if (const auto at = of.find(name); at != of.end()) n.object_labels[key] = at->second;
  }
  n.words = words_of(n, policies_);
}

void fleet::take_label_keys(const json::value& answer) {
  label_keys_.clear();
  for (const auto& key : list(answer, "keys")) {
    if (member(key, "values") != nullptr) label_keys_.push_back(text(key, "key"));
  }
}

void fleet::take_labels(const std::string& key, const json::value& answer) {
  auto& of = labelled_[key];
  of.clear();
  for (const auto& value : list(answer, "values")) {
    for (const auto& name : list(value, "nodes")) {
      if (name.is_string()) of[std::string(name.get_string())] = text(value, "value");
    }
  }
  for (auto& [name, n] : nodes_) label(name, n);
}

void fleet::keep_labels(const std::vector<std::string>& keys) {
  const auto unwanted = [&](const auto& of) { return std::ranges::find(keys, of.first) == keys.end(); };
  if (std::erase_if(labelled_, unwanted) == 0) return;
  for (auto& [name, n] : nodes_) label(name, n);
}

void fleet::take(const json::value& answer, std::int64_t now_ms) {
  choose(answer);
  policies_ = policies_of(answer);
  omitted_ = static_cast<std::size_t>(std::max<std::int64_t>(0, integer(answer, "omitted")));
  strategies_omitted_ = std::max<std::int64_t>(0, integer(answer, "strategiesOmitted"));
  time_ = text(answer, "time");
  taken_ms_ = now_ms;
  connected_ = 0;
  any_model_ = false;
  std::set<std::string> told_now;
  for (const auto& told : list(answer, "nodes")) {
    const json::value* name = member(told, "name");
    if (name == nullptr || !name->is_string()) continue;
    // The key is the name as it came. The printable form that people see may be the same for two nodes.
    const std::string key(name->get_string());
    if (!told_now.insert(key).second) continue;
    node& n = nodes_[key];
    n.name = text(*name);
    take_node(n, told);
    label(key, n);
    connected_ += n.connected;
    any_model_ |= !n.model.empty();
  }
  std::erase_if(nodes_, [&](const auto& n) { return !told_now.contains(n.first); });
}

}  // namespace binnacle::cli::top
