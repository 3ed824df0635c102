#include "agent/sources/textfile/textfile.hpp"

#include "agent/base/problem_summary.hpp"
#include "agent/kernel/absence_of.hpp"
#include "agent/sources/textfile/folder_entry.hpp"
#include "common/exposition/exposition.hpp"
#include "common/system/os_error.hpp"
#include "common/system/read_file.hpp"
#include "common/text/text.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t sweep_every_rounds = 60;
constexpr duration half_written_at_most = std::chrono::seconds(5);  // by then a single write is done

// Whether the file was changed within the last second. It may then be half written, and another write may
// leave the same timestamp.
bool fresh(const file_stamp& stamp) {
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  return std::abs(now - stamp.modified_ns) < 1'000'000'000;
}

struct listed {
  std::vector<std::string> names;  // of the *.prom files, sorted
  bool is_whole = true;            // false: the folder has more entries than we look at
  std::size_t illegible = 0;       // *.prom files that are left out because of their names
  std::string first_illegible;
};

// Of a name that is not UTF-8 the board keeps a cleaned form, which other files may have, too. And nobody
// could tell files apart whose names differ in what a person does not see.
bool is_legible(std::string_view name) {
  return find_invalid_utf8(name) == name.npos && printable(name) == name;
}

// Sorted, so that if two files have the same series, it is always the same one that counts.
result<listed> listing(const std::string& folder, std::size_t most_entries) {
  std::error_code bad;
  listed out;
  std::size_t entries = 0;
  for (fs::directory_iterator it(folder, bad), end; !bad && it != end; it.increment(bad)) {
    if (++entries > most_entries) {
      out.is_whole = false;
      break;
    }
    auto name = it->path().filename().string();
    if (!name.ends_with(".prom") || name.starts_with(".")) continue;
    if (is_legible(name)) {
      out.names.push_back(std::move(name));
    } else if (out.illegible++ == 0 || name < out.first_illegible) {
      out.first_illegible = std::move(name);
    }
  }
  if (bad) {
    return error{errc_of(bad.value()),
                 fmt::format("{}: {}: make the folder, or set textfile-directory", folder, bad.message())};
  }
  std::sort(out.names.begin(), out.names.end());
  return out;
}

// Says which files are left out because of their names; empty if none are.
std::string about_names(const std::string& folder, const listed& found) {
  if (found.illegible == 0) return {};
  return fmt::format(
      "{}: {}{} left out, because a name must be UTF-8 without characters that nobody sees: rename {}",
      folder, in_quotes(found.first_illegible),
      found.illegible == 1 ? " is" : fmt::format(" and others, {} files, are", found.illegible),
      found.illegible == 1 ? "it" : "them");
}

// Parses a whole *.prom text into `out`, or nothing of it on an error. If something was ignored, `note` gets
// a sentence about it; otherwise `note` is unchanged. Errors: those of exposition::parse, "line 3: …".
result<void> parse_prom(std::string_view text, const prom_bounds& bounds, std::vector<foreign_series>& out,
                        std::string& note) {
  out.clear();
  std::size_t timestamps = 0;
  exposition::limits limits;
  limits.bytes = bounds.bytes;
  limits.series = bounds.series;
  const auto take = [&](const exposition::sample& s) {
    if (s.timestamp_ms) ++timestamps;
    out.push_back(foreign_series::from(s));
  };
  auto parsed = exposition::parse(text, limits, take);
  if (!parsed) {
    out.clear();
    return parsed;
  }
  if (timestamps > 0) {
    note = fmt::format("{} a timestamp, which is ignored: the age counts from the reading",
                       timestamps == 1 ? "1 line has" : fmt::format("{} lines have", timestamps));
  }
  return {};
}

}  // namespace

textfile_source::textfile_source(textfile_options options, clocks time)
    : options_(std::move(options)), time_(std::move(time)) {}

result<void> textfile_source::discover(board& out) {
  group_ = out.add_group("textfile", "", options_.period, metrics::stale_after(options_.period));
  if (const auto found = listing(options_.folder, options_.entries); !found) return found.error();
  return {};
}

