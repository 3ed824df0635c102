#pragma once

#include "cli/top/fleet.hpp"
#include "cli/top/listing.hpp"
#include "cli/top/page.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace binnacle::cli::top {

enum class key : unsigned char {
  character,  ///< event::text
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
  help,
  quit,
  click,  ///< at event::x, event::y
  wheel_up,
  wheel_down,
};

struct event {
  key what = key::character;
  std::string text = {};  ///< one printable character in UTF-8
  std::size_t x = 0, y = 0;
};

/// One of the aggregators that top asks.
struct replica {
  std::string url;
  std::string trouble;  ///< why it does not answer; empty: it answers
};

/// The state of `binnacle top` at a terminal: takes answers and keys, gives pages. Times are milliseconds of
/// any one clock.
class session {
 public:
  session(std::vector<std::string> wanted, bool utf8)
      : fleet_(wanted), wanted_(std::move(wanted)), utf8_(utf8) {}

  void resize(std::size_t width, std::size_t height) noexcept;
  /// Takes an answer of /api/v1/nodes that came from `url`.
  void take_nodes(const json::value& answer, const std::string& url, std::int64_t now_ms);
  /// Takes an answer of /api/v1/policies; such answers are only needed while wants_policies().
  void take_policies(const json::value& answer);
  bool wants_policies() const noexcept { return !choices_.policy.empty(); }
  /// Takes an answer of /api/v1/nodelabels: about the label `key`, or, if `key` is empty, about which keys
  /// there are.
  void take_labels(const std::string& key, const json::value& answer);
  /// Reports that no aggregator told the labels; `why` is a sentence.
  void miss_labels(const std::string& why);
  /// The keys for which take_labels() needs answers now: labels by which nodes are grouped or filtered, and
  /// "" while somebody chooses a label. Empty as long as no label is used.
  std::vector<std::string> wanted_labels() const;
  /// Reports that no aggregator told the nodes; `why` is a sentence.
  void miss(std::string why) { trouble_ = std::move(why); }
  void take_replicas(std::vector<replica> all) { replicas_ = std::move(all); }

  void handle(const event& e);
  /// Whether the person asked to leave.
  bool done() const noexcept { return done_; }

  page draw(std::int64_t now_ms) const;

 private:
  enum class mode : unsigned char { rows, filter, menu, help };
  enum class question : unsigned char { sort, grouping, policy, columns };
  struct item {
    std::string id, text;
    bool chosen = false;
  };

  // In session_keys.cpp:
  void handle_rows(const event& e);
  void handle_filter(const event& e);
  void handle_menu(const event& e);
  void press(char c);
  void click(const event& e);
  void step_back();
  void ask(question what);
  void answer(const item& chosen);
  void sort_by(const std::string& id);
  void sort_beside(int step);
  void move(std::ptrdiff_t by);
  void select(std::size_t row);
  void make();

  // In session_draw.cpp:
  struct place {
    std::size_t column, x, width;
  };
  std::vector<place> places() const;  // which columns are on the screen, and where
  std::size_t top_lines() const;      // lines above the rows
  std::size_t body_lines() const;
  std::size_t menu_first() const;
  cell notice(std::int64_t now_ms) const;  // the line about what is wrong; its text is empty if all is well
  void draw_title(page_writer& out) const;
  void draw_choices(page_writer& out) const;
  void draw_rows(page_writer& out, std::int64_t now_ms) const;
  void draw_list(page_writer& out) const;
  void draw_help(page_writer& out) const;
  void draw_foot(page_writer& out) const;

  fleet fleet_;
  std::vector<std::string> wanted_;
  bool utf8_;
  choices choices_;
  listing listing_;
  std::string url_, trouble_, note_, label_trouble_;
  std::vector<replica> replicas_;
  std::vector<std::pair<std::string, std::string>> rules_;  // of the watched policy: its text, its metric

  std::size_t width_ = 80, height_ = 24;
  mode mode_ = mode::rows;
  question question_ = question::sort;
  std::vector<item> menu_;
  std::size_t menu_at_ = 0;
  std::size_t at_ = 0, first_ = 0;  // the selected row, and the first on the screen
  std::string selected_;            // the name of the selected row; empty: the first row, whatever its name
  std::size_t first_column_ = 1;    // the first column shown after the names
  std::size_t help_first_ = 0;
  std::string filter_before_;
  bool paused_ = false, done_ = false;
};

}  // namespace binnacle::cli::top
