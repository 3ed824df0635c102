#include "cli/migrate/migration.hpp"

#include <algorithm>
#include <utility>

namespace binnacle::cli::migrate {
namespace {

YAML::Node containers_of(const manifest& workload) {
  return below(workload.body, "spec.template.spec.containers");
}

void add_words(const YAML::Node& list, std::vector<std::string>& out) {
  if (!list.IsSequence()) return;
  for (const auto& word : list) {
    if (word.IsScalar()) out.push_back(word.Scalar());
  }
}

}  // namespace

void migration::carried(std::string subject, std::string sentence) {
  notes.push_back({note::fate::carried, std::move(subject), std::move(sentence)});
}
void migration::works(std::string subject, std::string sentence) {
  notes.push_back({note::fate::works, std::move(subject), std::move(sentence)});
}
void migration::dropped(std::string subject, std::string sentence) {
  notes.push_back({note::fate::dropped, std::move(subject), std::move(sentence)});
}
void migration::yours(std::string subject, std::string sentence) {
  notes.push_back({note::fate::yours, std::move(subject), std::move(sentence)});
}

void migration::once(note::fate what, std::string subject, std::string sentence) {
  if (std::ranges::any_of(notes, [&](const note& n) { return n.subject == subject; })) return;
  notes.push_back({what, std::move(subject), std::move(sentence)});
}

namespace {

void take(const manifest& m, std::span<const manifest> installed, migration& out) {
  if (!m.unread.empty()) out.yours(m.title(), m.unread);
  // Both are said even if another part knows the object.
  const bool concerned = migrate_affinity(m, installed, out) || !m.unread.empty();
  const bool known = migrate_policy(m, out) || migrate_tas(m, out) || migrate_wao(m, out) ||
                     migrate_scheduler(m, out) || migrate_collector(m, out) || migrate_metrics_path(m, out);
  if (!known && !concerned && m.kind != "Namespace") {
    out.yours(m.title(),
              "is nothing that Binnacle replaces, as far as this command knows: check it yourself");
  }
}

}  // namespace

migration migrate(std::span<const manifest> installed) {
  migration out;
  find_wao(installed, out);
  // What a pod must ask for depends on the scheduler that the chart gets.
  for (const bool configurations : {true, false}) {
    for (const manifest& m : installed) {
      if ((m.kind == "KubeSchedulerConfiguration") == configurations) take(m, installed, out);
    }
  }
  finish_wao(out);
  return out;
}

YAML::Node pod_template_of(const manifest& m) {
  if (m.kind == "Pod") return m.body;
  return below(m.body, m.kind == "CronJob" ? "spec.jobTemplate.spec.template" : "spec.template");
}

std::vector<flag> flags_of(const manifest& workload) {
  std::vector<std::string> words;
  const auto containers = containers_of(workload);
  if (containers.IsSequence()) {
    for (const auto& c : containers) {
      add_words(below(c, "command"), words);
      add_words(below(c, "args"), words);
    }
  }
  std::vector<flag> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (!word.starts_with('-')) continue;  // a program's name, or a word that is no flag
    word.erase(0, word.find_first_not_of('-') == word.npos ? word.size() : word.find_first_not_of('-'));
    if (const auto equals = word.find('='); equals != word.npos) {
      out.push_back({word.substr(0, equals), word.substr(equals + 1)});
    } else if (i + 1 < words.size() && !words[i + 1].starts_with('-')) {
      out.push_back({word, words[++i]});
    } else {
      out.push_back({word, {}});
    }
  }
  return out;
}

std::string images_of(const manifest& workload) {
  std::string out;
  const auto containers = containers_of(workload);
  if (!containers.IsSequence()) return out;
  for (const auto& c : containers) out += text_of(c, "image") + ' ';
  return out;
}

}  // namespace binnacle::cli::migrate
