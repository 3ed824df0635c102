"""What it costs to have every reading of a fleet in a database: remote write and OTLP beside Prometheus that scrapes each agent, all three at once.

python3 tests/bench/cost/history.py [--build build] [--nodes 5000] [--seconds 120]

The real aggregator with simulated agents over TLS writes to two servers of Prometheus 3 (tests/cluster/build prometheus); a third one scrapes as many agents'
pages, with the same series, from one small server that keeps them ready, so that no agent's own work is in the figures. All have 10 s between two rounds. CPU
time is the kernel's (schedstat): of the sender's thread, and of each Prometheus. Bytes are those that TCP has delivered (of scraping: that were sent), without encryption, headers of HTTP
included, in the direction that readings go. The age is that of the newest value in the database by its time stamp, asked every five seconds; a scraped value was read some time before its stamp.
"""

import argparse
import asyncio
import contextlib
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
for folder in ("scripts", "tests/integration", "tests/cluster"):
    sys.path.insert(0, str(ROOT / folder))
from prometheus import Prometheus  # noqa: E402
from support.control_plane import built  # noqa: E402
from trial import Trial  # noqa: E402

PROGRAM = built("prometheus", "prometheus")
METRIC = "rapl_power_watts"
PAUSE = 10


class Pages:
    """What agents say at /metrics, as it was when this began: /NODE/metrics. One thread for thousands of connections that Prometheus keeps."""

    def __init__(self, pages):
        self.pages = pages
        self.port = 0
        self.sent = 0  # bytes; Prometheus does not keep thousands of connections to one address, so that they cannot be asked
        self.ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()
        self.ready.wait()

    async def serve(self):
        server = await asyncio.start_server(self.talk, "127.0.0.1", 0, backlog=4096)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await server.serve_forever()

    async def talk(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                page = self.pages[head.split(b" ")[1].split(b"/")[1].decode()]
                answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n" % len(page) + page
                writer.write(answer)
                self.sent += len(answer)
                await writer.drain()
        writer.close()


def pages_of(text):
    """The pages of all nodes, from the aggregator's page of them all."""
    nodes = {}
    for line in text.splitlines():
        found = re.match(r'^([a-z_0-9]+)\{node="([^"]+)",?([^}]*)\} (.*)$', line)
        if found:
            family, node, labels, value = found.groups()
            nodes.setdefault(node, []).append(f"{family}{{{labels}}} {value}\n" if labels else f"{family} {value}\n")
    return {node: "".join(lines).encode() for node, lines in nodes.items()}


def server(trial, name, **how):
    """Another Prometheus of this trial, in a folder of its own."""
    class Part:
        folder = trial.folder / name

        @staticmethod
        def start(_, *words):
            trial.start(name, *words)
        wait_for = staticmethod(trial.wait_for)
    Part.folder.mkdir()
    out = Prometheus(Part, None, None, None, *how.pop("more", ()), path=PROGRAM, **how)
    out.start()
    return out


def cpu(pid, thread=None):
    """CPU seconds of a process, or of those of its threads that are called so."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if thread is None or (task / "comm").read_text().strip() == thread:
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def delivered(to):
    """Bytes that the other end has acknowledged, on the connections to this port."""
    text = subprocess.run(["ss", "-tinH", f"dport = :{to}"], capture_output=True, text=True, check=True).stdout
    return sum(int(n) for n in re.findall(r"bytes_acked:(\d+)", text))


def idle():
    """Seconds that this machine's CPUs have had nothing to do, all together."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[4]) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--fleet", type=pathlib.Path, help="binnacle-fleet, if it is not in the build")
    options = parser.parse_args()
    if PROGRAM is None:
        sys.exit("history: Prometheus 3 is not built: tests/cluster/build prometheus builds it, in some ten minutes")
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    trial = Trial(options.build.resolve())
    try:
        trial.make_certificates([], more=["--fleet", f"sim:{options.nodes}"])
        writes = server(trial, "writes", config={"global": {"scrape_interval": f"{PAUSE}s"}})
        takes = server(trial, "takes", more=("--web.enable-otlp-receiver",), config={"otlp": {"promote_resource_attributes": ["k8s.node.name"]}})
        trial.start_aggregator("--log-level", "warning", "--remote-write", writes.url, "--remote-write-interval", f"{PAUSE}s",
                               "--otlp", f"{takes.base}/api/v1/otlp/v1/metrics", "--otlp-interval", f"{PAUSE}s")
        trial.start("fleet", options.fleet or trial.build / "tests/wan/binnacle-fleet", "--pki", trial.pki, "--nodes", options.nodes, "--port", trial.ports["ingest"])
        trial.wait_for("all agents", lambda: f"streaming={options.nodes} " in trial.log("fleet"), 600)
        trial.wait_for("the values", lambda: len(trial.metric(METRIC)) == options.nodes, 300)
        pages = pages_of(trial.ask("ops", "/metrics/nodes")[1])
        assert len(pages) == options.nodes
        face = Pages(pages)
        scrape = [{"job_name": "agents", "scrape_interval": f"{PAUSE}s", "static_configs": [
            {"targets": [f"127.0.0.1:{face.port}"], "labels": {"node": node, "__metrics_path__": f"/{node}/metrics"}} for node in pages]}]
        scrapes = server(trial, "scrapes", scrape=scrape)
        ways = {"remote write": (writes, "remote-write", METRIC), "OTLP": (takes, "otlp", "hw_power_watts"), "scraping": (scrapes, None, METRIC)}
        for name, (one, _, metric) in ways.items():
            trial.wait_for(f"all nodes by {name}", lambda one=one, metric=metric: one.query(f"count(group by (node, k8s_node_name) ({metric}))") and
                           one.query(f"count(group by (node, k8s_node_name) ({metric}))")[0]["value"][1] == str(options.nodes), 300)

        def state():
            pid = trial.processes["aggregator"].pid
            return {name: (cpu(pid, thread) if thread else 0, cpu(trial.processes[part].pid),
                           delivered(one.port) if thread else face.sent)
                    for (name, (one, thread, _)), part in zip(ways.items(), ("writes", "takes", "scrapes"))}

        time.sleep(2 * PAUSE)
        ages = {name: [] for name in ways}
        before, rested, began = state(), idle(), time.monotonic()
        while time.monotonic() - began < options.seconds:
            time.sleep(5)
            trial.check_alive()
            for name, (one, _, metric) in ways.items():
                ages[name].append([float(one.query(f"{how}(time() - max by (node, k8s_node_name) (timestamp({metric})))")[0]["value"][1]) for how in ("avg", "max")])
        after, rested, passed = state(), idle() - rested, time.monotonic() - began
        series = sum(page.count(b"\n") for page in pages.values())
        print(f"{options.nodes} nodes, {series} series, a round every {PAUSE} s, {passed:.0f} s; shares of one core; the machine's {os.cpu_count()} CPUs "
              f"were idle for {rested / passed / os.cpu_count():.0%}")
        print("way            sender's thread  Prometheus   kB/s  age of the newest value: mean  oldest")
        for name in ways:
            thread, database, sent = ((b - a) / passed for a, b in zip(before[name], after[name]))
            print(f"{name:13}  {thread:17.2%}  {database:10.2%}  {sent / 1000:5.0f}  {statistics.mean(a for a, _ in ages[name]):28.1f} s  {max(b for _, b in ages[name]):5.1f} s")
    finally:
        trial.stop()


if __name__ == "__main__":
    main()
