#include "agent/sources/pmu/pods.hpp"

#include "agent/kernel/cpu_list.hpp"
#include "agent/sources/pmu/pod_cgroups.hpp"
#include "tests/agent/perf_machine.hpp"
#include "tests/agent/sources/pmu/touch_pages.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace pods_test {

using namespace binnacle;
using namespace binnacle::agent;
using namespace binnacle::support;
using agent::test::entry_of;
using agent::test::shown;
using namespace std::chrono_literals;

namespace {

const std::string first = "0f1a2b3c-4d5e-6f70-8192-a3b4c5d6e7f8";
const std::string second = "11111111-2222-3333-4444-555555555555";
const std::string fixed = "0123456789abcdef0123456789abcdef";  // a static pod's

std::string underscored(std::string uid) {
  for (char& c : uid) c = c == '-' ? '_' : c;
  return uid;
}
std::string by_systemd(const std::string& uid) {
  return "fs/cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + underscored(uid) +
         ".slice";
}

/// A node whose pods are folders, and the source that counts for them.
struct bench : agent::test::perf_machine {
  explicit bench(const pmu_machine& machine, pod_options options = {})
      : perf_machine(machine), source(with_root(std::move(options), sys), clock.source(), sim.opener()) {
    sim.rate = [](const perf_encoding& e, unsigned) {
      return e.type == 0 && e.config == 0 ? 2000.0 : e.type == 0 && e.config == 1 ? 1000.0 : 10.0;
    };
  }
  static pod_options with_root(pod_options o, const temp_folder& root) {
    root.write("fs/cgroup/cgroup.controllers", "cpu memory\n");
    o.sys_root = root.path();
    return o;
  }
  void start_pod(const std::string& uid) { sys.write(by_systemd(uid) + "/cgroup.procs", ""); }
  void read() { REQUIRE(perf_machine::read(source, 10s)); }
  void warm_up() {
    REQUIRE(source.discover(out));
    REQUIRE(source.read(out));
    read();
    read();
  }
  std::string of(const std::string& family, const std::string& uid) {
    return shown(out, family, {{"pod_uid", uid}});
  }

  pod_source source;
};

}  // namespace

TEST_SUITE_BEGIN("agent/sources/pmu/pod_cgroups");

TEST_CASE("a pod's uid is in its cgroup's name, whichever driver made it") {
  CHECK(pod_uid_of("kubepods-burstable-pod" + underscored(first) + ".slice") == first);
  CHECK(pod_uid_of("kubepods-pod" + underscored(first) + ".slice") == first);
  CHECK(pod_uid_of("kubelet-kubepods-besteffort-pod" + underscored(second) + ".slice") == second);
  CHECK(pod_uid_of("kubepods-besteffort-pod" + fixed + ".slice") == fixed);
  CHECK(pod_uid_of("pod" + first) == first);
  CHECK(pod_uid_of("pod" + fixed) == fixed);
  for (const auto& name : std::vector<std::string>{
           "", "pod", "kubepods.slice", "kubepods-burstable.slice", "podman-123.scope", "pod" + first + "x",
           "pod" + underscored(first), "user-pod" + underscored(first) + ".slice", "kubepods-pod.slice",
           "cri-containerd-" + fixed + ".scope", fixed, "podzzzzzzzz-4d5e-6f70-8192-a3b4c5d6e7f8"}) {
    CAPTURE(name);
    CHECK_FALSE(pod_uid_of(name));
  }
}

