#pragma once

#include "common/clock.hpp"

#include <yaml-cpp/yaml.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Which files of a folder, and of those below it, a report keeps; nothing else is opened. Names are globs.
struct kept_files {
  std::string_view folders;  ///< below the section's folder: "*", "*/format"; empty: the folder itself
  std::vector<std::string_view> files;  ///< of each folder; none: only that the folder exists
};

/// A part of /sys or /proc.
struct kept_section {
  std::string_view folder;  ///< below the root: "bus/event_source/devices"
  std::vector<kept_files> what;
  std::size_t most_bytes;  ///< its room in a report, about
};

/// Those of /sys and of /proc, the most telling first. All are numbers and names that drivers and hardware
/// give themselves; none holds a serial number, an address or what a user named.
const std::vector<kept_section>& kept_of_sys();
const std::vector<kept_section>& kept_of_proc();

/// Reads small files; hardware may keep a reader waiting (a chip behind a bus), so each has a time limit, and
/// after a few that do not answer no more are asked. Blocks, at most that long each.
class patient_reader {
 public:
  patient_reader();
  ~patient_reader();
  patient_reader(const patient_reader&) = delete;
  patient_reader& operator=(const patient_reader&) = delete;

  struct answer {
    std::string text;
    std::string refusal;  ///< "Permission denied", "does not answer"; empty: it was read
  };
  answer read(const std::string& path);

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

/// What is there of `sections` below `root`, as a map by section. Folders are maps by file; a file is its
/// text, `clean`ed; one that cannot be read is a scalar with the tag !refused and says why; a link to a
/// folder that is asked for by name has the tag !link and leads from `root`. An energy counter's mode stands
/// beside it ("energy_uj.mode": "0400"). Blocks: see patient_reader.
YAML::Node read_kept(const std::string& root, const std::vector<kept_section>& sections,
                     const std::function<std::string(std::string_view)>& clean, patient_reader& reader);

/// Reads each energy counter of `tree`, which read_kept() gave, once more, and turns it into a list of the
/// first and the second reading.
void read_energy_again(YAML::Node tree, const std::string& root, patient_reader& reader);

}  // namespace binnacle::agent
