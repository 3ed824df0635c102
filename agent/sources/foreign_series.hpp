#pragma once

#include "agent/base/board.hpp"
#include "common/exposition/exposition.hpp"
#include "common/keyed_hash.hpp"
#include "common/metrics/catalog.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace binnacle::agent {

/// A series that somebody else named: a user in a file, an exporter.
struct foreign_series {
  std::string name;
  metrics::label_set labels;  ///< in the order given
  double value = 0;
  metrics::kind type = metrics::kind::gauge;
  std::string help;
  absence reason = absence::none;  ///< why it has no value

  /// A copy with its help shortened, since that travels with every catalogue.
  static foreign_series from(const exposition::sample& s);
  /// Name and labels, sorted: the same for the same series.
  std::string key() const;
};

class foreign_origin;

/// The names of all foreign series on this node. Sources that bring such series share one, so that a series
/// counts once, whoever brings it, and all of them together fit into a catalogue. Threads: the agent's loop.
class foreign_names {
 public:
  struct bounds {
    std::size_t series = 5'000;
    std::size_t bytes = 3u << 20;  ///< their names, labels and help in a catalogue
  };
  foreign_names() : foreign_names(bounds{}) {}
  explicit foreign_names(bounds most) : most_(most) {}

  struct refusal {
    std::string_view reason;  ///< a label value of binnacle_agent_refused_series_total
    std::string sentence;
  };
  /// Why one series more is refused; nothing if it may be taken.
  std::optional<refusal> why_refused(const std::string& key, const foreign_series& s) const;
  /// `key` and `holder` must stay where they are until release().
  void take(std::string_view key, const foreign_series& s, foreign_origin& holder);
  void release(std::string_view key);
  /// Another source wants this name: if its holder no longer has the series, the holder gives the name up.
  void ask_for(const std::string& key, board& out);
  /// If these bounds or the board's leave no room for `s`, but would without the series that are gone: those
  /// are given up, the one gone longest first, until there is room.
  void make_room(const foreign_series& s, board& out);
  /// A series is gone: its name is kept, so that policies see an absence, until somebody needs the room.
  void gone(std::string_view key);
  /// It is there again.
  void back(std::string_view key);
  /// Raised when a name became free: what was refused may be taken now.
  std::uint64_t freed() const noexcept { return freed_; }

 private:
  struct taken {
    std::size_t cost;  // in a catalogue
    std::size_t text;  // what the board counts of it
    foreign_origin* holder;
    std::uint64_t gone = 0;  // its place in gone_; 0: it is there
  };
  bool fits(std::size_t series, std::size_t bytes, std::size_t cost) const noexcept {
    return series < most_.series && bytes + cost <= most_.bytes;
  }

  bounds most_;
  std::unordered_map<std::string_view, taken, keyed_hash> taken_;
  std::size_t bytes_ = 0;
  std::map<std::uint64_t, std::string_view> gone_;  // in the order in which they went
  std::size_t gone_bytes_ = 0;
  std::size_t gone_text_ = 0;
  std::uint64_t last_gone_ = 0;
  std::uint64_t freed_ = 0;
};

/// The series of one file or exporter on the board. What a new reading no longer has is `missing` for ten
/// minutes, so that policies see an absence rather than a node that never had it, then forgotten; earlier if
/// another origin has it now (a file was renamed, a metric moved), or if living series need the room.
class foreign_origin {
 public:
  explicit foreign_origin(std::shared_ptr<foreign_names> names) : names_(std::move(names)) {}
  ~foreign_origin();
  foreign_origin(const foreign_origin&) = delete;
  foreign_origin& operator=(const foreign_origin&) = delete;

  /// Takes a whole new reading to `group`; of two equal series the first counts. Gives the first sentence
  /// about a series that was refused, or nothing; each refused one is counted by the board.
  std::string apply(board::group_ref group, const std::vector<foreign_series>& found, instant now,
                    board& out);
  /// Whether names became free since apply() refused some, so that it may take these now.
  bool may_take_more() const noexcept { return refused_ && names_->freed() != freed_before_; }
  /// Forgets the series at once if it is gone, so that another origin may have its name.
  void yield(std::string_view key, board& out);
  /// No reading: all are absent.
  void lose(absence reason, board& out);
  /// Forgets those that have been missing for long. Cheap enough for once a minute.
  void sweep(instant now, board& out);
  /// Forgets all series, because their group was removed.
  void clear();
  std::size_t size() const noexcept { return held_.size(); }

 private:
  struct series {
    board::series_ref ref = board::no_series;
    std::uint64_t round = 0;         // of the last reading that had it
    std::optional<instant> gone_at;  // missing since
  };
  static void show(series& h, const foreign_series& s, board& out);
  void mark_gone(instant now, board& out);

  std::shared_ptr<foreign_names> names_;
  std::unordered_map<std::string, series, keyed_hash> held_;
  std::uint64_t round_ = 0;
  bool refused_ = false;            // something of the last reading
  std::uint64_t freed_before_ = 0;  // names_->freed() after it
};

/// How long what was there stays announced as missing.
inline constexpr duration foreign_remembered = std::chrono::minutes(10);

}  // namespace binnacle::agent
