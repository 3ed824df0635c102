#include "aggregator/policy/text/policy_set.hpp"

#include "aggregator/policy/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::policy {
namespace {

constexpr std::size_t most_problems = 20;  // of an object of an API server

bool labels_nodes(const policy& p) {
  return p.how == mode::enforce && std::ranges::any_of(p.strategies, [](const strategy& s) {
           return description_of(s.kind).freezes();
         });
}

/// A policy has one order of nodes at most.
bool orders_nodes(const strategy& s) { return description_of(s.kind).yields == yield::scores; }

}  // namespace

void policy_set::put(const std::string& file, std::string_view text) {
  parsed_text fresh = parse_policies(file, text);
  source& s = files_[file];
  s.recalled = false;
  s.refused.reset();
  // An editor empties a file before it writes it, or writes a comment or "---" first.
  if (fresh.policies.empty() && fresh.problems.empty() && !s.policies.empty())
    return unreadable(file, "the file holds no policy now: delete the file to remove its policies");
  if (fresh.policies.empty() && fresh.problems.empty())
    fresh.problems.push_back(
        {file, 0, {}, "the file holds no policy: write one into it or remove it", severity::warning});
  std::vector<accepted> next;
  std::vector<problem> stays;
  const auto stay = [&](const policy_key& key, int line, const std::string& what) {
    stays.push_back({file,
                     line,
                     {},
                     fmt::format("the last good version of {} {} stays in force", what, key.text()),
                     severity::note});
  };
  s.wrong.clear();
  for (parsed_policy& p : fresh.policies) {
    if (!p.usable || !p.refused.empty()) s.wrong.push_back(p.value.key.name);
    const auto old = std::ranges::find_if(s.policies, [&](const accepted& a) {
      return a.value.key == p.value.key && a.value.uid == p.value.uid;
    });
    const bool known = old != s.policies.end();
    if (!p.usable) {
      if (!known) continue;
      next.push_back({old->value, p.line});
      stay(p.value.key, p.line, "policy");
      continue;
    }
    for (const strategy_kind kind : p.refused) {
      const strategy* last = known ? old->value.find(kind) : nullptr;
      if (last == nullptr || p.value.find(kind) != nullptr) continue;
      if (orders_nodes(*last) && std::ranges::any_of(p.value.strategies, orders_nodes)) continue;
      p.value.strategies.push_back(*last);
      stay(p.value.key, p.line, fmt::format("{} of policy", to_string(kind)));
    }
    p.value.revision = content_revision(p.value);
    next.push_back({std::move(p.value), p.line});
  }
  if (fresh.unattributed) {
    for (accepted& a : s.policies) {
      const bool replaced =
          std::ranges::any_of(next, [&](const accepted& n) { return n.value.key == a.value.key; });
      if (replaced) continue;
      stay(a.value.key, 0, "policy");
      next.push_back(std::move(a));
    }
  }
  s.policies = std::move(next);
  s.problems = std::move(fresh.problems);
  s.problems.insert(s.problems.end(), stays.begin(), stays.end());
  std::ranges::stable_sort(s.problems, {}, &problem::line);
}

void policy_set::put_object(const std::string& name, std::string_view json) {
  put(name, json);
  // Many objects may be wrong in everything, and their problems are kept and reported as long as they are.
  std::vector<problem>& wrong = files_[name].problems;
  if (wrong.size() > most_problems) {
    std::ranges::stable_sort(wrong, {}, &problem::level);
    const bool errors = wrong[most_problems].level == severity::error;
    const std::size_t more = wrong.size() - most_problems;
    wrong.resize(most_problems);
    wrong.push_back({name,
                     0,
                     {},
                     fmt::format("{} more problems are not listed: mend these first", more),
                     errors ? severity::error : severity::note});
  }
  // The object came as JSON in one line, so a line number would help nobody.
  for (accepted& a : files_[name].policies) a.line = 0;
  for (problem& p : files_[name].problems) p.line = 0;
}

