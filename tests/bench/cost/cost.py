"""What watching a node costs: binnacle-agent beside Debian's collectd and prometheus-node-exporter, all at once, each at 1 s.

    python3 tests/bench/cost/cost.py --install     fetches the peers (apt-get), once; starts none of their services
    python3 tests/bench/cost/cost.py               measures for 60 s and prints a table
    python3 tests/bench/cost/cost.py --instructions    instead, the instructions of one reading of agent and collectd (needs valgrind; three minutes)
    python3 tests/bench/cost/cost.py --ipmi        with a simulated BMC over the network in the common set (needs UDP port 623 of 127.77.0.1)

The common set is CPU time by mode, load, memory, network interfaces and huge pages. Every program is started here with a configuration and a
port of its own and is ended by its id; services that run already are left alone. Figures are CPU time, not wall time, so that a busy machine
blurs them little. The agent sends to a real aggregator over TLS; the others are scraped every second over a kept connection, and a second agent
is scraped likewise. "Everything" is an agent with all its sources on: simulated packages, sensor chips and resctrl, software events, files, an
exporter, peers and, with --ipmi, the BMC, over TLS as well.

CPU time in all is the scheduler's own count (schedstat, nanoseconds). How much of it is user time the kernel only samples at its ticks, far too
coarse for a millisecond a second and blind to what always falls between two ticks; so a second phase lets agent and collectd read the same set
every 23.37 ms, beside each other, and gives user and system time of one reading. --instructions counts what that user time is spent on, which
no other program on the machine can blur: instructions of one reading, by valgrind.
"""

import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "scripts"))
from trial import EVERY_SOURCE, ROOT, Trial, free_port  # noqa: E402  (the path comes first)
from processes import Scraper, UdpRelay, bytes_sent_to, cpu_seconds, resident_mib, system_calls  # noqa: E402

# Its package only recommends the libraries of single plugins (write_prometheus, sensors).
PEERS = ["collectd-core", "libprotobuf-c1", "libmicrohttpd12", "libsensors5", "libopenipmi0",
         "prometheus-node-exporter", "prometheus-ipmi-exporter", "openipmi"]
COLLECTD = "/usr/sbin/collectd"
NODE_EXPORTER = "/usr/bin/prometheus-node-exporter"
IPMI_EXPORTER = "/usr/bin/prometheus-ipmi-exporter"
BMC = ("127.77.0.1", 623)  # where the peers find the simulated BMC; it is not 127.0.0.1, which means this machine's own to FreeIPMI
COMMON = ["cpu", "load", "memory", "interface", "hugepages"]
OFTEN = 0.02337  # s; out of step with every tick
HARDWARE = ["thermal", "sensors", "turbostat"]  # where there is any


def install():
    """The peers from Debian, without starting the services they bring."""
    guard = pathlib.Path("/usr/sbin/policy-rc.d")
    ours = not guard.exists()
    if ours:
        guard.write_text("#!/bin/sh\nexit 101\n")
        guard.chmod(0o755)
    try:
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        subprocess.run(["apt-get", "update", "-qq"], env=environment, check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PEERS, "strace", "iproute2"], env=environment, check=True)
    finally:
        if ours:
            guard.unlink()


class Bmc:
    """A simulated BMC over the network; nothing without --ipmi."""

    def __init__(self, trial):
        self.flags = trial.start_bmc("common")
        given = dict(zip(self.flags[::2], self.flags[1::2]))
        host, port = given["--bmc-host"].rsplit(":", 1)
        words = dict(line.split(": ", 1) for line in given["--bmc-credentials-file"].read_text().splitlines())
        self.user, self.password = words["user"], words["password"]
        self.relay = UdpRelay(BMC, (host, int(port)))

    def for_agent(self):
        return [*self.flags, "--bmc-period", "1s", "--bmc-budget", "50"]

    def for_collectd(self):
        return (f'LoadPlugin ipmi\n<Plugin ipmi>\n  <Instance "bmc">\n    Address "{BMC[0]}"\n    Username "{self.user}"\n'
                f'    Password "{self.password}"\n    AuthType "rmcp+"\n  </Instance>\n</Plugin>\n')

    def for_exporter(self):
        return (f'modules:\n  default:\n    user: "{self.user}"\n    pass: "{self.password}"\n    driver: "LAN"\n    privilege: "admin"\n'
                "    timeout: 10000\n    collectors: [ipmi, dcmi, chassis]\n")


def collectd_configuration(folder, port, interval=1.0, more=""):
    plugins = COMMON + [p for p in HARDWARE if pathlib.Path("/sys/class/thermal/thermal_zone0").exists()]
    return (f'Hostname "cost"\nFQDNLookup false\nInterval {interval}\nBaseDir "{folder}"\nPIDFile "{folder}/collectd.pid"\n'
            'PluginDir "/usr/lib/collectd"\nTypesDB "/usr/share/collectd/types.db"\n'
            + "".join(f"LoadPlugin {p}\n" for p in plugins)
            + f'LoadPlugin write_prometheus\n<Plugin write_prometheus>\n  Host "127.0.0.1"\n  Port "{port}"\n</Plugin>\n' + more)


