#pragma once

#include "common/clock.hpp"

#include <yaml-cpp/yaml.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace binnacle::agent {

/// Which files of a folder and of its subfolders a report keeps. No other file is opened. Names are globs.
struct kept_files {
  std::string_view folders;  ///< below the section's folder: "*", "*/format"; empty: the folder itself
  std::vector<std::string_view> files;  ///< of each folder; empty: only the fact that the folder exists
};

/// A folder of /sys or /proc.
struct kept_section {
  std::string_view folder;  ///< below the root: "bus/event_source/devices"
  std::vector<kept_files> what;
  std::size_t most_bytes;  ///< about how much room it has in a report
};

/// The lists for /sys and for /proc, the most useful sections first. The files hold only numbers, and names
/// given by drivers and hardware: no serial number, no address and no name that a user gave.
const std::vector<kept_section>& kept_of_sys();
const std::vector<kept_section>& kept_of_proc();

/// Reads small files. Hardware may delay a read (a chip behind a bus), so each read has a time limit, and
/// after a few files that do not answer no more are read. Blocks, at most that long for each file.
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

/// Reads what exists of `sections` below `root`, as a map by section. A folder is a map by file name, and a
/// file is its text after `clean`. A file that cannot be read is a scalar with the tag !refused, which says
/// why. A link to a folder that is asked for by name has the tag !link and its target, seen from `root`.
/// Beside an energy counter stands its mode ("energy_uj.mode": "0400"). Blocks: see patient_reader.
YAML::Node read_kept(const std::string& root, const std::vector<kept_section>& sections,
                     const std::function<std::string(std::string_view)>& clean, patient_reader& reader);

/// Reads each energy counter of `tree`, which read_kept() gave, a second time, and replaces it by a list of
/// both readings.
void read_energy_again(YAML::Node tree, const std::string& root, patient_reader& reader);

}  // namespace binnacle::agent
