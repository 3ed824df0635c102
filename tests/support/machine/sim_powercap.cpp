// binnacle-sim-powercap: a powercap tree for demos and tests on machines without RAPL. The agent reads it
// with --sys-root, through the same files and libpowercap calls as a real tree.
#include "agent/kernel/cpu_topology.hpp"
#include "common/clock.hpp"
#include "tests/support/machine/powercap_sim.hpp"
#include "tests/support/machine/resctrl_tree.hpp"
#include "tests/support/machine/sensor_tree.hpp"
#include "tests/support/machine/write_line.hpp"
#include "tests/support/options.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <system_error>
#include <time.h>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using binnacle::support::write_line;

std::string read_whole(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Waits at most this long for SIGTERM or SIGINT; true if one came.
bool asked_to_stop(const sigset_t& signals, std::chrono::milliseconds wait) {
  const timespec limit{wait.count() / 1000, (wait.count() % 1000) * 1'000'000};
  return ::sigtimedwait(&signals, nullptr, &limit) > 0;
}

// Writes the sensors of a machine of the same maker, and resctrl with a group. Their values do not change.
void write_sensors(const std::string& root, binnacle::support::machine_kind machine) {
  if (std::filesystem::exists(root + "/class/hwmon")) return;  // started again in the same folder
  const bool amd = machine == binnacle::support::machine_kind::epyc;
  (amd ? binnacle::support::sensor_trees::epyc : binnacle::support::sensor_trees::xeon)(root);
  binnacle::support::resctrl_tree_writer(root, {0, 1}).make_group("web");
}

// Links what `from` holds into `to`, except for what `to` has already.
void link_entries(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  fs::create_directories(to, ignored);
  for (fs::directory_iterator it(from, ignored), end; !ignored && it != end; it.increment(ignored)) {
    const auto link = to / it->path().filename();
    std::error_code there;
    if (!fs::exists(fs::symlink_status(link, there))) fs::create_symlink(it->path(), link, there);
  }
}

// The CPUs are this machine's own, or those of the sensors, but they sit in the simulated packages: an agent
// misses the power of a package that has CPUs and no counter.
void seat_cpus(const std::string& root, const std::vector<binnacle::support::zone_spec>& zones) {
  constexpr std::string_view top = "package-", of_die = "-die-";
  std::vector<std::string> packages;
  for (const auto& z : zones)
    if (z.name.starts_with(top)) packages.push_back(z.name.substr(top.size()));
  const fs::path own = "/sys/devices/system", below = root + "/devices/system";
  if (packages.empty() || fs::is_symlink(below)) return;
  const bool of_sensors = fs::exists(below);
  const auto cpus = binnacle::agent::find_cpus(of_sensors ? root : "/sys");
  for (const unsigned cpu : cpus ? *cpus : std::vector<unsigned>()) {
    const auto name = "cpu" + std::to_string(cpu);
    const auto topology = below / "cpu" / name / "topology";
    const auto& package = packages[cpu % packages.size()];
    const auto die = package.find(of_die);
    write_line(topology / "physical_package_id", package.substr(0, die));
    if (die != package.npos) write_line(topology / "die_id", package.substr(die + of_die.size()));
    if (of_sensors) continue;
    link_entries(own / "cpu" / name / "topology", topology);
    link_entries(own / "cpu" / name, below / "cpu" / name);
  }
  if (of_sensors) return;
  link_entries(own / "cpu", below / "cpu");
  link_entries(own, below);
}

// Links the rest of /sys that an agent reads to this machine's own.
void link_rest_of_sys(const std::string& root) {
  for (const auto* part : {"class/net", "kernel", "devices/system"}) {
    const fs::path link = root + "/" + part;
    std::error_code ignored;
    fs::create_directories(link.parent_path(), ignored);
    if (!fs::exists(fs::symlink_status(link, ignored)))
      fs::create_symlink(std::string("/sys/") + part, link, ignored);
  }
}

/// `said`: the content of the control file when `ready` was printed. So a change that is made after that line
/// is noticed.
int main_loop(const std::string& root, binnacle::support::powercap_sim& sim, std::string said,
              const sigset_t& signals, std::chrono::milliseconds tick) {
  constexpr auto look_every = std::chrono::milliseconds(50);  // how often the control file is read
  const auto control = root + "/watts";
  auto last = binnacle::boot_clock::now();
  auto looked = last;
  while (!asked_to_stop(signals, tick)) {
    // Advances by the clock and not by ticks, so that a late tick loses no energy.
    const auto now = binnacle::boot_clock::now();
    sim.advance(now - last);
    last = now;
    if (now - looked < look_every) continue;
    looked = now;
    auto text = read_whole(control);
    if (text == said) continue;
    said = std::move(text);
    // An empty file is just being written: it is read again next time.
    if (!said.empty() && !sim.set_watts(said)) {
      std::fprintf(stderr,
                   "binnacle-sim-powercap: %s: expected watts, or lines \"package-0 150\" or \"psys stop\"\n",
                   control.c_str());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string root;
  using binnacle::support::machine_kind;
  auto machine = machine_kind::xeon_two_sockets;
  double watts = 100;
  double noise = 0.01;
  std::int64_t seed = 1;
  auto tick = binnacle::duration(10'000'000);
  bool sensors = false;
  bool with_parent = false;

  const std::string program = "binnacle-sim-powercap";
  binnacle::config_spec spec(
      program,
      "Makes a powercap tree below ROOT whose energy counters advance in place like a real machine's, until "
      "SIGTERM.\nPrints \"ready ROOT\" when the tree is there. Give it to the agent as --sys-root ROOT.",
      "binnacle-sim-powercap --root /tmp/node-a --machine client --watts 20\n\n"
      "The watts can be changed at any time by writing ROOT/watts:\n"
      "  echo 180 > ROOT/watts                  every package\n"
      "  echo 'package-1 250' > ROOT/watts      one of them (a line each)\n"
      "  echo 'psys stop' > ROOT/watts          counters of that name stand still; 'psys go' ends it\n"
      "dram, core, uncore and psys follow their packages.");
  spec.add("root", root, "folder to make the tree in; made if it is not there");
  spec.add_choice<machine_kind>("machine", machine,
                                {{"xeon_two_sockets", machine_kind::xeon_two_sockets},
                                 {"xeon_dies", machine_kind::xeon_dies},
                                 {"client", machine_kind::client},
                                 {"epyc", machine_kind::epyc},
                                 {"sixteen_packages", machine_kind::sixteen_packages}},
                                "whose tree");
  spec.add("watts", watts, 0, 10000, "watts of each package at start");
  spec.add("noise", noise, 0, 0.5, "relative standard deviation of a tick's power");
  spec.add("seed", seed, 0, 0xffff'ffff, "of the noise");
  spec.add("tick", tick, std::chrono::milliseconds(1), std::chrono::seconds(10),
           "time between two writes of the counters");
  spec.add(
      "sensors", sensors,
      "also sensor chips, thermal zones, CPU frequencies, throttle counters and resctrl, which stand still");
  spec.add("with-parent", with_parent, "end when the process that started it ends");
  if (const auto status = binnacle::support::read_options(spec, program, argc, argv, {{"root", &root}}))
    return *status;

  const auto zones = binnacle::support::zones_of(machine);
  if (with_parent) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigaddset(&signals, SIGINT);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);

  try {
    binnacle::support::powercap_sim sim(root, zones, watts, noise, static_cast<std::uint32_t>(seed));
    if (sensors) write_sensors(root, machine);
    seat_cpus(root, zones);
    link_rest_of_sys(root);
    auto said = std::to_string(watts) + '\n';
    std::ofstream(root + "/watts", std::ios::trunc) << said;
    std::printf("ready %s\n", root.c_str());
    std::fflush(stdout);

    return main_loop(root, sim, std::move(said), signals,
                     std::chrono::duration_cast<std::chrono::milliseconds>(tick));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "binnacle-sim-powercap: %s\n", e.what());
    return 1;
  }
}
