#include "cli/doctor/checks.hpp"
#include "tests/cli/doctor/finding_words.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <string>

namespace machine_test {

namespace {

using namespace binnacle::cli::doctor;

/// The /proc, /sys and /dev of a machine, as files below a folder.
struct machine : binnacle::support::temp_folder {
  place p;

  machine() {
    p.root = path();
    write("proc/self/mountinfo", "22 1 0:20 / /sys ro - sysfs sysfs ro\n");
    write("sys/class/net/lo", "");
  }
  void agent(const std::string& sys_root, int pid = 0) {
    agent_here here;
    here.pid = pid;
    here.settings.sys_root = sys_root;
    p.agent = here;
  }
  void hide(const std::string& what) {
    write("proc/self/mountinfo",
          "22 1 0:20 / /sys ro - sysfs sysfs ro\n40 22 0:31 / " + what + " ro - tmpfs tmpfs ro\n");
  }
};

TEST_SUITE("cli/doctor/machine") {
  TEST_CASE_FIXTURE(machine, "the kernel's version and its guard of CPU events are told") {
    write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    write("proc/sys/kernel/perf_event_paranoid", "3\n");
    const auto found = check_kernel(p);
    REQUIRE(found.size() == 2);
    CHECK(found[0].how == grade::ok);
    CHECK(says(found[0], "6.1.0-18-amd64"));
    CHECK(found[1].how == grade::warning);
    CHECK(says(found[1], "is 3: CAP_PERFMON is not enough"));
    CHECK(advises(found[1], "kernel.perf_event_paranoid=2"));
    write("proc/sys/kernel/perf_event_paranoid", "2\n");
    const auto usual = check_kernel(p);
    CHECK(usual[1].how == grade::ok);
    CHECK(says(usual[1], "is 2: to count whole CPUs takes CAP_PERFMON"));
  }

  TEST_CASE_FIXTURE(machine,
                    "a kernel without CAP_PERFMON is warned of, one that says nothing is no failure") {
    write("proc/sys/kernel/osrelease", "5.4.0-150-generic\n");
    auto found = check_kernel(p);
    CHECK(found[0].how == grade::warning);
    CHECK(advises(found[0], "CAP_SYS_ADMIN"));
    CHECK(found[1].how == grade::warning);  // perf_event_paranoid does not exist
    remove("proc/sys/kernel/osrelease");
    CHECK(check_kernel(p)[0].how == grade::unchecked);
  }

  TEST_CASE_FIXTURE(machine, "nothing is hidden outside of containers") {
    const auto found = check_masks(p);
    REQUIRE(found.size() == 1);
    CHECK(found[0].how == grade::ok);
  }

  TEST_CASE_FIXTURE(machine, "hidden RAPL counters are a failure until the agent reads the host's /sys") {
    hide("/sys/devices/virtual/powercap");
    agent("/sys");
    const auto hidden = check_masks(p);
    CHECK(hidden[0].how == grade::failure);
    CHECK(says(hidden[0], "RAPL"));
    CHECK(advises(hidden[0], "/host/sys"));

    agent("/host/sys");
    CHECK(check_masks(p)[0].how ==
          grade::failure);  // the agent is told to use it, but nothing is mounted there
    CHECK(says(check_masks(p)[0], "nothing of the machine's /sys is at"));
    write("host/sys/class/net/eth0", "");
    CHECK(check_masks(p)[0].how == grade::ok);
  }

  TEST_CASE_FIXTURE(machine, "hidden throttling counters cost less than RAPL's") {
    hide("/sys/devices/system/cpu/cpu0/thermal_throttle");
    CHECK(check_masks(p)[0].how == grade::warning);
  }

  TEST_CASE_FIXTURE(machine, "the running agent's capabilities are told, and those that it never needs") {
    agent("/sys", 12);
    write("proc/12/status",
          "Name:\tbinnacle-agent\nUid:\t0\t0\t0\t0\nCapEff:\t0000004000000000\nCapBnd:\t000001ffffffffff\n");
    auto found = check_capabilities(p);
    REQUIRE(found.size() == 1);
    CHECK(says(found[0], "binnacle-agent (pid 12) runs with user id 0 and CAP_PERFMON"));

    write("proc/12/status", "Uid:\t0\t990\t0\t0\nCapEff:\t0000000000200004\nCapBnd:\t000001ffffffffff\n");
    found = check_capabilities(p);
    REQUIRE(found.size() == 2);
    CHECK(says(found[0], "user id 990 and CAP_DAC_READ_SEARCH"));
    CHECK(found[1].how == grade::warning);
    CHECK(says(found[1], "CAP_SYS_ADMIN"));
  }

  TEST_CASE_FIXTURE(machine, "a container that can never have CAP_PERFMON is warned of") {
    write("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\nCapBnd:\t00000000a80425fb\n");
    const auto found = check_capabilities(p);
    REQUIRE(found.size() == 2);
    CHECK(says(found[0], "none of the capabilities"));
    CHECK(advises(found[1], "PERFMON"));
  }

  TEST_CASE_FIXTURE(machine, "hardware that is not there is no fault, and the hint says what could be done") {
    for (const auto& f : check_devices(p)) CHECK(f.how == grade::ok);
    CHECK(says(check_devices(p)[0], "no RAPL"));
    CHECK(says(check_devices(p)[1], "no /dev/ipmi0"));
    write("proc/filesystems", "nodev\tsysfs\nnodev\tresctrl\n");
    CHECK(advises(check_devices(p)[2], "mount -t resctrl"));
    write("sys/fs/resctrl/info/L3_MON/num_rmids", "128\n");
    CHECK(says(check_devices(p)[2], "resctrl is mounted"));
    write("sys/bus/event_source/devices/power/type", "12\n");
    CHECK(says(check_devices(p)[0], "perf PMU power"));
    write("sys/class/powercap/intel-rapl:0/energy_uj", "1\n");
    CHECK(says(check_devices(p)[0], "RAPL counters are below"));
    write("dev/ipmi0", "");
    CHECK(says(check_devices(p)[1], "can be opened"));
  }

  TEST_CASE_FIXTURE(machine, "RAPL counters by MMIO alone are RAPL counters") {
    write("sys/class/powercap/intel-rapl-mmio:0/energy_uj", "1\n");
    CHECK(says(check_devices(p)[0], "RAPL counters are below"));
  }

  TEST_CASE_FIXTURE(machine,
                    "denials of our programs are counted, others' are not, and a log out of reach is said") {
    CHECK(says(check_selinux(p)[0], "not active"));
    write("sys/fs/selinux/enforce", "1");
    auto found = check_selinux(p);
    REQUIRE(found.size() == 2);
    CHECK(says(found[0], "enforcing"));
    CHECK(found[1].how == grade::unchecked);
    CHECK(advises(found[1], "ausearch"));

    const std::string others =
        "type=AVC msg=audit(1.1:1): avc:  denied  { read } for  pid=1 comm=\"sshd\" name=\"x\" "
        "scontext=a:b:sshd_t:s0 "
        "tcontext=a:b:c:s0 tclass=file permissive=0\n";
    write("var/log/audit/audit.log", others);
    CHECK(check_selinux(p)[1].how == grade::ok);

    const std::string tolerated =
        "type=AVC msg=audit(1.1:2): avc:  denied  { open } for  pid=9 comm=\"binnacle-ipmi\" "
        "path=\"/dev/ipmi0\" "
        "dev=\"devtmpfs\" scontext=system_u:system_r:binnacle_ipmi_t:s0 tcontext=a:b:c:s0 tclass=chr_file "
        "permissive=1\n";
    write("var/log/audit/audit.log", others + tolerated);
    found = check_selinux(p);
    CHECK(found[1].how == grade::warning);
    CHECK(says(found[1], "binnacle-ipmi may not open the chr_file /dev/ipmi0"));

    const std::string enforced =
        "type=AVC msg=audit(1.1:3): avc:  denied  { read } for  pid=7 comm=\"binnacle-agent\" "
        "name=\"energy_uj\" "
        "dev=\"sysfs\" scontext=system_u:system_r:binnacle_agent_t:s0 tcontext=a:b:c:s0 tclass=file "
        "permissive=0\n";
    write("var/log/audit/audit.log", others + enforced + tolerated + enforced);
    found = check_selinux(p);
    CHECK(found[1].how == grade::failure);
    CHECK(says(found[1], "2 times; the last denial: binnacle-agent may not read the file energy_uj"));
    CHECK(advises(found[1], "selinux/README.md"));
  }
}

}  // namespace

}  // namespace machine_test