class Measured:
    """A program in the table."""

    def __init__(self, name, pid, scraper=None, ingest=0):
        self.name, self.pid, self.scraper, self.ingest = name, pid, scraper, ingest
        self.calls = None

    def sent(self):
        return bytes_sent_to(self.ingest) if self.ingest else self.scraper.bytes if self.scraper else 0

    def begin(self):
        self.at_first = (time.monotonic(), cpu_seconds(self.pid), self.sent())

    def end(self):
        began, (user, system, exact), sent = self.at_first
        self.seconds = time.monotonic() - began
        now = cpu_seconds(self.pid)
        self.user, self.system, self.exact = now[0] - user, now[1] - system, now[2] - exact
        self.sent_each_second = (self.sent() - sent) / self.seconds
        self.mib, self.own_mib = resident_mib(self.pid)


def start_agent(trial, name, *more, under=()):
    """An agent that streams to the aggregator, and is not scraped."""
    trial.start_agent(name, *more, scrape=None, under=under)
    return trial.processes[name].pid


def start_collectd(trial, name, port, interval=1.0, more="", under=()):
    folder = trial.folder / name
    folder.mkdir(exist_ok=True)
    configuration = folder / "collectd.conf"
    configuration.write_text(collectd_configuration(folder, port, interval, more))
    return trial.start(name, *under, COLLECTD, "-f", "-C", configuration).pid