void policy_set::refuse_object(const std::string& name, const policy_key& key, std::string_view uid,
                               std::string figures, std::string_view remedy) {
  source& s = files_[name];
  s.recalled = false;
  std::erase_if(s.policies, [&](const accepted& a) { return a.value.key != key || a.value.uid != uid; });
  const bool stays = !s.policies.empty();
  s.problems.clear();
  s.wrong = {key.name};
  s.refused = too_costly{key, stays, too_costly_text(std::move(figures), stays, remedy)};
}

void policy_set::unreadable(const std::string& file, std::string reason) {
  source& s = files_[file];
  s.recalled = false;
  s.problems = {{file, 0, {}, std::move(reason), severity::error}};
  if (!s.policies.empty()) {
    s.problems.push_back({file,
                          0,
                          {},
                          s.policies.size() == 1
                              ? "its policy stays in force as last read"
                              : fmt::format("its {} policies stay in force as last read", s.policies.size()),
                          severity::note});
  }
}

void policy_set::remove(const std::string& file) { files_.erase(file); }

void policy_set::recall(const std::vector<kept_policy>& all) {
  for (const kept_policy& k : all) {
    if (!k.read) continue;
    source& s = files_[k.source];
    s.recalled = true;
    s.policies.push_back({k.value, 0});
  }
}

void policy_set::forget_recalled() {
  std::erase_if(files_, [](const auto& f) { return f.second.recalled; });
}

std::map<policy_key, std::string> policy_set::sources() const {
  std::map<policy_key, std::string> out;
  for (const auto& [file, s] : files_) {
    for (const accepted& a : s.policies) out.try_emplace(a.value.key, file);
  }
  return out;
}

std::vector<policy> policy_set::policies() const {
  std::map<policy_key, const policy*> all;
  for (const auto& [file, s] : files_) {
    for (const accepted& a : s.policies) all.try_emplace(a.value.key, &a.value);
  }
  std::vector<policy> out;
  out.reserve(all.size());
  for (const auto& [key, p] : all) out.push_back(*p);
  return out;
}

std::set<std::string, std::less<>> policy_set::wrong_ones() const {
  std::set<std::string, std::less<>> out;
  for (const auto& [file, s] : files_) out.insert(s.wrong.begin(), s.wrong.end());
  return out;
}

std::vector<too_costly> policy_set::refused() const {
  std::vector<too_costly> out;
  for (const auto& [file, s] : files_) {
    if (s.refused) out.push_back(*s.refused);
  }
  return out;
}

std::vector<problem> policy_set::problems() const {
  std::vector<problem> out;
  if (!trouble_.empty()) out.push_back({{}, 0, {}, trouble_, severity::error});
  std::map<policy_key, std::string> first_file;
  std::map<std::string, policy_key> labelling;  // by name: the first policy that labels nodes under it
  for (const auto& [file, s] : files_) {
    out.insert(out.end(), s.problems.begin(), s.problems.end());
    for (const accepted& a : s.policies) {
      const policy_key& key = a.value.key;
      const auto [at, fresh] = first_file.try_emplace(key, file);
      if (!fresh) {
        out.push_back({file,
                       a.line,
                       {},
                       fmt::format("policy {} is in {} too, and that one counts: remove or rename one",
                                   key.text(), at->second),
                       severity::error});
        continue;
      }
      if (!labels_nodes(a.value)) continue;
      const auto [other, alone] = labelling.try_emplace(key.name, key);
      if (!alone) {
        out.push_back({file,
                       a.line,
                       {},
                       fmt::format("{} and {} label nodes with the same keys, since a key holds only the "
                                   "policy's name, so only one of them gives its labels: rename one",
                                   key.text(), other->second.text()),
                       severity::warning});
      }
    }
  }
  return out;
}

}  // namespace binnacle::policy
