"""Starts a script again as process 1 of namespaces of its own (mounts, network, processes), so that all that it starts and mounts ends with it, whatever
ends it. What the kernel does not take back by itself, folders of cgroups, goes here; and here is looked whether anything of the machine changed.
"""

import errno
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = "BINNACLE_KUBELET_FOLDER"  # of the environment: where everything lies; there is none outside
CGROUPS = pathlib.Path("/sys/fs/cgroup")
CONTROLLERS = {"cpu", "cpuset", "memory", "pids"}  # that a kubelet takes
REST = "binnacle-rest"  # the group of version 2 that has the processes of the first one meanwhile
# What kubelet and kube-proxy would set for the whole machine, and folders that they or containerd would make.
SYSCTLS = ["vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
           "net/ipv4/ip_forward", "net/ipv4/conf/all/route_localnet", "net/netfilter/nf_conntrack_max", "fs/inotify/max_user_instances"]
PATHS = ["/etc/cni", "/etc/kubernetes", "/opt/cni", "/run/containerd", "/run/netns", "/var/lib/cni", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"]
# Above 2, a level of Debian's and Ubuntu's kernels, CAP_PERFMON is not enough to count CPU events (agent/PRIVILEGES.md).
PERF_LEVEL = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
COMMANDS = ["apt-get", "cc", "dpkg-deb", "ip", "nft", "nsenter", "openssl", "setpriv", "unshare"]


def perfmon_suffices():
    return int(PERF_LEVEL.read_text()) <= 2


def missing():
    """What keeps this machine from running nodes, as one sentence; None where it can."""
    if os.geteuid() != 0:
        return "real nodes take root: kubelet and containerd mount, and make cgroups"
    absent = [command for command in COMMANDS if not shutil.which(command)]
    if absent:
        return f"real nodes take {', '.join(absent)}, which this machine does not have"
    if not (shutil.which("go") or os.access("/usr/local/go/bin/go", os.X_OK)):
        return "real nodes take Go 1.26 or newer, which builds kubelet and containerd"
    with tempfile.TemporaryDirectory(prefix="binnacle-kubelet-") as folder:
        for name in ("lower", "upper", "work", "merged"):
            os.mkdir(f"{folder}/{name}")
        tries = {"namespaces of mounts, network and processes": ["unshare", "--mount", "--net", "--pid", "--cgroup", "--fork", "--mount-proc", "true"],
                 f"overlay mounts on {tempfile.gettempdir()} (TMPDIR names another folder)": ["unshare", "--mount", "mount", "-t", "overlay", "overlay", "-o",
                     f"lowerdir={folder}/lower,upperdir={folder}/upper,workdir={folder}/work", f"{folder}/merged"],
                 "bridges and pairs of virtual links": ["unshare", "--net", "sh", "-c", "ip link add name bridge0 type bridge && ip link add name link0 type veth peer name link1"],
                 "nftables with address translation": ["unshare", "--net", "nft", "add table ip t; add chain ip t c { type nat hook prerouting priority 0; }"]}
        for what, command in tries.items():
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            if done.returncode != 0:
                return f"real nodes take {what}: {' '.join(done.stderr.split())[:200]}"
    return missing_cgroups()


def hierarchies():
    """Folders of cgroups below which a lab makes its own."""
    if (CGROUPS / "cgroup.controllers").exists():
        return [CGROUPS]
    return [path for path in CGROUPS.iterdir() if path.is_dir() and not path.is_symlink() and (path / "cgroup.procs").exists()]


def move_processes(source, target):
    """Between groups of version 2. Some fork meanwhile, and some end; one of another namespace (0) cannot be moved."""
    for _ in range(20):
        found = [number for number in (source / "cgroup.procs").read_text().split() if number != "0"]
        if not found:
            return
        for number in found:
            try:
                (target / "cgroup.procs").write_text(number)
            except ProcessLookupError:
                pass


def pass_on():
    """Lets the groups below version 2's first one have CONTROLLERS. Gives those that they did not have, for take_back(). Outside the machine's own first
    group, as in a container, only a group without processes may pass controllers on: its processes wait in REST. Raises OSError, with nothing changed."""
    if hierarchies() != [CGROUPS]:
        return []
    fresh = sorted(CONTROLLERS - set((CGROUPS / "cgroup.subtree_control").read_text().split()))
    if not fresh:
        return []
    change = " ".join(f"+{controller}" for controller in fresh)
    try:
        (CGROUPS / "cgroup.subtree_control").write_text(change)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        (CGROUPS / REST).mkdir(exist_ok=True)
        try:
            move_processes(CGROUPS, CGROUPS / REST)
            (CGROUPS / "cgroup.subtree_control").write_text(change)
        except OSError:
            take_back([])
            raise
    return fresh


def take_back(controllers):
    """Undoes pass_on()."""
    if controllers:
        (CGROUPS / "cgroup.subtree_control").write_text(" ".join(f"-{controller}" for controller in controllers))
    if (CGROUPS / REST).exists():
        move_processes(CGROUPS / REST, CGROUPS)
        (CGROUPS / REST).rmdir()


def missing_cgroups():
    roots = hierarchies() if CGROUPS.is_dir() else []
    if roots == [CGROUPS]:
        found = set((CGROUPS / "cgroup.controllers").read_text().split())
    else:
        found = {name for path in roots for name in path.name.split(",")}
    if CONTROLLERS - found:
        return f"real nodes take the cgroup controllers {', '.join(sorted(CONTROLLERS - found))} at {CGROUPS}, which has {', '.join(sorted(found)) or 'none'}"
    try:
        take_back(pass_on())
    except OSError as error:
        return f"real nodes take {CGROUPS} to pass the controllers {', '.join(sorted(CONTROLLERS))} on to groups below it: {error}"
    try:
        for root in roots:
            (root / "binnacle-trial").mkdir(exist_ok=True)
            (root / "binnacle-trial").rmdir()
    except OSError as error:
        return f"real nodes take cgroups of their own: {error}"
    return None


def remove_cgroups(name):
    """Those of a lab whose processes have ended; the kernel may need a moment for the last."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        left = [root / name for root in hierarchies() if (root / name).exists()]
        if not left:
            return
        for group in left:
            for path, _, _ in os.walk(group, topdown=False):
                try:
                    os.rmdir(path)
                except OSError:
                    pass
        time.sleep(0.1)


def sweep():
    """What labs left whose script was killed."""
    for root in hierarchies():
        for group in root.glob("binnacle-lab-*"):
            if not pathlib.Path("/proc", group.name.rpartition("-")[2]).exists():
                remove_cgroups(group.name)
    if (CGROUPS / REST).exists() and not any(CGROUPS.glob("binnacle-lab-*")):
        take_back(sorted(CONTROLLERS & set((CGROUPS / "cgroup.subtree_control").read_text().split())))


def machine():
    """What of this machine a lab could change."""
    def value(path):
        try:
            return pathlib.Path("/proc/sys", path).read_text().strip()
        except OSError:
            return None
    state = {f"sysctl {path}": value(path) for path in SYSCTLS} | {path: os.path.exists(path) for path in PATHS}
    state["links"] = sorted(name for name in os.listdir("/sys/class/net") if name.startswith(("binnacle", "veth-n")))
    state["mounts"] = [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if "binnacle-lab-" in line]
    groups = [group for root in hierarchies() for pattern in (f"binnacle-lab-{os.getpid()}", REST) for group in root.glob(pattern)]
    state["cgroups"] = sorted(map(str, groups))
    if hierarchies() == [CGROUPS]:
        state["controllers that are passed on"] = sorted((CGROUPS / "cgroup.subtree_control").read_text().split())
    return state


def enter():
    """To be called first: returns in the namespaces, with the folder; outside it ends the script with the status of the one within."""
    if FOLDER in os.environ:
        return pathlib.Path(os.environ[FOLDER])
    sweep()
    before = machine()
    passed_on = pass_on()
    name = f"binnacle-lab-{os.getpid()}"
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-"))
    # A session of its own, for signals that are passed on; and the kernel ends it with this script.
    inner = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child", "--",
                              sys.executable, *sys.argv], env=dict(os.environ, **{FOLDER: str(folder)}), start_new_session=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.killpg(inner.pid, number))
    status = inner.wait()
    remove_cgroups(name)
    try:
        take_back(passed_on)
    except OSError as error:
        print(f"kubelet: the controllers {', '.join(passed_on)} stay passed on: {error}", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    after = machine()
    changed = [f"{what}: {before[what]} before, {after[what]} now" for what in before if before[what] != after[what]]
    for line in changed:
        print(f"kubelet: this machine was changed: {line}", file=sys.stderr)
    if folder.exists():
        print(f"kubelet: {folder} is left", file=sys.stderr)
    sys.exit(status if status else int(bool(changed)))


def enter_tests(module="__main__", more=lambda: None):
    """enter() for a file of tests: where the machine cannot run nodes, or `more` gives a sentence, each test is skipped by name, and the script ends with
    meson's status for that."""
    why = None if FOLDER in os.environ else missing() or more()
    if why:
        print(f"kubelet: {why}")

        def skip(tests):
            for test in tests:
                if isinstance(test, unittest.TestSuite):
                    skip(test)
                else:
                    print(f"{test.id()} ... skipped")
        skip(unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module]))
        sys.exit(77)
    enter()


if __name__ == "__main__":
    reason = missing()
    if reason:
        sys.exit(f"kubelet: {reason}")