result<void> textfile_source::read(board& out) {
  auto found = listing(options_.folder, options_.entries);
  if (!found) {
    for (auto& [name, f] : files_) {
      f.stamp.reset();
      lose(f, absence::missing, out);
      out.set_absent(f.success, absence::missing);
    }
    return found.error();
  }
  auto& names = found->names;
  is_overfull_ = !found->is_whole;
  illegible_ = about_names(options_.folder, *found);
  const auto now = time_.now();
  ++round_;
  parsing_ends_ = time_.worked() + options_.longest_parsing;
  files_that_wait_ = 0;
  std::vector<std::string> unlisted;  // there, although the listing did not get to them
  // First handle files that are gone, so that a file with another name can take over their series.
  for (auto it = files_.begin(); it != files_.end();) {
    auto& f = it->second;
    if (!f.gone_at && !std::binary_search(names.begin(), names.end(), it->first)) {
      // In a folder that was not read to its end, the file may be there.
      if (is_overfull_ && folder_entry::look(options_.folder, it->first)) {
        unlisted.push_back(it->first);
      } else {
        vanish(f, now, out);
      }
    }
    if (f.gone_at && now - *f.gone_at > foreign_remembered) {
      forget(f, out);
      it = files_.erase(it);
      continue;
    }
    if (round_ % sweep_every_rounds == 0) {
      f.held.sweep(now, out);
    }
    ++it;
  }
  files_left_out_ = 0;
  if (!unlisted.empty()) {  // they take turns with the others
    names.insert(names.end(), unlisted.begin(), unlisted.end());
    std::ranges::sort(names);
  }
  std::rotate(names.begin(), std::ranges::lower_bound(names, std::exchange(next_, {})), names.end());
  for (const auto& name : names) {
    if (!files_.contains(name) && files_.size() >= options_.files && !make_room(out)) {
      ++files_left_out_;
      continue;
    }
    look_at(name, now, out);
  }
  out.mark_read(group_, time_.now());
  return {};
}

// Forgets the file that has been gone longest. False if no file is gone.
bool textfile_source::make_room(board& out) {
  auto oldest = files_.end();
  for (auto it = files_.begin(); it != files_.end(); ++it) {
    if (!it->second.gone_at) continue;
    if (oldest == files_.end() || *it->second.gone_at < *oldest->second.gone_at) oldest = it;
  }
  if (oldest == files_.end()) return false;
  forget(oldest->second, out);
  files_.erase(oldest);
  return true;
}

textfile_source::file& textfile_source::announced(const std::string& name, board& out) {
  auto& f = files_.try_emplace(name, options_.names).first->second;
  if (f.group == board::no_group) {
    f.group = out.add_group("textfile", name, options_.period, metrics::stale_after(options_.period));
    f.mtime = out.add_series(group_, "textfile_mtime_seconds", {{"file", name}});
    f.success = out.add_series(group_, "textfile_read_success", {{"file", name}});
  }
  return f;
}

// "/folder/name: what"; empty if `what` is.
std::string textfile_source::about(const std::string& name, std::string_view what) const {
  return what.empty() ? std::string() : fmt::format("{}/{}: {}", options_.folder, name, what);
}

void textfile_source::look_at(const std::string& name, instant now, board& out) {
  auto& f = announced(name, out);
  f.gone_at.reset();
  const auto fail = [&](absence reason, std::string_view why) {
    f.good = false;
    f.problem = about(name, why);
    f.remark.clear();
    out.set(f.success, std::int64_t{0});
    lose(f, reason, out);
  };

  const auto entry = folder_entry::look(options_.folder, name);
  if (!entry) {
    f.stamp.reset();
    return fail(absence_of(errno), describe(errno));
  }
  if (entry.links_to_another_users_file()) {
    f.stamp.reset();
    return fail(absence::permission,
                "a link to another user's file, which is not followed: copy the file, or make root the "
                "link's owner");
  }
  const auto stamp = file_stamp::of(entry.about());
  out.set(f.mtime, std::int64_t{entry.about().st_mtim.tv_sec});
  if (f.stamp == stamp && !(f.good && f.held.may_take_more())) {
    if (f.good) out.mark_read(f.group, time_.now());
    return;
  }
  if (!S_ISREG(entry.about().st_mode)) {
    f.stamp = stamp;
    return fail(absence::malformed, "not a regular file");
  }
  if (time_.worked() >= parsing_ends_) {
    if (files_that_wait_++ == 0) next_ = name;
    return;
  }
  const auto fd = entry.open();
  if (!fd) {
    f.stamp.reset();
    return fail(absence_of(errno), describe(errno));
  }
  const auto text = read_file(fd.get(), options_.each.bytes);
  const bool may_change = fresh(stamp);
  if (text && may_change && (text->empty() || text->back() != '\n')) {  // half written: look at it again
    if (!f.half_written_since) f.half_written_since = now;
    if (now - *f.half_written_since < half_written_at_most) return;
    f.problem = about(name,
                      "it changes all the time and does not end in a line feed: end its last line with one, "
                      "or write another file and rename that to this name");
    return;
  }
  f.half_written_since.reset();
  f.stamp = may_change ? std::nullopt : std::optional(stamp);
  if (!text) return fail(absence::malformed, text.error().message);
  if (const auto taken = take(f, name, *text, now, out); !taken)
    return fail(absence::malformed, taken.error().message);
}

