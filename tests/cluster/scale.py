"""What Binnacle costs a real kube-scheduler: 1,000 nodes of kwok with 1,000 simulated agents, with and without the extender.

  python3 tests/cluster/scale.py --build build [--nodes 1000] [--paced 600] [--pace 20] [--pods 2000] [--steady 60]
  python3 tests/cluster/scale.py --build build --only labels --nodes 5000

First, what both calls add to a scheduling cycle: two schedulers side by side, one with the extender, are given pods in turn at a pace that leaves the
CPUs time, and each pod's cycle is measured from the start of its scheduling to the start of its binding, to the microsecond, by the schedulers' own
logs (paced). Then, how many pods a second are placed where 2,000 wait before the scheduler starts, without and with the extender: everything shares this
machine, so that a cycle then mostly waits for a CPU (queue). Then, how many requests the aggregator makes to the API server in a quiet minute with
20 policies (steady). Last, how long it takes until all nodes have the label of a policy that all of them violate at once, and until none has it any
more (labels). The schedulers' clients may make 1,000 requests a second (their default of 50 would hide everything else). Exits 1 if a pod was not
placed, whatever the figures.
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

from support.control_plane import ROOT, ControlPlane, Failure
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


def pod(name, scheduler):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"telemetry-policy": "power"}},
            "spec": {"schedulerName": scheduler,
                     # Without a node lifecycle controller nobody takes that taint off new nodes.
                     "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}],
                     "terminationGracePeriodSeconds": 0, "containers": [
                {"name": "app", "image": "app", "resources": {"limits": {"telemetry/scheduling": "1"}, "requests": {"cpu": "100m"}}}]}}


def number(text, metric):
    """The sum of a metric's samples; `metric` may end inside its labels."""
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(metric))


def in_the_aggregator(before, after):
    for verb in ("filter", "prioritize"):
        metric, label = "binnacle_extender_request_seconds", f'{{verb="{verb}"'
        total, count = (number(after, metric + end + label) - number(before, metric + end + label) for end in ("_sum", "_count"))
        print(f"  {verb}: {total / count * 1000:.3f} ms of it in the aggregator (mean)", flush=True)


