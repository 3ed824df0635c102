#pragma once

#include "agent/base/clocks.hpp"
#include "agent/base/source.hpp"
#include "agent/sources/foreign_series.hpp"
#include "agent/sources/textfile/prom_file.hpp"
#include "common/system/file_stamp.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace binnacle::agent {

struct textfile_options {
  std::string folder;
  duration period = std::chrono::seconds(1);
  prom_bounds each;
  std::size_t files = 200;
  /// Shared with the other sources of foreign series.
  std::shared_ptr<foreign_names> names = std::make_shared<foreign_names>();
};

/// The *.prom files of one folder, as node_exporter's textfile collector: how a user brings any other number.
/// Series keep the users' names; a name of ours is refused. A file that is broken takes only its own series
/// with it. A user's link to another user's file is not followed; root's links are.
///
/// The folder is listed and each file looked at every period; a file is parsed when it changed. Write files
/// with a rename; one that is empty or ends within a line and has just been written is taken for half
/// written, and the values before it stand; one that is so for long is told. The age of a series counts from
/// the last time its file was there and right. A file (or a series of it) that goes is `missing` for ten
/// minutes, so that policies see an absence rather than a node that never had it, then forgotten, earlier if
/// new ones need the place; one that another file has now moves there at once.
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
    std::optional<file_stamp> stamp;  // of what was parsed; nothing: parse at the next look
    bool good = false;
    std::string problem;                        // why it is not, or what of it was refused
    std::string remark;                         // what is odd in it though it costs no value
    std::optional<instant> half_written_since;  // at each look
    std::optional<instant> gone_at;
    foreign_origin held;
  };

  bool make_room(board& out);
  void look_at(const std::string& name, instant now, board& out);
  void lose(file& f, absence reason, board& out);
  void vanish(file& f, instant now, board& out);
  void forget(file& f, board& out);

  textfile_options options_;
  clocks time_;
  board::group_ref group_ = board::no_group;  // what is said about the files themselves
  std::map<std::string, file> files_;
  std::uint64_t round_ = 0;
  std::size_t files_left_out_ = 0;
};

}  // namespace binnacle::agent
