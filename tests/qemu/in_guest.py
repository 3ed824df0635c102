#!/usr/bin/env python3
"""Runs a command as root under another kernel: in a guest of QEMU (no KVM needed) that has this machine's files, and all its cgroups of version 2.

    python3 tests/qemu/parts.py                                   fetches QEMU, kernels and busybox, once
    python3 tests/qemu/in_guest.py COMMAND [WORD...]              in this folder; its output comes at once, its status is this script's
    python3 tests/qemu/in_guest.py --suite trixie --seconds 60 --memory 1024 uname -a

Files are this machine's, read-only, below a layer in the guest's memory: what the command writes ends with it; /tmp is empty. Of the environment it has HOME, PATH,
BINNACLE_... and XDG_..., and BINNACLE_OWN_KERNEL=1: the command may change the kernel's settings. It has no network but loopback. When --seconds are over, the status is 124;
when the guest did not come so far, 125.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from guest import Archive
from parts import QEMU, SUITES, Parts

# Those that reach this machine's files; the kernel asks modprobe for all others when it needs them.
MODULES = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay"]
# One thread for all processors: with a thread for each, QEMU 7.2 may run an instruction while the kernel changes it (static keys of perf), which is the kernel's end.
MACHINE = ["-M", "q35", "-accel", "tcg,thread=single", "-cpu", "max", "-no-reboot", "-nic", "none", "-display", "none", "-monitor", "none",
           # Folders of two file systems may have one number; the guest would take them for one.
           "-virtfs", "local,path=/,mount_tag=files,security_model=none,readonly=on,multidevs=remap",
           "-device", "virtio-serial", "-chardev", "stdio,id=output,signal=off", "-device", "virtserialport,chardev=output"]
# Of an emulated processor nobody steals secrets by its speculation, and what is done against it takes time.
ARGUMENTS = "console=ttyS0 quiet panic=-1 no_timer_check mitigations=off cgroup_no_v1=all"

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /files /memory /root /usr/bin /sbin /lib
/bin/busybox --install -s /usr/bin
ln -s /usr/bin/modprobe /sbin/modprobe
export PATH=/usr/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for module in $(cat /modules/order); do insmod /modules/$module || echo "guest: $module cannot be loaded"; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro files /files
ln -s "/files@MODULES@" /lib/modules
mount -t tmpfs memory /memory
mkdir /memory/upper /memory/work
mount -t overlay -o lowerdir=/files,upperdir=/memory/upper,workdir=/memory/work overlay /root
cd /root
mount -t proc proc proc; mount -t sysfs sys sys; mount -t devtmpfs dev dev
mkdir -p dev/pts dev/shm
mount -t devpts devpts dev/pts
for folder in dev/shm tmp run; do mount -t tmpfs -o mode=1777 tmpfs $folder; done
mount -t cgroup2 cgroup2 sys/fs/cgroup
# Every init system passes controllers on. Until then the kernel counts perf events for the root's group alone.
echo +cpu +memory +pids > sys/fs/cgroup/cgroup.subtree_control
ip link set lo up
hostname guest
cp /command tmp/command
# nsenter goes to the root of a namespace, whatever root a process has. So the files must lie there.
mount --move . /
echo "guest: begins after $(cut -d ' ' -f 1 /proc/uptime) s"
chroot . /bin/sh /tmp/command < /dev/null > "$(echo /dev/vport*p1)" 2>&1
echo "guest: ended with $?"
poweroff -f
"""


def make_guest(parts, command, to):
    """The guest's initramfs, whose init gives a command of the shell this machine's files."""
    archive = Archive()
    archive.console()
    archive.file("init", INIT.replace("@MODULES@", str(parts.modules)).encode())
    archive.file("bin/busybox", parts.busybox.read_bytes())
    archive.file("command", command.encode())
    archive.modules(parts.modules, MODULES)
    to.write_bytes(archive.whole())


def run(parts, words, seconds, memory):
    """The status of a command, whose output goes where this script's goes."""
    kept = [f"{name}={value}" for name, value in os.environ.items() if name in ("HOME", "PATH") or name.startswith(("BINNACLE_", "XDG_"))] + ["BINNACLE_OWN_KERNEL=1"]
    with tempfile.TemporaryDirectory(prefix="binnacle-guest-") as folder:
        initramfs, console = pathlib.Path(folder, "initramfs"), pathlib.Path(folder, "console")
        make_guest(parts, f"cd {shlex.quote(os.getcwd())} && exec env -i {shlex.join(kept)} {shlex.join(words)}\n", initramfs)
        # The kernel ends it with this script. Its input stays open: at the input's end QEMU would drop the output, too.
        guest = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", QEMU, *MACHINE, "-smp", str(min(os.cpu_count(), 4)), "-m", str(memory), "-serial", f"file:{console}",
                                  "-kernel", parts.kernel, "-initrd", initramfs, "-append", ARGUMENTS], stdin=subprocess.PIPE)
        try:
            guest.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            guest.kill()
            guest.wait()
        said = console.read_text(errors="replace") if console.exists() else ""
    ended = re.search(r"guest: ended with (\d+)", said)
    if ended:
        return int(ended.group(1))
    what = "the command" if "guest: begins" in said else "the guest's start"
    why = f"was not done after {seconds} s (--seconds)" if guest.returncode < 0 else f"did not end in order; QEMU's status is {guest.returncode}"
    print(f"in_guest: {what} {why}; its console ends:\n{said[-2000:]}", file=sys.stderr)
    return 124 if guest.returncode < 0 and "guest: begins" in said else 125


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--seconds", default=600, type=int, help="that all may take, with the start (600)")
    words.add_argument("--suite", default=SUITES[0], help=f"the release of Debian whose kernel it is ({SUITES[0]})")
    words.add_argument("--memory", default=4096, type=int, help="of the guest, in MiB (4096)")
    words.add_argument("command", nargs=argparse.REMAINDER)
    given = words.parse_args()
    if not given.command:
        words.error("which command? An example: in_guest.py uname -a")
    parts = Parts(given.suite)
    missing = parts.missing()
    if missing:
        print(f"in_guest: {missing}", file=sys.stderr)
        return 125
    return run(parts, given.command, given.seconds, given.memory)


if __name__ == "__main__":
    sys.exit(main())