// Takes over the series of a whole text, or nothing of it on an error.
result<void> textfile_source::take(file& f, const std::string& name, std::string_view text, instant now,
                                   board& out) {
  std::vector<foreign_series> found;
  std::string note;
  if (auto parsed = parse_prom(text, options_.each, found, note); !parsed) return parsed;
  f.good = true;
  out.set(f.success, std::int64_t{1});
  f.problem = about(name, f.held.apply(f.group, found, now, out));
  f.remark = about(name, note);
  out.mark_read(f.group, time_.now());
  return {};
}

void textfile_source::lose(file& f, absence reason, board& out) {
  f.good = false;
  f.held.lose(reason, out);
}

void textfile_source::vanish(file& f, instant now, board& out) {
  f.gone_at = now;
  f.half_written_since.reset();
  f.stamp.reset();
  f.problem.clear();
  f.remark.clear();
  f.good = false;
  f.held.apply(f.group, {}, now, out);
  out.set_absent(f.mtime, absence::missing);
  out.set_absent(f.success, absence::missing);
}

void textfile_source::forget(file& f, board& out) {
  f.held.clear();
  out.remove_group(f.group);
  out.remove_series(f.mtime);
  out.remove_series(f.success);
}

std::string textfile_source::limitation() const {
  problem_summary all;
  if (is_overfull_)
    all.add(
        fmt::format("{}: more than {} entries, which are not all looked at: move what is no *.prom file "
                    "elsewhere",
                    options_.folder, options_.entries));
  all.add(illegible_);
  for (const auto& [name, f] : files_) all.add(f.problem);
  if (files_left_out_ > 0) {
    all.add(fmt::format("{}: {} more than the {} read", options_.folder,
                        files_left_out_ == 1 ? "1 file" : fmt::format("{} files", files_left_out_),
                        options_.files == 1 ? "1 that is" : fmt::format("{} that are", options_.files)));
  }
  if (files_that_wait_ > 0) {
    all.add(
        fmt::format("{}: {} for the next round, because parsing the others took more than {} of CPU time: "
                    "write fewer series, or write them less often",
                    options_.folder,
                    files_that_wait_ == 1 ? "1 changed file waits"
                                          : fmt::format("{} changed files wait", files_that_wait_),
                    human(options_.longest_parsing)));
  }
  for (const auto& [name, f] : files_) all.add(f.remark);
  return std::move(all).sentence();
}

std::vector<finding> textfile_source::probe() {
  const auto in_folder = listing(options_.folder, options_.entries);
  if (!in_folder) {
    return {{finding::grade::broken, "files of " + options_.folder, in_folder.error().message,
             "make the folder readable, or take textfile out of sources"}};
  }
  if (in_folder->names.empty() && in_folder->illegible == 0 && in_folder->is_whole) {
    return {{finding::grade::works, fmt::format("{} (no *.prom file yet)", options_.folder), {}, {}}};
  }
  board scratch;
  auto alone = options_;
  alone.names = std::make_shared<foreign_names>();
  alone.longest_parsing = std::chrono::hours(1);  // nothing else runs
  textfile_source once(std::move(alone), time_);
  (void)once.discover(scratch);
  (void)once.read(scratch);
  std::vector<finding> found;
  if (!once.illegible_.empty())
    found.push_back(
        {finding::grade::broken, "files of " + options_.folder, once.illegible_, "rename the file"});
  for (const auto& [name, f] : once.files_) {
    auto what = fmt::format("{} ({} series)", name, f.held.size());
    const auto& why = f.problem.empty() ? f.remark : f.problem;
    if (why.empty()) {
      found.push_back({finding::grade::works, std::move(what), {}, {}});
    } else {
      found.push_back({f.good ? finding::grade::limited : finding::grade::broken, std::move(what), why,
                       f.good ? "" : "mend the file; its other values come back at the next period"});
    }
  }
  return found;
}

}  // namespace binnacle::agent
