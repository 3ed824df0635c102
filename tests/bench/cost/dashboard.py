"""What open pages of `binnacle dashboard` cost the aggregator, the command and the line, at thousands of nodes.

python3 tests/bench/cost/dashboard.py [--build build] [--nodes 5000] [--seconds 60]

The real aggregator, simulated agents over TLS, the real command. The pages are its streams, asked for as the page in the browser asks; what comes is counted
and thrown away. The faces loop is the aggregator's first thread; its CPU time is the kernel's (schedstat). Nobody's cost is measured first and taken off.
"""

import argparse
import http.client
import json
import os
import pathlib
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from trial import Trial  # noqa: E402

POLICY = """\
apiVersion: telemetry.intel.com/v1alpha1
kind: TASPolicy
metadata: {name: %s, namespace: default}
spec:
  strategies:
    dontschedule:
      rules:
      - {metricname: rapl_power_watts, operator: GreaterThan, target: %d}
"""
# What the five pages ask for besides the fleet and the status, in turn.
PAGES = (["labels/"], ["policies"], ["node/sim-17"], ["decisions/"], ["links"])


class Page:
    """One page's stream: bytes that came."""

    def __init__(self, port, key, topics):
        self.bytes = 0
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        topic = "&".join("topic=" + t for t in ["fleet", "status", *topics])
        self.connection.request("GET", f"/live?{topic}&metric=os_cpus", headers={"Authorization": "Bearer " + key})
        answer = self.connection.getresponse()
        assert answer.status == 200, answer.read()
        self.reader = threading.Thread(target=self.read, args=(answer,), daemon=True)
        self.reader.start()

    def read(self, answer):
        while True:
            piece = answer.read1(1 << 16)
            if not piece:
                return
            self.bytes += len(piece)


def asked(port, path, body=None, key=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, body, {"Authorization": "Bearer " + key} if key else {})
    return json.loads(connection.getresponse().read())


def cpu_seconds(pid, thread=None):
    """Of one thread, or of the whole process."""
    threads = [thread] if thread else os.listdir(f"/proc/{pid}/task")
    return sum(int(pathlib.Path(f"/proc/{pid}/task/{t}/schedstat").read_text().split()[0]) for t in threads) / 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    trial = Trial(options.build.resolve())
    try:
        trial.make_certificates([], more=["--fleet", f"sim:{options.nodes}"])
        for i, target in enumerate((100, 150, 200)):
            trial.write_policy(POLICY % (f"power-{i}", target), f"{i}.yaml")
        trial.start_aggregator("--log-level", "warning")
        trial.start("fleet", trial.build / "tests/wan/binnacle-fleet", "--pki", trial.pki, "--nodes", options.nodes, "--port", trial.ports["ingest"])
        trial.wait_for("all agents", lambda: f"streaming={options.nodes} " in trial.log("fleet"), 600)
        trial.wait_for("the values", lambda: len(trial.metric("rapl_power_watts")) == options.nodes, 300)
        environment = [f"{name}={text}" for name, text in trial.cli_environment().items()]
        trial.start("dashboard", "env", *environment, trial.build / "cli/binnacle", "dashboard", "-o", "json")
        trial.wait_for("the dashboard's link", lambda: '"link"' in trial.log("dashboard"))
        origin, secret = json.loads(trial.log("dashboard").splitlines()[0])["link"].split("/#link=")
        port = int(origin.rsplit(":", 1)[1])
        key = asked(port, "/open", json.dumps({"link": secret}))["key"]
        aggregator, command = (trial.processes[name].pid for name in ("aggregator", "dashboard"))

        def measure(pages):
            time.sleep(10)  # the first answers are over
            before = cpu_seconds(aggregator, aggregator), cpu_seconds(aggregator), cpu_seconds(command), sum(p.bytes for p in pages), time.monotonic()
            time.sleep(options.seconds)
            trial.check_alive()
            after = cpu_seconds(aggregator, aggregator), cpu_seconds(aggregator), cpu_seconds(command), sum(p.bytes for p in pages), time.monotonic()
            passed = after[4] - before[4]
            return [(b - a) / passed for a, b in zip(before[:4], after[:4])]

        print(f"{options.nodes} nodes, 3 policies, {options.seconds:.0f} s each; shares of one core")
        print("pages  faces loop  of it for pages  whole aggregator  binnacle dashboard  kB/s to each page")
        pages, quiet = [], 0.0
        for wanted in (0, 1, 10):
            while len(pages) < wanted:
                pages.append(Page(port, key, PAGES[len(pages) % len(PAGES)]))
            faces, whole, shown, rate = measure(pages)
            quiet = quiet if pages else faces
            print(f"{wanted:5}  {faces:10.2%}  {faces - quiet:15.2%}  {whole:16.2%}  {shown:18.2%}  {rate / max(1, wanted) / 1000:17.1f}", flush=True)
    finally:
        trial.stop()


if __name__ == "__main__":
    main()
