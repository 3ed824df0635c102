#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/sources/foreign_series.hpp"
#include "common/system/file_stamp.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Bounds of one file.
struct prom_bounds {
  std::size_t bytes = 1u << 20;
  std::size_t series = 5'000;
};

struct textfile_options {
  std::string folder;
  duration period = std::chrono::seconds(1);
  prom_bounds each;
  std::size_t files = 200;
  std::size_t entries = 10'000;  ///< of the folder; no more are looked at
  /// CPU time after which no more files are parsed in a round. All sources share one loop.
  duration longest_parsing = std::chrono::milliseconds(50);
  /// Shared with the other sources of foreign series.
  std::shared_ptr<foreign_names> names = std::make_shared<foreign_names>();
};

/// The *.prom files of one folder, as for node_exporter's textfile collector. With them a user can bring any
/// other number. Series keep the users' names; a name of ours is refused. A broken file makes only its own
/// series absent. A user's link to another user's file is not followed; root's links are. A file whose name
/// is not UTF-8, or has characters that nobody sees, is left out.
///
/// Every period the folder is listed and each file looked at; a file is parsed if it has changed. If parsing
/// takes too long, the other files wait for the next round, and their values age. Users should write files
/// with a rename. A file that is empty or ends within a line, and was written just now,
/// counts as half written, and its values before stay. If it is still so after some seconds, the source
/// reports it. The age of a series counts from the last time its file was there and valid. If a file goes, or
/// a series of it, it is `missing` for ten minutes, so that policies see an absence and not a node that never
/// had it. Then it is forgotten, or earlier if new series need the room. A series that has moved to another
/// file goes there at once.
class textfile_source final : public source {
 public:
  explicit textfile_source(textfile_options options, clocks time = {});

  std::string_view name() const noexcept override { return "textfile"; }
  duration period() const noexcept override { return options_.period; }
  std::vector<finding> probe() override;
  result<void> discover(board& out) override;
  std::string limitation() const override;
  result<void> read(board& out) override;

 private:
  struct file {
    explicit file(std::shared_ptr<foreign_names> names) : held(std::move(names)) {}
    board::group_ref group = board::no_group;
    board::series_ref mtime = board::no_series;
    board::series_ref success = board::no_series;
    std::optional<file_stamp> stamp;  // of the text that was parsed; nothing: parse the file at the next look
    bool good = false;
    std::string problem;                        // why the file is not used, or what of it was refused
    std::string remark;                         // a remark that costs no value
    std::optional<instant> half_written_since;  // since when every look found it half written
    std::optional<instant> gone_at;
    foreign_origin held;
  };

  bool make_room(board& out);
  file& announced(const std::string& name, board& out);
  std::string about(const std::string& name, std::string_view what) const;
  void look_at(const std::string& name, instant now, board& out);
  result<void> take(file& f, const std::string& name, std::string_view text, instant now, board& out);
  void lose(file& f, absence reason, board& out);
  void vanish(file& f, instant now, board& out);
  void forget(file& f, board& out);

  textfile_options options_;
  clocks time_;
  board::group_ref group_ = board::no_group;  // series about the files themselves
  std::map<std::string, file> files_;
  std::uint64_t round_ = 0;
  std::size_t files_left_out_ = 0;
  duration parsing_ends_{};  // of this round, in CPU time
  std::size_t files_that_wait_ = 0;
  std::string next_;  // the first of them, with which the next round begins
  bool is_overfull_ = false;
  std::string illegible_;  // which files are left out because of their names
};

}  // namespace binnacle::agent
