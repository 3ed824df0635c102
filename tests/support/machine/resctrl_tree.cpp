#include "tests/support/machine/resctrl_tree.hpp"

#include "tests/support/machine/write_line.hpp"

#include <cstdio>
#include <filesystem>

namespace binnacle::support {

namespace fs = std::filesystem;

resctrl_tree_writer::resctrl_tree_writer(std::string root, std::vector<unsigned> domains)
    : root_(std::move(root) + "/fs/resctrl"), domains_(std::move(domains)) {
  write_line(root_ + "/info/L3_MON/mon_features", "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes");
  write_line(root_ + "/info/L3_MON/num_rmids", "176");
  write_line(root_ + "/schemata", "L3:0=7ff;1=7ff");
  write_line(root_ + "/tasks", "1");
  make_group("");
}

std::string resctrl_tree_writer::folder(const std::string& group, unsigned domain) const {
  char name[32];
  std::snprintf(name, sizeof name, "mon_L3_%02u", domain);
  return root_ + "/" + group + "/mon_data/" + name;
}

void resctrl_tree_writer::make_group(const std::string& name) {
  for (const auto d : domains_) {
    for (const auto* event : {"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"})
      write_line(fs::path(folder(name, d)) / event, "0");
  }
  if (name.find("mon_groups") == name.npos) fs::create_directories(root_ + "/" + name + "/mon_groups");
}

void resctrl_tree_writer::remove_group(const std::string& name) { fs::remove_all(root_ + "/" + name); }

void resctrl_tree_writer::set(const std::string& group, unsigned domain, const std::string& event,
                              const std::string& text) {
  write_line(fs::path(folder(group, domain)) / event, text);
}

void resctrl_tree_writer::remove_event(const std::string& event) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    if (entry.path().filename() == event) files.push_back(entry.path());
  }
  for (const auto& file : files) fs::remove(file);
}

}  // namespace binnacle::support
