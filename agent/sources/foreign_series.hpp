#pragma once

#include "agent/base/board.hpp"
#include "common/exposition/exposition.hpp"
#include "common/keyed_hash.hpp"
#include "common/metrics/families.hpp"

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

/// A series with a name that is not ours: from a user's file or an exporter.
struct foreign_series {
  std::string name;
  metrics::label_set labels;  ///< in the order given
  double value = 0;
  metrics::kind type = metrics::kind::gauge;
  std::string help;
  absence reason = absence::none;  ///< why it has no value

  /// Copies a sample. Its help text is shortened, since that travels with every catalog.
  static foreign_series from(const exposition::sample& s);
  /// Name and sorted labels as one text. Equal series have equal keys.
  std::string key() const;
};

class foreign_origin;

/// The names of all foreign series on this node. All sources of foreign series share one object. So a series
/// counts once, whichever source brings it, and all series together fit into a catalog. Threads: the
/// agent's loop.
class foreign_names {
 public:
  struct bounds {
    std::size_t series = 5'000;
    std::size_t bytes = 3u << 20;  ///< of names, labels and help in a catalog
  };
  foreign_names() : foreign_names(bounds{}) {}
  explicit foreign_names(bounds most) : most_(most) {}

  struct refusal {
    std::string_view reason;  ///< a label value of binnacle_agent_refused_series_total
    std::string sentence;
  };
  /// Why one more series is refused. Nothing if it may be taken.
  std::optional<refusal> why_refused(const std::string& key, const foreign_series& s) const;
  /// Registers the series for `holder`. `key` and `holder` must stay where they are until release().
  void take(std::string_view key, const foreign_series& s, foreign_origin& holder);
  void release(std::string_view key);
  /// Another source wants this name. If the holder's series is gone, the holder gives the name up.
  void ask_for(const std::string& key, board& out);
  /// If `s` has no room within these bounds or the board's, forgets series that are gone, the one gone
  /// longest first, until it has. Forgets none if that would not be enough.
  void make_room(const foreign_series& s, board& out);
  /// The series is gone. Its name is kept, so that policies see an absence, until the room is needed.
  void gone(std::string_view key);
  /// The series is there again.
  void back(std::string_view key);
  /// Raised when a name became free. A series that was refused may be taken now.
  std::uint64_t freed() const noexcept { return freed_; }

 private:
  struct taken {
    std::size_t cost;  // in a catalog
    std::size_t text;  // the bytes that the board counts for it
    foreign_origin* holder;
    std::uint64_t gone = 0;  // its place in gone_; 0: it is not gone
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

/// The series of one file or exporter on the board. A series that a new reading lacks is `missing` for ten
/// minutes, so that policies see an absence and not a node that never had it. Then it is forgotten. It is
/// forgotten earlier if another origin has it now (a file was renamed, a metric moved), or if series that are
/// there need the room.
class foreign_origin {
 public:
  explicit foreign_origin(std::shared_ptr<foreign_names> names) : names_(std::move(names)) {}
  ~foreign_origin();
  foreign_origin(const foreign_origin&) = delete;
  foreign_origin& operator=(const foreign_origin&) = delete;

  /// Puts a complete new reading into `group`. If two series are equal, the first one counts. Returns the
  /// first sentence about a refused series, or an empty text; the board counts each refusal.
  std::string apply(board::group_ref group, const std::vector<foreign_series>& found, instant now,
                    board& out);
  /// Whether names became free since apply() refused some series, so that it may take them now.
  bool may_take_more() const noexcept { return refused_ && names_->freed() != freed_before_; }
  /// Forgets the series at once if it is gone. Another origin may then have its name.
  void yield(std::string_view key, board& out);
  /// There is no reading: all series become absent.
  void lose(absence reason, board& out);
  /// Forgets series that have been missing for long. Cheap enough for once a minute.
  void sweep(instant now, board& out);
  /// Forgets all series, because their group was removed.
  void clear();
  std::size_t size() const noexcept { return held_.size(); }

 private:
  struct series {
    board::series_ref ref = board::no_series;
    std::uint64_t round = 0;         // the last reading that had it
    std::optional<instant> gone_at;  // since when it is missing
  };
  static void show(series& h, const foreign_series& s, board& out);
  void mark_gone(instant now, board& out);

  std::shared_ptr<foreign_names> names_;
  std::unordered_map<std::string, series, keyed_hash> held_;
  std::uint64_t round_ = 0;
  bool refused_ = false;            // whether a series of the last reading was refused
  std::uint64_t freed_before_ = 0;  // names_->freed() after the last reading
};

/// How long a series that is gone stays announced as missing.
inline constexpr duration foreign_remembered = std::chrono::minutes(10);

}  // namespace binnacle::agent
