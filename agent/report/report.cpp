#include "agent/report/report.hpp"

#include "agent/kernel/cpu_list.hpp"
#include "agent/kernel/cpu_topology.hpp"
#include "agent/kernel/kernel_file.hpp"
#include "agent/process/capabilities.hpp"
#include "agent/report/kept_files.hpp"
#include "agent/report/scrub.hpp"
#include "agent/report/shrink.hpp"
#include "agent/sources/host/hardware.hpp"
#include "agent/sources/rapl/power_pmu.hpp"
#include "common/text/glob.hpp"
#include "common/text/text.hpp"
#include "common/text/utf8.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace binnacle::agent {
namespace {

namespace fs = std::filesystem;

using cleaner = std::function<std::string(std::string_view)>;

// The lines of cpuinfo that say which CPU it is. Not every line is kept: those of s390 have the machine's
// serial number.
constexpr std::array<std::string_view, 20> kept_lines{
    "vendor_id",       "cpu family",  "model",    "model name",   "stepping",         "microcode", "flags",
    "CPU implementer", "CPU variant", "CPU part", "CPU revision", "CPU architecture", "Features",  "isa",
    "uarch",           "mvendorid",   "marchid",  "cpu",          "cpu model",        "Model Name"};
// The kept flags, out of some two hundred.
constexpr std::array<std::string_view, 24> kept_flags{
    "aperfmperf",    "arch_perfmon",  "cat_l3",        "constant_tsc", "cqm",  "cqm_llc",
    "cqm_mbm_local", "cqm_mbm_total", "cqm_occup_llc", "dtherm",       "dts",  "hwp",
    "hypervisor",    "ibs",           "mba",           "nonstop_tsc",  "pdcm", "perfctr_core",
    "perfctr_llc",   "perfctr_nb",    "perfmon_v2",    "pln",          "rapl", "rdt_a"};

std::string kept_of_flags(std::string_view flags) {
  std::string kept;
  while (!flags.empty()) {
    const auto end = std::min(flags.find(' '), flags.size());
    const auto flag = flags.substr(0, end);
    if (std::ranges::find(kept_flags, flag) != kept_flags.end())
      kept += fmt::format("{}{}", kept.empty() ? "" : " ", flag);
    flags.remove_prefix(std::min(end + 1, flags.size()));
  }
  return kept;
}

// Takes the lines of the first CPU, since they stand for all. On a hybrid machine the PMUs show the kinds of
// CPUs.
YAML::Node cpu_of(const std::string& proc_root, const cleaner& clean) {
  YAML::Node cpu(YAML::NodeType::Map);
  std::vector<char> buffer;
  const auto text = kernel_file(proc_root + "/cpuinfo").read(buffer);
  if (!text) return cpu;
  for (const auto& [key, value] : first_cpu(*text)) {
    if (std::ranges::find(kept_lines, key) == kept_lines.end()) continue;
    cpu[std::string(key)] = key == "flags" ? kept_of_flags(value) : std::string(clip(clean(value), 500));
  }
  return cpu;
}

std::string distribution_of(const std::string& etc_root) {
  constexpr std::string_view key = "PRETTY_NAME=";
  std::vector<char> buffer;
  const auto text = kernel_file(etc_root + "/os-release").read(buffer);
  std::string_view left = text ? *text : std::string_view();
  while (!left.empty()) {
    const auto end = std::min(left.find('\n'), left.size());
    const auto line = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (!line.starts_with(key)) continue;
    auto name = trimmed(line.substr(key.size()));
    if (name.size() > 1 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    return std::string(name);
  }
  return "unknown";
}

// The names of the machine. Each is listed whole, and again without its domain.
std::vector<std::string> names_of_machine(std::vector<std::string> names) {
  ::utsname about{};
  if (::uname(&about) == 0) names.emplace_back(about.nodename);
  for (std::size_t i = 0, whole = names.size(); i < whole; ++i)
    names.push_back(names[i].substr(0, names[i].find('.')));
  return names;
}

// Which cgroups are mounted. Source: cgroups(7).
std::string cgroups_of(const std::string& sys_root) {
  const auto root = sys_root + "/fs/cgroup";
  std::error_code bad;
  if (fs::exists(root + "/cgroup.controllers", bad)) return "v2";
  if (fs::exists(root + "/unified/cgroup.controllers", bad)) return "hybrid";
  return fs::is_directory(root, bad) && !fs::is_empty(root, bad) ? "v1" : "none";
}

YAML::Node cpus_of(const std::string& sys_root) {
  const auto folder = sys_root + "/devices/system/cpu/";
  std::set<std::string> sockets, cores;
  for (const unsigned cpu : read_cpu_list(folder + "online").value_or(std::vector<unsigned>())) {
    const auto seat = seat_of(sys_root, cpu);
    const auto socket = seat.package.value_or("?");
    sockets.insert(socket);
    cores.insert(fmt::format("{}:{}:{}", socket, seat.die.value_or("?"), seat.core.value_or("?")));
  }
  YAML::Node cpus(YAML::NodeType::Map);
  cpus.SetStyle(YAML::EmitterStyle::Flow);
  cpus["online"] = read_line(folder + "online").value_or("unknown");
  cpus["cores"] = cores.size();
  cpus["sockets"] = sockets.size();
  return cpus;
}

// Only how many there are of each class: where they are plugged in tells machines apart.
YAML::Node pci_devices(const std::string& sys_root) {
  YAML::Node devices(YAML::NodeType::Map);
  devices.SetStyle(YAML::EmitterStyle::Flow);
  for (const auto& [what, count] : pci_classes(sys_root)) devices[what] = count;
  return devices;
}

YAML::Node bmc_devices(const std::string& dev_root) {
  YAML::Node devices(YAML::NodeType::Map);
  devices.SetStyle(YAML::EmitterStyle::Flow);
  std::error_code bad;
  for (fs::directory_iterator it(dev_root, bad), end; !bad && it != end; it.increment(bad)) {
    const auto name = it->path().filename().string();
    struct ::stat about {};
    if (matches_glob("ipmi*", name) && ::stat(it->path().c_str(), &about) == 0)
      devices[name] = fmt::format("{:04o}", about.st_mode & 07777U);
  }
  return devices;
}

YAML::Node machine_of(const report_options& o, const cleaner& clean) {
  YAML::Node m(YAML::NodeType::Map);
  ::utsname about{};
  ::uname(&about);
  m["kernel"] = clean(about.release);
  m["architecture"] = std::string(about.machine);
  m["distribution"] = clean(distribution_of(o.etc_root));
  m["cpus"] = cpus_of(o.sys_root);
  m["cgroups"] = cgroups_of(o.sys_root);
  m["bmc devices"] = bmc_devices(o.dev_root);
  m["user"] = ::geteuid() == 0 ? "root" : "not root";
  m["capabilities"] = names_of(effective_capabilities());
  return m;
}

/// The zones of the perf PMU `power`, counted from when this is made.
class counted_zones {
 public:
  explicit counted_zones(const report_options& o) : proc_root_(o.proc_root) {
    for (const auto& event : find_power_pmu(o.sys_root, o.proc_root).events) {
      const auto name = event.package.empty()     ? event.zone
                        : event.zone == "package" ? "package-" + event.package
                                                  : event.zone + " of package-" + event.package;
      zones_.push_back({name, power_counter(event, o.open), {}});
    }
    for (auto& z : zones_) z.first = z.counter.energy_uj();
  }

  YAML::Node readings() {
    YAML::Node all(YAML::NodeType::Map);
    for (auto& z : zones_) {
      const auto now = z.counter.energy_uj();
      if (z.first.reason != absence::none || now.reason != absence::none) {
        YAML::Node refused(why_refused(z.counter.error_number(), proc_root_).why);
        refused.SetTag("!refused");
        all[z.name] = refused;
        continue;
      }
      YAML::Node both(YAML::NodeType::Sequence);
      both.SetStyle(YAML::EmitterStyle::Flow);
      for (const auto uj : {z.first.value, now.value})
        both.push_back(fmt::format("{:.3f}", static_cast<double>(uj) / 1e6));
      all[z.name] = both;
    }
    return all;
  }

 private:
  struct zone {
    std::string name;
    power_counter counter;
    powercap_number first;
  };
  std::string proc_root_;
  std::vector<zone> zones_;
};

YAML::Node findings_of(std::span<const source_findings> probe, const cleaner& clean, std::size_t most_text) {
  constexpr std::size_t most_findings = 16;
  const auto shown = [&](const std::string& text) { return std::string(clip(clean(text), most_text)); };
  YAML::Node all(YAML::NodeType::Map);
  for (const auto& source : probe) {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const auto& f : source.found) {
      if (list.size() == most_findings) break;
      YAML::Node one(YAML::NodeType::Map);
      one[std::string(to_string(f.how))] = shown(f.what);
      if (!f.why.empty()) one["why"] = shown(f.why);
      if (!f.remedy.empty()) one["mend"] = shown(f.remedy);
      list.push_back(one);
    }
    if (source.found.size() > most_findings) {
      YAML::Node rest(YAML::NodeType::Map);
      rest["left-out"] = source.found.size() - most_findings;
      list.push_back(rest);
    }
    all[source.source] = list;
  }
  return all;
}

void write(YAML::Emitter& out, const YAML::Node& n) {
  if (n.Tag() == "!link") out << YAML::LocalTag("link");
  if (n.Tag() == "!refused") out << YAML::LocalTag("refused");
  if (n.Style() == YAML::EmitterStyle::Flow || (!n.IsScalar() && n.size() == 0)) out << YAML::Flow;
  if (n.IsMap()) {
    out << YAML::BeginMap;
    for (const auto& member : n) {
      out << YAML::Key << member.first.Scalar() << YAML::Value;
      write(out, member.second);
    }
    out << YAML::EndMap;
  } else if (n.IsSequence()) {
    out << YAML::BeginSeq;
    for (const auto& one : n) write(out, one);
    out << YAML::EndSeq;
  } else {
    out << n.Scalar();
  }
}

std::string as_text(const YAML::Node& report) {
  constexpr std::string_view about =
      "# What binnacle-agent saw of a machine. It does not say which machine it is: it has no serial "
      "numbers, addresses, or names of hosts\n# or users. Read it before you send it, and take out what you "
      "want; it must stay YAML.\n# \"as\": like the folder of that name beside it, except for the lines that "
      "follow. Two numbers: a counter, and its value a second later.\n";
  YAML::Emitter out;
  write(out, report);
  return std::string(about) + out.c_str() + "\n";
}

}  // namespace

