"""Machines whose load a test sets: a /proc/stat whose ticks go on by that load, and a powercap tree (tests/support/machine/sim_powercap.cpp) that
draws what a curve says of it. Agents read both as they read a real machine's."""

import os
import threading
import time


class Machine:
    """One of them. `watts`: of a package, by the load 0..1. Its load may be set at any time."""

    def __init__(self, trial, node, cpus, watts, cpu_name, load=0.0):
        self.trial, self.node, self.cpus, self.watts, self.load = trial, node, cpus, watts, load
        self.shown, self.ticks = None, [0.0, 0.0]
        self.proc = trial.folder / node / "proc"
        self.proc.mkdir(parents=True)
        (self.proc / "cpuinfo").write_text(f"processor\t: 0\nmodel name\t: {cpu_name}\n")
        (self.proc / "meminfo").write_text("MemTotal:       16777216 kB\nMemFree:         8388608 kB\nMemAvailable:    8388608 kB\n")
        self.stat = os.open(self.proc / "stat", os.O_CREAT | os.O_WRONLY)
        self.advance(0)

    def advance(self, seconds):
        self.ticks[0] += 100 * self.cpus * seconds * self.load
        self.ticks[1] += 100 * self.cpus * seconds * (1 - self.load)
        # In place and of one length: the agent keeps the file open.
        busy, idle = (int(part) for part in self.ticks)
        one = f" {busy // self.cpus:012d} 0 0 {idle // self.cpus:012d} 0 0 0 0 0 0"
        lines = [f"cpu  {busy:012d} 0 0 {idle:012d} 0 0 0 0 0 0", *[f"cpu{i}{one}" for i in range(self.cpus)],
                 "ctxt 1", "btime 1767225600", "processes 1", "procs_running 1", "procs_blocked 0", ""]
        os.pwrite(self.stat, "\n".join(lines).encode(), 0)

    def show(self):
        """Has the powercap tree draw what the load costs."""
        if self.shown != self.load:
            self.shown = self.load
            self.trial.heat(self.node, self.watts(self.load))

    def start(self, *more):
        """The powercap tree and the agent. More words are the tree's."""
        self.trial.start_package(self.node, self.watts(self.load), *more)
        self.trial.start_agent(self.node, "--sys-root", self.trial.sysroot(self.node), "--proc-root", self.proc)


class Machines(threading.Thread):
    """Lets them live, from start() to stop()."""

    def __init__(self, machines):
        super().__init__(daemon=True)
        self.machines, self.stopped = machines, threading.Event()

    def run(self):
        last = time.monotonic()
        while not self.stopped.wait(0.05):
            now = time.monotonic()
            for machine in self.machines:
                machine.advance(now - last)
                machine.show()
            last = now

    def stop(self):
        self.stopped.set()
        self.join()
