"""The real kube-scheduler places pods by minimizepower on nodes that play servers of the power simulation (tests/bench/power): agents read their load
and their watts, the aggregator learns their curves from these, and the fleet then draws what the simulation says.

Run by scripts/check --full cluster, or by hand: meson compile -C build binnacle-power-fleet, then BINNACLE_CHECK_FULL=1 python3 tests/cluster/power_test.py --build build
"""

import collections
import json
import os
import statistics
import subprocess
import sys
import time
import unittest

from support.control_plane import ROOT, ControlPlane
from trial import Trial, pod, run_tests

sys.path.append(str(ROOT / "tests/support/machine"))
from played import Machine, Machines  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
KINDS = ("HPE DL380", "Fujitsu RX2540 M5", "HPE DL385")
EACH = 5  # nodes of a kind; each measures a fifth of the loads
POD_CORES, LOAD = 4, 0.5
SECONDS_A_SWEEP = 60  # so slow that a mean of ten seconds is at one load
ENOUGH = 10  # samples at a load, for it to count (predict/learning/estimate.hpp)


@unittest.skipUnless(os.environ.get("BINNACLE_CHECK_FULL") == "1", "takes four minutes, and CPUs that nobody else uses: scripts/check --full cluster")
class Power(unittest.TestCase):
    def setUp(self):
        self.plane, self.trial = ControlPlane(), Trial(BUILD)
        self.addCleanup(self.plane.stop)
        self.addCleanup(self.trial.stop)
        said = subprocess.run([BUILD / "tests/bench/power/binnacle-power-fleet", "--kinds", ",".join(KINDS), "--each", str(EACH), "--pod-cores",
                               str(POD_CORES), "--load", str(LOAD), "--max-load", "0.9"], check=True, capture_output=True, text=True, timeout=60)
        self.simulated = json.loads(said.stdout)
        self.servers = {f"{'abc'[kind]}{i}": server for kind, server in enumerate(self.simulated["servers"]) for i in range(EACH)}

    def watts(self, node, load):
        points = self.servers[node]["watts"]
        at = min(max(load, 0.0), 1.0) * (len(points) - 1)
        low = min(int(at), len(points) - 2)
        return points[low] + (at - low) * (points[low + 1] - points[low])

    def begin(self):
        plane, trial = self.plane, self.trial
        plane.begin()
        plane.start_controller_manager()
        plane.start_kwok()
        plane.install_crd()
        for node, server in self.servers.items():
            plane.add_node(node, cpu=str(server["cores"]), memory="1Ti")
        plane.apply({"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": "fewer-watts", "namespace": "default"},
                     "spec": {"strategies": {"minimizepower": {}}}})
        trial.make_certificates(list(self.servers))
        trial.start_aggregator("--kube-config", plane.kubeconfig)
        self.machines = {}
        for node, server in self.servers.items():
            # Two packages, which draw half of the server's watts each.
            machine = Machine(trial, node, server["cores"], lambda load, node=node: self.watts(node, load) / 2, server["name"])
            self.machines[node] = machine
            machine.start("--machine", "epyc", "--tick", "50ms")
        living = Machines(list(self.machines.values()))
        living.start()
        self.addCleanup(living.stop)
        pki = trial.pki
        said = trial.cli("scheduler-config", "-o", "json", "--kubernetes", plane.version(), "--url", f"https://localhost:{trial.ports['extender']}",
                         "--ca-file", pki / "server-ca.crt", "--cert-file", pki / "client-scheduler.crt", "--key-file", pki / "client-scheduler.key",
                         "--timeout", "30s", "--required")
        self.assertEqual(said.returncode, 0, said.stderr)
        plane.start_scheduler(json.loads(said.stdout))

    def known(self, node):
        status, text = self.trial.ask("ops", f"/api/v1/power/{node}")
        return json.loads(text) if status == 200 else {"model": None}

    def samples(self, node):
        """By the points of its curve, from idle to full; empty while it has none."""
        model = self.known(node)["model"]
        return [point["samples"] for point in model["curve"]] if model else []

    def learn(self):
        """The nodes of a kind go up and down a part of the loads each, until each load was measured by one of them; then all are idle."""
        began = time.monotonic()
        nodes = list(self.machines)

        def measured():
            for i, machine in enumerate(self.machines.values()):
                there_and_back = (time.monotonic() - began) / SECONDS_A_SWEEP % 2
                machine.load = (i % EACH + min(there_and_back, 2 - there_and_back)) / EACH
            time.sleep(0.2)
            kinds = [[self.samples(node) for node in nodes[i:i + EACH]] for i in range(0, len(nodes), EACH)]
            return all(all(kind) and min(map(max, list(zip(*kind))[1:])) >= ENOUGH for kind in kinds)
        self.trial.wait_for("each load to be measured", measured, 300)
        for machine in self.machines.values():
            machine.load = 0
        self.trial.wait_for("what the nodes draw when they are idle", lambda: not time.sleep(0.5) and all(self.samples(n)[0] >= ENOUGH for n in nodes), 180)
        self.until_loads({node: 0 for node in nodes})

    def until_loads(self, loads):
        """Until the means that scores are made of say so."""
        def shown():
            time.sleep(0.5)
            return all(abs(self.known(node).get("loadRatio", 9) - load) < 0.01 for node, load in loads.items())
        self.trial.wait_for("the loads to show", shown, 180)

    def places(self):
        items = json.loads(self.plane.request("GET", "/api/v1/namespaces/default/pods")[1])["items"]
        return collections.Counter(p["spec"]["nodeName"] for p in items if p["spec"].get("nodeName"))

    def place(self, count):
        """Until so many pods of the Deployment have a node; their load is on the nodes then."""
        self.plane.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}, "spec": {
            "replicas": count, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web", "telemetry-policy": "fewer-watts"}},
                "spec": {"schedulerName": "binnacle-scheduler", "terminationGracePeriodSeconds": 0, "containers": [
                    {"name": "app", "image": "app", "resources": {"requests": {"cpu": str(POD_CORES)}, "limits": {"telemetry/scheduling": "0"}}}]}}}})

        def placed():
            time.sleep(0.2)
            places = self.places()
            for node, machine in self.machines.items():
                machine.load = places[node] * POD_CORES / machine.cpus
            return sum(places.values()) == count
        self.plane.wait_for(f"{count} pods with a node", placed, 180)
        self.until_loads({node: machine.load for node, machine in self.machines.items()})

    def until_nothing_is_in_flight(self):
        """Until no pod counts any more beside the load that its node shows."""
        def none():
            probe = pod(f"probe-{time.monotonic_ns()}", "fewer-watts")
            probe["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "1m"}
            with self.trial.scheduler() as scheduler:
                scheduler.call("prioritize", probe, list(self.servers))
            time.sleep(0.5)
            said = self.trial.cli("why", f"default/{probe['metadata']['name']}", "-o", "json")
            nodes = json.loads(said.stdout)["decisions"][0]["nodes"]
            return all(node["power"]["inFlightCores"] < 1 for node in nodes)
        self.trial.wait_for("the end of what is in flight", none, 180)

    def test_a_fleet_that_is_filled_by_the_real_scheduler_draws_what_the_simulation_says(self):
        self.begin()
        self.learn()
        pods = self.simulated["pods"]
        self.place(pods // 2)
        self.until_nothing_is_in_flight()
        self.place(pods)
        drawn = sum(self.watts(node, machine.load) for node, machine in self.machines.items())
        looks = collections.deque(maxlen=10)

        def measured():
            """The mean of some looks: one reading of a played counter is as uneven as its ticks."""
            time.sleep(0.5)
            looks.append(sum(self.known(node).get("watts", 0) for node in self.servers))
            return len(looks) == looks.maxlen and abs(statistics.mean(looks) / drawn - 1) < 0.03
        self.trial.wait_for(f"the agents to measure {drawn:.0f} W", measured, 120)

        spread = self.simulated["spread"]
        saved, simulated, most = (100 * (1 - watts / spread) for watts in (drawn, self.simulated["chord"], self.simulated["optimum"]))
        farthest = max(abs(point["watts"] / self.watts(node, point["load"]) - 1) for node in self.servers for point in self.known(node)["model"]["curve"])
        print(f"\nlearned curves are at most {farthest:.1%} from the servers'; {pods} pods of {POD_CORES} cores on {len(self.servers)} nodes: {drawn:.0f} W, {saved:.1f} % less than spread; simulated "
              f"{simulated:.1f} %, optimum {most:.1f} %", file=sys.stderr)
        self.assertGreater(simulated, 5)  # else the comparison says nothing
        self.assertAlmostEqual(saved, simulated, delta=2)
        self.assertLessEqual(saved, most + 0.01)


if __name__ == "__main__":
    run_tests()