def instructions_of_a_reading(trial, name, start):
    """`start(under)` starts the program, reading ten times a second. Its start and end are in two runs of different length alike."""
    counted = []
    for seconds in (20, 50):
        start(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"])
        time.sleep(seconds)
        trial.end(name, seconds=60)
        counted.append(int(re.findall(r"Collected : (\d+)", trial.log(name))[-1]))
    return (counted[1] - counted[0]) / (30 / 0.1)


def compare_instructions(trial):
    agent = instructions_of_a_reading(trial, "streams", lambda under: start_agent(trial, "streams", "--sources", "os", "--period", "100ms", under=under))
    print(f"binnacle-agent, streaming over TLS: {agent:.0f} instructions a reading", flush=True)
    peer = instructions_of_a_reading(trial, "collectd", lambda under: start_collectd(trial, "collectd", free_port(), 0.1, under=under))
    print(f"collectd: {peer:.0f} instructions a reading; ours are {agent / peer:.2f} of them")


def start_all(trial, bmc):
    """Everything that is measured at 1 s, with its scrapers."""
    common = ["--sources", "os,bmc", *bmc.for_agent()] if bmc else ["--sources", "os"]
    rows = [Measured("binnacle-agent, streaming over TLS", start_agent(trial, "streams", *common), ingest=trial.ports["ingest"])]

    port = free_port()
    process = trial.start("scraped", trial.build / "agent/binnacle-agent", *common, "--listen", f"127.0.0.1:{port}")
    rows.append(Measured("binnacle-agent, scraped", process.pid, Scraper(port)))

    if pathlib.Path(COLLECTD).exists():
        port = free_port()
        rows.append(Measured("collectd, scraped", start_collectd(trial, "collectd", port, more=bmc.for_collectd() if bmc else ""), Scraper(port)))
    exporter = free_port()
    if pathlib.Path(NODE_EXPORTER).exists():
        wanted = ["cpu", "loadavg", "meminfo", "netdev", "hwmon", "thermal_zone"]
        process = trial.start("node-exporter", NODE_EXPORTER, f"--web.listen-address=127.0.0.1:{exporter}", "--collector.disable-defaults",
                              *[f"--collector.{w}" for w in wanted])
        rows.append(Measured("node_exporter, scraped", process.pid, Scraper(exporter)))

    if bmc and pathlib.Path(IPMI_EXPORTER).exists():
        port = free_port()
        configuration = trial.folder / "ipmi-exporter.yaml"
        configuration.write_text(bmc.for_exporter())
        process = trial.start("ipmi-exporter", IPMI_EXPORTER, f"--web.listen-address=127.0.0.1:{port}", f"--config.file={configuration}")
        rows.append(Measured("ipmi_exporter, scraped", process.pid, Scraper(port, f"/ipmi?target={BMC[0]}")))

    trial.start_package("everything", 80, "--sensors")
    files = trial.folder / "files"
    files.mkdir()
    (files / "health.prom").write_text("node_health_metric 1\n")
    pid = start_agent(trial, "everything", "--sources", EVERY_SOURCE, "--sys-root", trial.sysroot("everything"), "--textfile-directory", files, "--scrape",
                      f"http://127.0.0.1:{exporter}/metrics", "--path", f"127.0.0.1:{trial.ports['health']},icmp:127.0.0.1", *(bmc.for_agent() if bmc else []))
    rows.append(Measured("binnacle-agent, everything, over TLS", pid))
    return rows


def measure(trial, rows, seconds):
    time.sleep(8)  # discovery, first readings, connections
    trial.check_alive()
    for r in rows:
        r.begin()
    time.sleep(seconds)
    for r in rows:
        r.end()
    trial.check_alive()
    for r in rows:
        if r.scraper and r.scraper.failures > 1:  # the first one may come before the program listens
            print(f"cost: {r.name}: {r.scraper.failures} scrapes failed", file=sys.stderr)


def table(rows):
    """Markdown; ratios against collectd where it ran."""
    peer = next((r for r in rows if r.name.startswith("collectd")), None)
    out = ["| program | CPU ms/s | of collectd's | resident MiB | of it its own | system calls/s | bytes/s |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        ratio = f"{r.exact / peer.exact:.2f}" if peer else "-"
        calls = f"{r.calls:.0f}" if r.calls is not None else "-"
        sent = f"{r.sent_each_second:.0f}" if r.scraper or r.ingest else "-"
        out.append(f"| {r.name} | {r.exact * 1000 / r.seconds:.2f} | {ratio} | {r.mib:.1f} | {r.own_mib:.1f} | {calls} | {sent} |")
    return "\n".join(out)


def split_table(rows, period):
    out = ["| program | user µs a reading | system µs a reading |", "|---|---|---|"]
    for r in rows:
        readings = r.seconds / period
        out.append(f"| {r.name} | {r.user * 1e6 / readings:.0f} | {r.system * 1e6 / readings:.0f} |")
    return "\n".join(out)


def goals(rows, split, with_helper):
    """(sentence, met) for each goal of the project that this run can judge."""
    found = []
    if len(split) > 1:
        ours, peer = split
        share = ours.user / peer.user if peer.user else 1
        found.append((f"a tenth of collectd's user CPU on the common set: {share:.2f}", share <= 0.1))
    most = next(r for r in rows if "everything" in r.name)
    allowed, whose = (25, " and with the IPMI helper") if with_helper else (15, "")
    found.append((f"at most {allowed} MiB resident with all sources on{whose}: {most.mib:.1f} MiB ({most.own_mib:.1f} its own, the rest mapped files)",
                  most.mib <= allowed))
    return found


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    words.add_argument("--seconds", default=60, type=int, help="of measuring CPU, in each of two phases (60)")
    words.add_argument("--calls-seconds", default=5, type=int, help="of counting system calls, for each program, after that (5; 0: not)")
    words.add_argument("--ipmi", action="store_true", help="a simulated BMC belongs to the common set")
    words.add_argument("--instructions", action="store_true", help="count instructions of a reading instead of time")
    words.add_argument("--install", action="store_true", help="fetch the peers with apt-get first")
    given = words.parse_args()
    if given.install:
        install()
    missing = [p for p in (COLLECTD, NODE_EXPORTER) if not pathlib.Path(p).exists()]
    if missing:
        print(f"cost: not there: {', '.join(missing)}; --install fetches them. Measuring without.", file=sys.stderr)

    trial = Trial(given.build)
    try:
        trial.make_certificates(["streams", "everything", "often"])
        trial.start_aggregator()
        if given.instructions:
            return compare_instructions(trial)
        bmc = Bmc(trial) if given.ipmi else None
        rows = start_all(trial, bmc)
        measure(trial, rows, given.seconds)
        if given.calls_seconds and shutil.which("strace"):
            for r in rows:
                r.calls = system_calls(r.pid, given.calls_seconds)
        for r in rows:
            if r.scraper:
                r.scraper.stop()
            name = next(n for n, p in trial.processes.items() if p.pid == r.pid)
            trial.end(name)
        split = [Measured("binnacle-agent, streaming over TLS", start_agent(trial, "often", "--sources", "os", "--period", f"{OFTEN * 1000:.2f}ms"))]
        if pathlib.Path(COLLECTD).exists():
            split.append(Measured("collectd", start_collectd(trial, "collectd-often", free_port(), OFTEN)))
        measure(trial, split, given.seconds)

        commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout.strip()
        print(f"{platform.node()}, Linux {platform.release()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}, commit {commit}, "
              f"{given.seconds} s a phase: {', '.join(COMMON + ['ipmi'] * given.ipmi)}\n\nEvery second:\n")
        print(table(rows))
        print(f"\nEvery {OFTEN * 1000:.2f} ms, the same set without a BMC:\n")
        print(split_table(split, OFTEN))
        print()
        met = goals(rows, split, given.ipmi)
        for sentence, good in met:
            print(f"{'met   ' if good else 'MISSED'}  {sentence}")
        return 0 if all(good for _, good in met) else 1
    finally:
        trial.stop()


if __name__ == "__main__":
    sys.exit(main())
