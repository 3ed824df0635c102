// Draws the pages of a session of binnacle top.
#include "cli/top/session.hpp"
#include "cli/views/nodes.hpp"
#include "cli/views/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace binnacle::cli::top {
namespace {

constexpr std::size_t least_width = 30, least_height = 8;
constexpr std::size_t gap = 2;         // between columns
constexpr std::size_t least_part = 5;  // the least width in which a cut column is shown
constexpr std::size_t title_bars = 12;
constexpr std::size_t key_width = 14;  // of the help

struct help_line {
  std::string_view keys, words;
};
constexpr help_line help_lines[] = {
    {"up down j k", "move by a row; Page Up, Page Down, Home and End go further"},
    {"left right", "scroll to columns that have no room"},
    {"/",
     "filter as you type: parts of names, KEY=VALUE of labels, \"violating\", \"down\"; !word leaves out"},
    {"< >", "order by the column to the left or right; 1 to 9: by that column"},
    {"s", "order by a column from a list; a click on a header does the same"},
    {"r", "turn the order round; a second click does the same"},
    {"g", "one row for each value of a label: watts add up, temperatures have a mean"},
    {"Enter", "on a group: only its nodes"},
    {"p", "watch one policy: its nodes, worst first, and the metrics that it compares"},
    {"c", "choose columns; --metric NAME adds others"},
    {"Esc", "one step back: filter, group, policy"},
    {"space", "stop the updates; again: go on"},
    {"? q", "this help; the end"},
    {"", ""},
    {"TREND", "what this session has seen of the column that orders the rows, or of POWER"},
    {"AGE", "the oldest value of the row"},
    {"CURVE", "where the node's curve of watts is from; how much of its loads it has measured, and how well"},
    {"*", "in part: some members have no value, or a window is not covered"},
    {"(state)", "the policy is in DryRun: what it would say"},
};

}  // namespace

std::size_t session::top_lines() const { return notice(fleet_.taken_ms()).text.empty() ? 3 : 4; }

std::size_t session::body_lines() const {
  const std::size_t others = top_lines() + 2;
  return height_ > others ? height_ - others : 0;
}

std::size_t session::menu_first() const {
  const std::size_t body = std::max<std::size_t>(1, body_lines());
  return menu_at_ < body ? 0 : menu_at_ - body + 1;
}

std::vector<session::place> session::places() const {
  const auto& all = listing_.columns();
  std::vector<place> out;
  if (all.empty()) return out;
  const std::size_t name = std::min(all[0].width, width_ / 2);
  out.push_back({0, 0, name});
  std::size_t x = name + gap;
  for (std::size_t i = first_column_; i < all.size() && x + least_part <= width_; ++i) {
    const bool whole = x + all[i].width <= width_;
    if (!whole && all[i].how == align::right && i > first_column_) break;  // never show a part of a number
    const std::size_t room = width_ - x;
    out.push_back({i, x, all[i].kind == column_kind::why ? room : std::min(all[i].width, room)});
    x += out.back().width + gap;
  }
  return out;
}

cell session::notice(std::int64_t now_ms) const {
  if (!trouble_.empty() && !fleet_.empty()) {
    return {
        fmt::format("what is shown is {} old: {}; trying again", age(now_ms - fleet_.taken_ms()), trouble_),
        ink::violating};
  }
  for (const replica& r : replicas_) {
    if (!r.trouble.empty() && r.url != url_)
      return {fmt::format("{} is away: {}", r.url, r.trouble), ink::violating};
  }
  if (!label_trouble_.empty() && !wanted_labels().empty()) return {label_trouble_, ink::missing};
  if (!note_.empty()) return {note_, ink::missing};
  std::string rules;
  for (const auto& rule : rules_) rules += (rules.empty() ? "" : "; ") + rule.first;
  return {rules, ink::plain};
}

void session::draw_title(page_writer& out) const {
  out.begin();
  out.add("binnacle top", ink::strong);
  if (fleet_.empty()) return;
  if (paused_) out.add("updates stopped: space goes on", ink::held);
  const auto clock = fleet_.time().find('T');
  if (clock != std::string::npos) out.add(std::string_view(fleet_.time()).substr(clock + 1), ink::dim);
  const bool all_up = fleet_.connected() == fleet_.nodes().size();
  out.add(fmt::format("{} of {} up", fleet_.connected(),
                      counted(static_cast<std::int64_t>(fleet_.nodes().size()), "node")),
          all_up ? ink::plain : ink::missing);
  const node& total = listing_.total();
  const bool watts =
      !fleet_.metrics().empty() && fleet_.metrics()[0].unit == "watts" && total.values[0].value;
  if (watts)
    out.add(with_unit(*total.values[0].value, "watts") + (total.values[0].partial ? "*" : ""), ink::strong);
  if (listing_.violating() > 0) out.add(fmt::format("{} violating", listing_.violating()), ink::violating);
  if (watts) out.add(sparkline(total.trails[0], title_bars), ink::dim);
}