def idle_seconds():
    """Of all CPUs together, since the machine started. Source: proc_stat(5)."""
    idle, waiting = pathlib.Path("/proc/stat").read_text().split()[4:6]
    return (int(idle) + int(waiting)) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(process):
    """User and system time of a process. Source: proc_pid_stat(5), utime and stime; its second field may hold blanks."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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

    def configuration(self, name, extender):
        pki = self.trial.pki
        said = self.trial.cli("scheduler-config", "-o", "json", "--name", name, "--required", "--timeout", "30s", "--url",
                              f"https://localhost:{self.trial.ports['extender']}", "--ca-file", pki / "server-ca.crt", "--cert-file",
                              pki / "client-scheduler.crt", "--key-file", pki / "client-scheduler.key")
        made = json.loads(said.stdout)
        if not extender:
            del made["extenders"]
            # What the extender's managed resource does besides.
            made["profiles"][0]["pluginConfig"] = [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["telemetry/scheduling"]}}]
        return made

    def queue(self):
        self.place("without-extender", False)
        self.place("with-binnacle", True)

    def place(self, name, extender):
        """Places all pods once."""
        o = self.options
        self.crowd.post_all("/api/v1/namespaces/default/pods", [pod(f"{name}-{i}", "measured") for i in range(o.pods)])
        before = self.trial.ask("ops", "/metrics")[1]
        port = self.plane.start_scheduler(self.configuration("measured", extender), "measured")
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
        print(f"{name:18} {(bound - at_first) / max(last - first, 0.001):5.0f} pods/s   scheduling cycle: {mean * 1000:6.2f} ms (mean)", flush=True)
        self.plane.end("measured")
        after = self.trial.ask("ops", "/metrics")[1]
        self.plane.wait_for("the pods' end", self.delete_pods, 600)
        if extender:
            in_the_aggregator(before, after)

    def paced(self):
        """Two schedulers side by side, one with the extender, and pods in turn for either, few enough that the CPUs idle in between: what is
        different between them is the two calls."""
        o, both = self.options, ("plain", "asking")
        for name in both:
            self.plane.start_scheduler(self.configuration(name, name == "asking"), name, "-v=3")
        due = time.monotonic()
        for i in range(2 * (self.WARM_UP + o.paced)):
            if i == 2 * self.WARM_UP:
                before, idle, began = self.trial.ask("ops", "/metrics")[1], idle_seconds(), time.monotonic()
                cpu = {name: cpu_seconds(self.plane.processes[name]) for name in both}
            due += 1 / o.pace
            time.sleep(max(0.0, due - time.monotonic()))
            self.crowd.post("/api/v1/namespaces/default/pods", pod(f"{both[i % 2]}-{i}", both[i % 2]))
        idle = (idle_seconds() - idle) / (time.monotonic() - began) / os.cpu_count()
        wanted = self.WARM_UP + o.paced
        self.plane.wait_for("the paced pods", lambda: all(len(self.cycles(name)) == wanted for name in both), 120)
        took = {name: sorted(self.cycles(name)[self.WARM_UP:]) for name in both}
        each = {name: (cpu_seconds(self.plane.processes[name]) - cpu[name]) / o.paced * 1000 for name in both}
        after = self.trial.ask("ops", "/metrics")[1]
        for name in both:
            self.plane.end(name)
        self.plane.wait_for("the pods' end", self.delete_pods, 600)
        print(f"{o.pace:g} pods/s for two schedulers in turn, {o.paced} pods each, CPUs idle {idle:.0%}")
        for share in (0.5, 0.9, 0.99):
            plain, asking = (took[name][int(share * (o.paced - 1))] * 1000 for name in both)
            print(f"  cycle p{share * 100:.0f}: {plain:6.2f} ms without, {asking:6.2f} ms with: both calls add {asking - plain:5.2f} ms")
        print(f"  kube-scheduler's CPU for a pod: {each['plain']:.2f} ms without, {each['asking']:.2f} ms with")
        in_the_aggregator(before, after)

    WARM_UP = 20  # pods of either scheduler that are not counted

    def cycles(self, name):
        """Seconds from the start of each pod's cycle to the start of its binding, by the scheduler's own log: the buckets
        of its histograms (1, 2, 4, 8, 16 ms) are too wide for a difference of one or two milliseconds."""
        line = re.compile(r'^I\d+ (\d\d):(\d\d):(\d\d\.\d+) .*?"Attempting to (schedule|bind) pod.*? pod="([^"]+)"', re.M)
        began, took = {}, []
        for hour, minute, second, what, which in line.findall(self.plane.log(name)):
            now = int(hour) * 3600 + int(minute) * 60 + float(second)
            if what == "schedule":
                began[which] = now
            else:
                took.append((now - began[which]) % 86400)
        return took

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

    def labels(self):
        hot = {"deschedule": {"rules": [{"metricname": "rapl_power_watts", "operator": "GreaterThan", "target": 0}]}}
        thing = {"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": "hot", "namespace": "default"},
                 "spec": {"strategies": hot}}
        for what, act in (("apply", lambda: self.crowd.post("/apis/telemetry.intel.com/v1alpha1/namespaces/default/taspolicies", thing)),
                          ("delete", lambda: self.plane.request("DELETE", "/apis/telemetry.intel.com/v1alpha1/namespaces/default/taspolicies/hot"))):
            before, wanted, began = self.patches(), self.options.nodes, time.monotonic()
            act()
            self.plane.wait_for("the labels", lambda before=before, wanted=wanted: self.patches() - before >= wanted, 600)
            print(f"{wanted} nodes patched {time.monotonic() - began:.1f} s after the {what} of a policy that all violate", flush=True)
        left = json.loads(self.plane.request("GET", "/api/v1/nodes?limit=1&labelSelector=hot%3Dviolating")[1])["items"]
        if left:
            raise Failure(f"{left[0]['metadata']['name']} still has the label of a policy that was deleted")

    def patches(self):
        return number(self.trial.ask("ops", "/metrics")[1], 'binnacle_node_patches_total{outcome="written"}')

    def calls(self):
        return number(self.trial.ask("ops", "/metrics")[1], "binnacle_kubernetes_calls_total")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--pace", type=float, default=20, help="pods a second where the machine is to idle in between")
    parser.add_argument("--paced", type=int, default=600, help="of them for each of the two schedulers")
    parser.add_argument("--only", choices=["paced", "queue", "steady", "labels"], help="of what is measured (all)")
    parser.add_argument("--steady", type=int, default=60, help="seconds of quiet")
    options = parser.parse_args()
    bench = Bench(options)
    try:
        bench.begin()
        print(f"{options.nodes} nodes, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}", flush=True)
        for name, measure in {"paced": bench.paced, "queue": bench.queue, "steady": bench.steady, "labels": bench.labels}.items():
            if options.only in (None, name):
                measure()
    except Failure as failure:
        sys.exit(f"scale: {failure}")
    finally:
        bench.stop()


if __name__ == "__main__":
    main()
