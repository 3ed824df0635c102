// Handles answers and keys in a session of binnacle top.
#include "cli/top/filter.hpp"
#include "cli/top/group.hpp"
#include "cli/top/session.hpp"
#include "cli/views/top.hpp"
#include "common/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace binnacle::cli::top {
namespace {

constexpr std::size_t most_typed = 200;  // characters of a filter
constexpr std::ptrdiff_t wheel_rows = 3;
constexpr std::size_t most_labels = 4;  // label keys whose values are asked for at the same time

std::size_t moved(std::size_t from, std::ptrdiff_t by, std::size_t size) {
  const auto to = static_cast<std::ptrdiff_t>(from) + by;
  return size == 0 ? 0
                   : static_cast<std::size_t>(
                         std::clamp<std::ptrdiff_t>(to, 0, static_cast<std::ptrdiff_t>(size) - 1));
}

}  // namespace

void session::resize(std::size_t width, std::size_t height) noexcept {
  width_ = width;
  height_ = height;
  move(0);
}

void session::take_nodes(const json::value& answer, const std::string& url, std::int64_t now_ms) {
  trouble_.clear();
  url_ = url;
  if (paused_) return;
  fleet_.take(answer, now_ms);
  const auto lacking = metrics_without_value(answer, wanted_);
  note_ = lacking.empty() ? "" : without_value_words(lacking.front());
  make();
}

void session::take_policies(const json::value& answer) {
  rules_.clear();
  for (const auto& p : list(answer, "policies")) {
    if (text(p, "namespace") + "/" + text(p, "name") != choices_.policy) continue;
    for (const auto& s : list(p, "strategies")) {
      for (const auto& r : list(s, "rules")) {
        const std::string rule = text(r);
        rules_.emplace_back(fmt::format("{}: {}", text(s, "strategy"), rule),
                            rule.substr(0, rule.find_first_of(" ,")));
      }
    }
  }
  make();
}

std::vector<std::string> session::wanted_labels() const {
  std::vector<std::string> keys;
  const auto add = [&](std::string_view key) {
    if (keys.size() < most_labels && std::ranges::find(keys, key) == keys.end()) keys.emplace_back(key);
  };
  const auto typed = filter(choices_.filter).label_keys();
  if (!typed.empty() || (mode_ == mode::menu && question_ == question::grouping)) add("");
  for (const std::string& by :
       {choices_.grouping, choices_.within ? choices_.within->first : std::string()}) {
    if (by.starts_with(label_prefix)) add(std::string_view(by).substr(label_prefix.size()));
  }
  for (const std::string& end : typed) {
    for (const std::string& key : fleet_.label_keys()) {
      if (lowered(key).ends_with(end)) add(key);
    }
  }
  return keys;
}

void session::take_labels(const std::string& key, const json::value& answer) {
  label_trouble_.clear();
  if (key.empty()) {
    fleet_.take_label_keys(answer);
  } else {
    fleet_.take_labels(key, answer);
  }
  fleet_.keep_labels(wanted_labels());
  if (mode_ == mode::menu && question_ == question::grouping) {
    const std::string at = menu_[menu_at_].id;
    ask(question::grouping);
    const auto again = std::ranges::find(menu_, at, &item::id);
    if (again != menu_.end()) menu_at_ = static_cast<std::size_t>(again - menu_.begin());
  }
  make();
}

void session::miss_labels(const std::string& why) {
  label_trouble_ = "the labels of Node objects are not known: " + why;
}

void session::make() {
  std::vector<std::string> compared;
  for (const auto& rule : rules_) compared.push_back(rule.second);
  listing_.make(fleet_, choices_, compared);
  if (first_column_ >= listing_.columns().size())
    first_column_ = std::max<std::size_t>(1, listing_.columns().size()) - 1;
  first_column_ = std::max<std::size_t>(1, first_column_);
  // The selection follows its node to the node's new row. If the first row is selected (no name), the first
  // row stays selected.
  const auto at = std::ranges::find(listing_.rows(), selected_, [](const node* n) { return n->name; });
  if (selected_.empty()) {
    at_ = 0;
  } else if (at != listing_.rows().end()) {
    at_ = static_cast<std::size_t>(at - listing_.rows().begin());
  }
  move(0);
}

