"""What Binnacle costs a real kube-scheduler: 1,000 nodes of kwok with 1,000 simulated agents, 2,000 pods, with and without the extender.

  python3 tests/cluster/scale.py --build build [--nodes 1000] [--pods 2000] [--steady 60]

All pods wait before the scheduler starts, so that it is never idle. It prints a line a run: pods per second from the first to the last binding, and
the time of a scheduling cycle without binding (kube-scheduler's own scheduler_scheduling_algorithm_duration_seconds); then how long the
aggregator took for a call, and how many requests it made to the API server in a quiet minute with 20 policies. The scheduler's client may make
1,000 requests a second (its default of 50 would hide everything else). etcd, API server, kwok, scheduler, aggregator and the agents share this
machine. Exits 1 if a pod was not placed, whatever the figures.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import threading
import time

from control_plane import ROOT, ControlPlane, Failure
from trial import Trial


def policy(name, target):
    """The simulated nodes have 76 to 170 W: above 200 there is none."""
    rules = {"dontschedule": {"rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": target}]},
             "scheduleonmetric": {"rules": [{"metricname": "rapl_power_watts", "operator": "LessThan"}]}}
    return json.dumps({"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": name, "namespace": "default"},
                       "spec": {"strategies": rules}})


class Crowd:
    """Posts many objects over a few kept connections."""

    def __init__(self, plane):
        self.plane, self.mine = plane, threading.local()
        self.security = ssl.create_default_context(cafile=str(plane.pki / "ca.crt"))
        self.security.load_cert_chain(plane.pki / "admin.crt", plane.pki / "admin.key")

    def post(self, path, thing):
        if not hasattr(self.mine, "connection"):
            self.mine.connection = http.client.HTTPSConnection("127.0.0.1", self.plane.port, context=self.security, timeout=60)
        self.mine.connection.request("POST", path, json.dumps(thing), {"Content-Type": "application/json"})
        answer = self.mine.connection.getresponse()
        text = answer.read().decode()
        if answer.status != 201:
            raise Failure(f"POST {path}: {answer.status}: {text[:500]}")

    def post_all(self, path, things):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda thing: self.post(path, thing), things))


def node(name):
    room = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name},
                                                            "annotations": {"kwok.x-k8s.io/node": "fake"}},
            "status": {"allocatable": room, "capacity": room}}


def pod(name):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"telemetry-policy": "power"}},
            "spec": {"schedulerName": "measured",
                     # Without a node lifecycle controller nobody takes that taint off new nodes.
                     "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}],
                     "terminationGracePeriodSeconds": 0, "containers": [
                {"name": "app", "image": "app", "resources": {"limits": {"telemetry/scheduling": "1"}, "requests": {"cpu": "100m"}}}]}}


def number(text, metric):
    """The sum of a metric's samples; `metric` may end inside its labels."""
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(metric))


def quantile(text, metric, share):
    """Of a histogram, in its unit, linear within a bucket."""
    buckets = {}
    for line in text.splitlines():
        found = re.match(re.escape(metric) + r'_bucket\{.*le="([^"]+)"\} (\S+)', line)
        if found:
            bound = float(found[1].replace("+Inf", "inf"))
            buckets[bound] = buckets.get(bound, 0) + float(found[2])
    wanted = share * max(buckets.values())
    low, below = 0.0, 0.0
    for bound in sorted(buckets):
        if buckets[bound] >= wanted:
            return low if bound == float("inf") else low + (bound - low) * (wanted - below) / max(1.0, buckets[bound] - below)
        low, below = bound, buckets[bound]
    return low