void session::draw_choices(page_writer& out) const {
  out.begin();
  if (fleet_.empty()) return;
  const std::size_t rows = listing_.rows().size();
  const bool groups = !choices_.grouping.empty();
  const std::size_t last = std::min(rows, first_ + body_lines());
  out.add(rows == 0 ? "no node"
                    : fmt::format("{}-{} of {}", first_ + 1, last,
                                  counted(static_cast<std::int64_t>(rows), groups ? "group" : "node")),
          ink::dim);
  if (listing_.sorted() < listing_.columns().size())
    out.add(fmt::format("by {}{}", listing_.columns()[listing_.sorted()].title,
                        choices_.reversed ? ", reversed" : ""),
            ink::dim);
  const auto chosen = [&](std::string_view what, std::string_view value) {
    if (!value.empty()) out.add(fmt::format("{} {}", what, value), ink::strong);
  };
  const auto label = [](std::string_view grouping) {
    return grouping.substr(grouping.starts_with("label:") ? 6 : 0);
  };
  if (mode_ != mode::filter) chosen("filter", choices_.filter);
  chosen("by group", label(choices_.grouping));
  if (choices_.within)
    chosen("only", fmt::format("{}={}", label(choices_.within->first), choices_.within->second));
  if (fleet_.omitted() > 0)
    out.add(fmt::format("{} more have no room in the answer", fleet_.omitted()), ink::missing);
  if (fleet_.strategies_omitted() > 0)
    out.add(verdicts_left_out_words(fleet_.strategies_omitted()), ink::missing);
  chosen("policy", choices_.policy);
  out.add(url_, ink::dim);
}

void session::draw_rows(page_writer& out, std::int64_t now_ms) const {
  const auto shown = places();
  const auto& columns = listing_.columns();
  out.begin(look::header);
  for (const place& p : shown)
    out.put(p.x, p.width, columns[p.column].title, ink::plain, columns[p.column].how,
            p.column == listing_.sorted());
  const std::int64_t later = std::max<std::int64_t>(0, now_ms - fleet_.taken_ms());
  for (std::size_t i = first_; i < std::min(listing_.rows().size(), first_ + body_lines()); ++i) {
    out.begin(i == at_ ? look::selected : look::plain);
    for (const place& p : shown) {
      const cell c = cell_of(*listing_.rows()[i], columns[p.column], listing_.trend(), later);
      out.put(p.x, p.width, c.text, c.with, columns[p.column].how);
    }
  }
}

void session::draw_list(page_writer& out) const {
  static constexpr std::string_view questions[] = {"Order by", "One row for each", "Watch", "Columns"};
  out.begin(look::header);
  out.add(questions[static_cast<std::size_t>(question_)]);
  const std::size_t from = menu_first();
  for (std::size_t i = from; i < std::min(menu_.size(), from + body_lines()); ++i) {
    out.begin(i == menu_at_ ? look::selected : look::plain);
    const bool boxes = question_ == question::columns;
    out.put(0, 4, boxes ? (menu_[i].chosen ? "[x]" : "[ ]") : menu_[i].chosen ? "  *" : "");
    out.put(4, width_, menu_[i].text);
  }
}

void session::draw_help(page_writer& out) const {
  out.begin(look::header);
  out.add("Help");
  const std::size_t most = std::size(help_lines) - std::min(std::size(help_lines), body_lines());
  for (std::size_t i = std::min(help_first_, most);
       i < std::size(help_lines) && out.lines() < top_lines() + body_lines(); ++i) {
    out.begin();
    out.put(0, key_width, help_lines[i].keys, ink::strong);
    out.put(key_width, width_, help_lines[i].words);
  }
}

void session::draw_foot(page_writer& out) const {
  while (out.lines() + 2 < height_) out.begin();
  out.begin();
  const bool is_row = mode_ == mode::rows || mode_ == mode::filter;
  if (is_row && at_ < listing_.rows().size() && !listing_.rows()[at_]->why.empty())
    out.add(listing_.rows()[at_]->name + ": " + listing_.rows()[at_]->why);
  if (mode_ == mode::filter) {
    out.begin();
    out.put(0, width_ - 1, "/" + choices_.filter);
    return;
  }
  out.begin(look::bar);
  switch (mode_) {
    case mode::menu:
      out.add(question_ == question::columns ? "space shows or hides  Enter ends"
                                             : "Enter chooses  Esc goes back");
      break;
    case mode::help: out.add("any key goes back"); break;
    default: out.add("? help  / filter  s sort  r reverse  g group  p policy  c columns  q quit");
  }
}

page session::draw(std::int64_t now_ms) const {
  page_writer out(width_, utf8_);
  if (width_ < least_width || height_ < least_height) {
    out.begin();
    out.add(fmt::format("too small: {}x{} needed", least_width, least_height));
    return out.take();
  }
  draw_title(out);
  draw_choices(out);
  if (const cell said = notice(now_ms); !said.text.empty()) {
    out.begin();
    out.add(said.text, said.with);
  }
  if (mode_ == mode::help) {
    draw_help(out);
  } else if (mode_ == mode::menu) {
    draw_list(out);
  } else if (fleet_.empty()) {
    out.begin();
    out.add(trouble_.empty() ? "asking the aggregator" : trouble_,
            trouble_.empty() ? ink::plain : ink::violating);
    if (!trouble_.empty()) {
      out.begin();
      out.add("Trying again every second; q ends.");
    }
  } else if (fleet_.nodes().empty()) {
    out.begin();
    out.add("no node has connected yet: start binnacle-agent with --aggregator pointing here");
  } else {
    draw_rows(out, now_ms);
  }
  draw_foot(out);
  return out.take(mode_ == mode::filter);
}

}  // namespace binnacle::cli::top