void session::move(std::ptrdiff_t by) {
  at_ = moved(at_, by, listing_.rows().size());
  const std::size_t body = std::max<std::size_t>(1, body_lines());
  first_ = std::clamp(first_, at_ + 1 - std::min(at_ + 1, body), at_);
  first_ = std::min(first_, listing_.rows().size() - std::min(listing_.rows().size(), body));
  if (by != 0) select(at_);
}

void session::select(std::size_t row) {
  if (row >= listing_.rows().size()) return;
  at_ = row;
  selected_ = row == 0 ? "" : listing_.rows()[row]->name;
}

void session::handle(const event& e) {
  if (e.what == key::quit) {
    done_ = true;
    return;
  }
  switch (mode_) {
    case mode::rows: return handle_rows(e);
    case mode::filter: return handle_filter(e);
    case mode::menu: return handle_menu(e);
    case mode::help:
      if (e.what == key::down || e.what == key::wheel_down || e.what == key::page_down) {
        ++help_first_;
      } else if (e.what == key::up || e.what == key::wheel_up || e.what == key::page_up) {
        help_first_ -= help_first_ > 0 ? 1 : 0;
      } else {
        mode_ = mode::rows;
      }
  }
}

void session::handle_rows(const event& e) {
  const auto body = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, body_lines()));
  const auto all = static_cast<std::ptrdiff_t>(listing_.rows().size());
  switch (e.what) {
    case key::character:
      if (e.text.size() == 1) press(e.text[0]);
      break;
    case key::up: return move(-1);
    case key::down: return move(1);
    case key::wheel_up: return move(-wheel_rows);
    case key::wheel_down: return move(wheel_rows);
    case key::page_up: first_ -= std::min(first_, static_cast<std::size_t>(body)); return move(-body);
    case key::page_down: first_ += static_cast<std::size_t>(body); return move(body);
    case key::home: return move(-all);
    case key::end: return move(all);
    case key::left: first_column_ -= first_column_ > 1 ? 1 : 0; break;
    case key::right:
      if (first_column_ + 1 < listing_.columns().size()) ++first_column_;
      break;
    case key::enter:
      if (choices_.grouping.empty() || at_ >= listing_.rows().size()) break;
      choices_.within = {choices_.grouping, listing_.rows()[at_]->name};
      choices_.grouping.clear();
      selected_.clear();
      make();
      break;
    case key::escape:
    case key::backspace: step_back(); break;
    case key::help:
      mode_ = mode::help;
      help_first_ = 0;
      break;
    case key::click: click(e); break;
    case key::quit: break;
  }
}

void session::press(char c) {
  switch (c) {
    case 'q': done_ = true; break;
    case '?':
    case 'h':
      mode_ = mode::help;
      help_first_ = 0;
      break;
    case '/':
      mode_ = mode::filter;
      filter_before_ = choices_.filter;
      break;
    case 's': ask(question::sort); break;
    case 'g': ask(question::grouping); break;
    case 'p': ask(question::policy); break;
    case 'c': ask(question::columns); break;
    case 'r':
      choices_.reversed = !choices_.reversed;
      make();
      break;
    case '<': sort_beside(-1); break;
    case '>': sort_beside(1); break;
    case ' ': paused_ = !paused_; break;
    case 'j': move(1); break;
    case 'k': move(-1); break;
    default:
      if (c >= '1' && c <= '9' && static_cast<std::size_t>(c - '1') < listing_.columns().size())
        sort_by(listing_.columns()[static_cast<std::size_t>(c - '1')].id);
  }
}

void session::step_back() {
  if (!choices_.filter.empty()) {
    choices_.filter.clear();
  } else if (choices_.within) {
    choices_.grouping = choices_.within->first;
    selected_ = choices_.within->second;
    choices_.within.reset();
  } else if (!choices_.policy.empty()) {
    choices_.policy.clear();
    rules_.clear();
  } else {
    choices_.grouping.clear();
  }
  make();
}

void session::click(const event& e) {
  if (e.y + 1 == top_lines()) {
    for (const place& p : places()) {
      if (e.x >= p.x && e.x < p.x + p.width) return sort_by(listing_.columns()[p.column].id);
    }
  } else if (e.y >= top_lines() && e.y < top_lines() + body_lines()) {
    select(first_ + e.y - top_lines());
  }
}

void session::sort_by(const std::string& id) {
  const auto& now = listing_.columns();
  const bool again = listing_.sorted() < now.size() && now[listing_.sorted()].id == id;
  choices_.reversed = again && !choices_.reversed;
  choices_.sort = id;
  make();
}