class Bench:
    def __init__(self, options):
        self.options = options
        self.plane = ControlPlane()
        self.trial = Trial(options.build)
        self.ended = [self.plane.stop, self.trial.stop]

    def stop(self):
        for end in reversed(self.ended):
            end()

    def begin(self):
        o = self.options
        self.plane.begin()
        self.plane.install_crd()
        self.plane.kubectl("create", "serviceaccount", "default")  # a controller's work elsewhere
        self.crowd = Crowd(self.plane)
        # Nodes need no heartbeat where no controller looks for it.
        self.plane.start_kwok([], "--node-lease-duration-seconds=0")
        self.crowd.post_all("/api/v1/nodes", [node(f"sim-{i}") for i in range(o.nodes)])
        self.plane.wait_for("all nodes", lambda: len(self.plane.ready_nodes()) == o.nodes, 600)
        subprocess.run([ROOT / "scripts/pki", self.trial.pki, "--days", "1", "--server", "aggregator", "--client", "scheduler", "--client", "cli",
                        "--fleet", f"sim:{o.nodes}"], check=True, stdout=subprocess.DEVNULL)
        self.trial.start_aggregator("--kube-config", self.plane.kubeconfig, "--log-level", "warning")
        self.trial.start("fleet", o.build / "tests/wan/binnacle-fleet", "--pki", self.trial.pki, "--nodes", o.nodes, "--port",
                         self.trial.ports["ingest"])
        self.trial.wait_for("all agents", lambda: f"streaming={o.nodes} " in self.trial.log("fleet"), 600)
        self.plane.kubectl("apply", "-f", "-", stdin=policy("power", 150))
        for i in range(19):
            self.plane.kubectl("apply", "-f", "-", stdin=policy(f"other-{i}", 200))
        self.trial.wait_for("the values", lambda: len(self.trial.metric("rapl_power_watts")) == o.nodes, 120)

    def configuration(self, extender):
        pki = self.trial.pki
        said = self.trial.cli("scheduler-config", "-o", "json", "--name", "measured", "--required", "--timeout", "30s", "--url",
                              f"https://localhost:{self.trial.ports['extender']}", "--ca-file", pki / "server-ca.crt", "--cert-file",
                              pki / "client-scheduler.crt", "--key-file", pki / "client-scheduler.key")
        made = json.loads(said.stdout)
        if not extender:
            del made["extenders"]
            # What the extender's managed resource does besides.
            made["profiles"][0]["pluginConfig"] = [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["telemetry/scheduling"]}}]
        return made

    def run(self, name, extender):
        """Places all pods once."""
        o = self.options
        self.crowd.post_all("/api/v1/namespaces/default/pods", [pod(f"{name}-{i}") for i in range(o.pods)])
        before = self.trial.ask("ops", "/metrics")[1]
        port = self.plane.start_scheduler(self.configuration(extender), "measured")
        bound, first, last, deadline = 0, None, None, time.monotonic() + 900
        while bound < o.pods and time.monotonic() < deadline:
            text = self.plane.answers(port, "/metrics") or ""
            now, bound = time.monotonic(), number(text, 'scheduler_schedule_attempts_total{profile="measured",result="scheduled"')
            if bound and first is None:
                first, at_first = now, bound
            last = now
            time.sleep(0.1)
        if bound < o.pods:
            raise Failure(f"{name}: {bound:.0f} of {o.pods} pods were placed in 900 s\n{self.plane.log('measured')[-2000:]}")
        cycle = "scheduler_scheduling_algorithm_duration_seconds"
        mean = number(text, cycle + "_sum") / number(text, cycle + "_count")
        print(f"{name:18} {(bound - at_first) / max(last - first, 0.001):7.0f} pods/s   scheduling cycle: mean {mean * 1000:6.2f} ms, p50 "
              f"{quantile(text, cycle, 0.5) * 1000:6.2f} ms, p99 {quantile(text, cycle, 0.99) * 1000:6.2f} ms", flush=True)
        self.plane.end("measured")
        after = self.trial.ask("ops", "/metrics")[1]
        self.plane.wait_for("the pods' end", self.delete_pods, 600)
        return mean, before, after

    def delete_pods(self):
        """The server ends such a request after a minute, wherever it is. True when none is left."""
        path = "/api/v1/namespaces/default/pods"
        self.plane.request("DELETE", f"{path}?gracePeriodSeconds=0", timeout=120)
        return not json.loads(self.plane.request("GET", f"{path}?limit=1", timeout=60)[1])["items"]

    def steady(self):
        seconds = self.options.steady
        self.plane.kubectl("apply", "-f", "-", stdin=policy("power", 200))  # where verdicts change, there is something to write
        time.sleep(15)  # statuses of what has just happened
        before = self.calls()
        time.sleep(seconds)
        print(f"API requests of the replica in a quiet minute, {self.options.nodes} nodes, 20 policies: {(self.calls() - before) * 60 / seconds:.0f}")

    def calls(self):
        return number(self.trial.ask("ops", "/metrics")[1], "binnacle_kubernetes_calls_total")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--steady", type=int, default=60, help="seconds of quiet")
    options = parser.parse_args()
    bench = Bench(options)
    try:
        bench.begin()
        print(f"{options.nodes} nodes, {options.pods} pods, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}", flush=True)
        plain, _, _ = bench.run("without-extender", False)
        asked, before, after = bench.run("with-binnacle", True)
        print(f"both calls add {(asked - plain) * 1000:.2f} ms to a cycle's mean")
        for verb in ("filter", "prioritize"):
            counted = [line for line in after.splitlines() if line.startswith("binnacle_extender_request_seconds") and f'verb="{verb}"' in line]
            print(f"{verb}: p50 {quantile(chr(10).join(counted), 'binnacle_extender_request_seconds', 0.5) * 1000:.3f} ms, p99 "
                  f"{quantile(chr(10).join(counted), 'binnacle_extender_request_seconds', 0.99) * 1000:.3f} ms in the aggregator")
        bench.steady()
    except Failure as failure:
        sys.exit(f"scale: {failure}")
    finally:
        bench.stop()


if __name__ == "__main__":
    main()