TEST_CASE("pods are found in every layout, and nothing else is looked into") {
  temp_folder root;
  const auto make = [&](const std::string& path) { std::filesystem::create_directories(root / path); };
  SUBCASE("systemd") {
    make("kubepods.slice/kubepods-pod" + underscored(first) + ".slice/cri-containerd-" + fixed + ".scope");
    make("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + underscored(second) + ".slice");
  }
  SUBCASE("cgroupfs") {
    make("kubepods/pod" + first + "/" + fixed);
    make("kubepods/besteffort/pod" + second);
  }
  SUBCASE("a kubelet with a slice of its own") {
    const std::string top = "kubelet.slice/kubelet-kubepods.slice/";
    make(top + "kubelet-kubepods-pod" + underscored(first) + ".slice");
    make(top + "kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" + underscored(second) +
         ".slice");
  }
  make("system.slice/pod" + fixed);
  make("user.slice/kubepods/pod" + fixed);
  root.write("kubepods/pod" + fixed, "a file is no cgroup");
  const auto found = find_pod_cgroups(root.path(), 100);
  REQUIRE(found.size() == 2);
  CHECK(found[0].uid == first);
  CHECK(found[1].uid == second);
  CHECK(std::filesystem::is_directory(found[1].folder));
  CHECK(find_pod_cgroups(root.path(), 1).size() == 1);
  CHECK(find_pod_cgroups(root / "nothing", 100).empty());
}

TEST_CASE("perf's cgroups are the unified ones, or version 1's perf_event") {
  temp_folder sys;
  CHECK(perf_cgroups(sys.path()).empty());
  sys.write("fs/cgroup/unified/cgroup.controllers", "");
  CHECK(perf_cgroups(sys.path()).ends_with("/unified"));
  sys.write("fs/cgroup/perf_event/tasks", "");
  CHECK(perf_cgroups(sys.path()).ends_with("/perf_event"));
  sys.write("fs/cgroup/cgroup.controllers", "");
  CHECK(perf_cgroups(sys.path()).ends_with("/cgroup"));
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("agent/sources/pmu/pods");

TEST_CASE("each pod has its counts, summed over all CPUs") {
  bench b(pmus::xeon());
  b.start_pod(first);
  b.start_pod(second);
  b.warm_up();
  CHECK(b.of("pmu_pod_cycles_per_second", first) == "8000");
  CHECK(b.of("pmu_pod_cycles_total", second) == "160000");
  CHECK(b.of("pmu_pod_instructions_per_cycle", first) == "0.5000");
  CHECK(b.of("pmu_pod_page_faults_per_second", second) == "40");
  CHECK(b.source.limitation().empty());
  for (const auto& e : b.out.series()) {
    CAPTURE(e.info.family);
    CHECK(metrics::find(e.info.family) != nullptr);
  }
  // All events of a pod are opened with its own folder, and no other pod uses it.
  std::set<int> cgroups;
  for (const auto& r : b.sim.requests()) cgroups.insert(r.cgroup);
  CHECK(cgroups.size() == 3);  // and −1, with which the source found out what the machine has
}

TEST_CASE("a pod that goes takes its descriptors and series with it, a new one is found") {
  bench b(pmus::xeon());
  b.start_pod(first);
  b.warm_up();
  CHECK(b.sim.open_descriptors() == 20);
  b.sys.remove(by_systemd(first));
  b.start_pod(second);
  b.read();
  CHECK(b.of("pmu_pod_cycles_total", first) == "no such series");
  CHECK(b.of("pmu_pod_instructions_per_cycle", first) == "no such series");
  CHECK(b.sim.open_descriptors() == 20);
  CHECK(b.of("pmu_pod_cycles_per_second", second) == "not_read_yet");
  b.read();
  CHECK(b.of("pmu_pod_cycles_per_second", second) == "8000");
  b.sys.remove(by_systemd(second));
  b.read();
  CHECK(b.out.live_series() == 0);
  CHECK(b.sim.open_descriptors() == 0);
}

TEST_CASE("a pod that did not run counted nothing, which is a value") {
  bench b(pmus::xeon());
  b.start_pod(first);
  b.warm_up();
  b.clock.now += 10s;
  b.sim.advance(0s);
  REQUIRE(b.source.read(b.out));
  CHECK(b.of("pmu_pod_cycles_per_second", first) == "0");
  CHECK(b.of("pmu_pod_cycles_total", first) == "160000");
  CHECK(b.of("pmu_pod_instructions_per_cycle", first) == "no_data");
}

TEST_CASE("without a hardware PMU pods have their software events") {
  bench b(pmus::virtual_machine());
  b.sim.refusal = [](const perf_request& r) { return r.event.type == 1 ? 0 : ENOENT; };
  b.start_pod(first);
  b.warm_up();
  CHECK(b.of("pmu_pod_context_switches_per_second", first) == "20");
  CHECK(b.of("pmu_pod_cycles_total", first) == "no such series");
  CHECK(b.of("pmu_pod_instructions_per_cycle", first) == "no such series");
}

TEST_CASE("the number of pods and of descriptors is bounded, and said") {
  bench b(pmus::xeon(), {.most_pods = 1});
  b.start_pod(first);
  b.start_pod(second);
  b.warm_up();
  CHECK(b.of("pmu_pod_cycles_per_second", first) == "8000");
  CHECK(b.of("pmu_pod_cycles_per_second", second) == "no such series");
  CHECK(b.source.limitation() == "1 of 2 pods are counted: raise pmu-most-pods");
  bench few(pmus::xeon(), {.most_descriptors = 25});
  few.start_pod(first);
  few.start_pod(second);
  few.warm_up();
  CHECK(few.sim.open_descriptors() == 20);
  CHECK(few.source.limitation().find("LimitNOFILE") != std::string::npos);
}

TEST_CASE("many pods that start at once are begun with a few at a time") {
  bench b(pmus::xeon(), {.most_pods = 100});
  for (int i = 10; i < 60; ++i) b.start_pod("000000" + std::to_string(i) + first.substr(8));
  REQUIRE(b.source.discover(b.out));
  REQUIRE(b.source.read(b.out));
  const auto begun = b.sim.open_descriptors();
  CHECK(begun > 0);
  CHECK(begun <= 512);
  b.read();
  CHECK(b.sim.open_descriptors() == 50 * 20);
}

TEST_CASE("no cgroups, no right and no pods are told apart") {
  temp_folder empty;
  write_pmu_tree(empty.path(), pmus::xeon());
  board out;
  pod_source lost({.sys_root = empty.path()});
  CHECK(lost.discover(out).error().message.find("mount the host's /sys") != std::string::npos);
  bench b(pmus::xeon());
  CHECK(b.source.probe().at(0).how == finding::grade::absent);
  b.start_pod(first);
  CHECK(b.source.probe().at(0).how == finding::grade::works);
  b.sim.refusal = [](const perf_request&) { return EACCES; };
  CHECK(b.source.probe().at(0).how == finding::grade::broken);
  CHECK(b.source.discover(b.out).error().message.find("CAP_PERFMON") != std::string::npos);
}

// A real cgroup with a real process in it, and the kernel's own counters. The test first checks that it has
// all three: a folder that only looks like a cgroup (a tree of files) is none.
TEST_CASE("the page faults of a process in a pod's cgroup on this very machine") {
  const auto root = perf_cgroups("/sys");
  const auto top = root + "/kubepods-binnacle-test-" + std::to_string(::getpid());
  const auto folder = top + "/pod" + first;
  struct removed {
    std::string top, folder;
    ~removed() {
      ::rmdir(folder.c_str());
      ::rmdir(top.c_str());
    }
  } const at_end{top, folder};
  const auto ask = [&]() -> std::string {
    if (root.empty()) return "no cgroups to count by below /sys";
    std::error_code bad;
    std::filesystem::create_directories(folder, bad);
    if (bad) return folder + ": " + bad.message();
    const descriptor cgroup(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    constexpr perf_encoding page_faults{.type = 1, .config = 2};
    for (const unsigned cpu : read_cpu_list("/sys/devices/system/cpu/online").value_or(std::vector{0U})) {
      if (!open_perf_event({.event = page_faults, .cpu = cpu, .cgroup = cgroup.get()}))
        return std::string("perf_event_open of a cgroup: ") + std::strerror(errno);
    }
    return {};
  };
  if (const auto obstacle = ask(); !obstacle.empty()) {
    MESSAGE("skipped: " << obstacle);
    return;
  }

  board out;
  pod_source source({.period = 1s});
  REQUIRE(source.discover(out));
  REQUIRE(source.read(out));
  const metrics::label_set labels{{"pod_uid", first}};
  CHECK(shown(out, "pmu_pod_page_faults_total", labels) == "0");
  const auto child = ::fork();
  if (child == 0) {
    std::ofstream(folder + "/cgroup.procs") << ::getpid() << std::flush;
    ::_exit(touch_pages(512) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(source.read(out));
  const auto* faults = entry_of(out, "pmu_pod_page_faults_total", labels);
  REQUIRE(faults != nullptr);
  REQUIRE(faults->reason == absence::none);
  CHECK(faults->value.mantissa >= 512);
}

TEST_SUITE_END();

}  // namespace pods_test