std::string make_report(const report_options& o) {
  const auto names = names_of_machine(o.names);
  const cleaner clean = [&](std::string_view text) { return scrubbed(text, names); };
  patient_reader reader;
  counted_zones by_perf(o);
  const auto sys = read_kept(o.sys_root, kept_of_sys(), clean, reader);
  std::this_thread::sleep_for(o.between_readings);
  read_energy_again(sys, o.sys_root, reader);
  const auto joules = by_perf.readings();
  for (const auto& section : sys) share_alike(section.second);

  YAML::Node report(YAML::NodeType::Map);
  report["report"] = report_version;
  report["provenance"] = "Real: written by binnacle-agent " BINNACLE_VERSION " on the machine itself.";
  report["machine"] = machine_of(o, clean);
  report["cpu"] = cpu_of(o.proc_root, clean);
  // As built in: the exact number of bytes tells machines apart.
  if (const auto gib = read_hardware(o.proc_root, o.sys_root).memory_gib; gib > 0) report["memory gib"] = gib;
  if (const auto devices = pci_devices(o.sys_root); devices.size() > 0) report["pci classes"] = devices;
  if (joules.size() > 0) report["joules by perf"] = joules;
  const auto proc = read_kept(o.proc_root, kept_of_proc(), clean, reader);
  constexpr std::size_t longest_text = 300;
  for (std::size_t share = 1;; share *= 2) {
    report["probe"] = findings_of(o.probe, clean, longest_text / share);
    report["proc"] = proc;
    YAML::Node fitting(YAML::NodeType::Map);
    for (const auto& section : kept_of_sys()) {
      const std::string folder(section.folder);
      if (const auto found = sys[folder]) fitting[folder] = cut_to(found, section.most_bytes / share);
    }
    report["sys"] = fitting;
    auto text = as_text(report);
    if (text.size() <= report_bytes || share > longest_text) return text;
  }
}

}  // namespace binnacle::agent