void session::sort_beside(int step) {
  const auto& all = listing_.columns();
  if (all.empty()) return;
  choices_.sort = all[moved(listing_.sorted(), step, all.size())].id;
  choices_.reversed = false;
  make();
}

void session::handle_filter(const event& e) {
  std::string& typed = choices_.filter;
  switch (e.what) {
    case key::character:
      if (typed.size() < most_typed) typed += e.text;
      break;
    case key::backspace:
      while (!typed.empty() && (static_cast<unsigned char>(typed.back()) & 0xc0) == 0x80) typed.pop_back();
      if (!typed.empty()) typed.pop_back();
      break;
    case key::escape:
      typed = filter_before_;
      mode_ = mode::rows;
      break;
    case key::enter: mode_ = mode::rows; return;
    case key::up:
    case key::down:
    case key::page_up:
    case key::page_down: return handle_rows(e);
    default: return;
  }
  make();
}

void session::ask(question what) {
  menu_.clear();
  menu_at_ = 0;
  question_ = what;
  mode_ = mode::menu;
  const auto add = [&](std::string id, std::string words, bool chosen) {
    menu_.push_back({std::move(id), std::move(words), chosen});
    if (chosen && what != question::columns) menu_at_ = menu_.size() - 1;
  };
  switch (what) {
    case question::sort:
      for (std::size_t i = 0; i < listing_.columns().size(); ++i) {
        const column& c = listing_.columns()[i];
        add(c.id, c.title, i == listing_.sorted());
      }
      break;
    case question::grouping:
      add("", "nothing", choices_.grouping.empty());
      for (const grouping& g : groupings_of(fleet_)) add(g.id, g.title, g.id == choices_.grouping);
      break;
    case question::policy:
      add("", "all policies", choices_.policy.empty());
      for (const std::string& name : fleet_.policies()) add(name, name, name == choices_.policy);
      break;
    case question::columns:
      for (const column& c : listing_.every_column()) {
        const bool shown =
            std::ranges::find(listing_.columns(), c.id, &column::id) != listing_.columns().end();
        add(c.id, c.kind == column_kind::metric ? c.id.substr(c.id.find(':') + 1) : c.title, shown);
      }
      break;
  }
}

void session::answer(const item& chosen) {
  switch (question_) {
    case question::sort: return sort_by(chosen.id);
    case question::grouping:
      choices_.grouping = chosen.id;
      choices_.within.reset();
      selected_.clear();
      break;
    case question::policy:
      choices_.policy = chosen.id;
      rules_.clear();
      // Nodes that the policy concerns come first: whoever watches a policy wants to see them.
      if (!chosen.id.empty()) choices_.sort = "policy:" + chosen.id;
      choices_.reversed = false;
      break;
    case question::columns: choices_.shown[chosen.id] = !chosen.chosen; break;
  }
  make();
}

void session::handle_menu(const event& e) {
  const std::string typed = e.what == key::character ? e.text : "";
  const auto lines = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, body_lines()));
  std::ptrdiff_t by = 0;
  bool chosen = e.what == key::enter || typed == " ";
  if (e.what == key::escape || e.what == key::backspace || typed == "q") {
    mode_ = mode::rows;
    return;
  }
  if (e.what == key::up || e.what == key::wheel_up || typed == "k") by = -1;
  if (e.what == key::down || e.what == key::wheel_down || typed == "j") by = 1;
  if (e.what == key::page_up) by = -lines;
  if (e.what == key::page_down) by = lines;
  if (e.what == key::home) by = -static_cast<std::ptrdiff_t>(menu_.size());
  if (e.what == key::end) by = static_cast<std::ptrdiff_t>(menu_.size());
  menu_at_ = moved(menu_at_, by, menu_.size());
  if (e.what == key::click && e.y >= top_lines()) {
    const std::size_t line = menu_first() + e.y - top_lines();
    if (line >= menu_.size() || e.y >= top_lines() + body_lines()) return;
    menu_at_ = line;
    chosen = true;
  }
  if (!chosen || menu_.empty()) return;
  answer(menu_[menu_at_]);
  if (question_ != question::columns) {
    mode_ = mode::rows;
    return;
  }
  // The menu of columns stays open until Enter: the person may choose several.
  if (e.what == key::enter) {
    mode_ = mode::rows;
    return;
  }
  menu_[menu_at_].chosen = !menu_[menu_at_].chosen;
}

}  // namespace binnacle::cli::top
