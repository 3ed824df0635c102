"""Two hundred policies are created, changed and deleted at random: what is left is what a fresh aggregator would make of it, and what a model says.
So it is with three replicas two of which are killed in turn meanwhile; the third never is.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/churn_test.py --build build [TestName]
BINNACLE_SEED=N repeats a run.
"""

import contextlib
import json
import os
import random
import signal
import sys
import time

from support import heated
from support.heated import POLICIES, HeatedNodes, Watch, apply, ask, delete_policy, policy, requests
from trial import Failure, free_ports, pod

PLANE = None
NAMES = [f"p{i:03}" for i in range(200)]
BAND = "band"  # once above 60 a node must cool down to 40: in between, only a memory knows the verdict
HEAT = {"n1": 10, "n2": 30, "n3": 50, "n4": 70}
SEED = int(os.environ.get("BINNACLE_SEED", random.randrange(1_000_000)))
ROUNDS, CHANGES, KILLS = 3, 300, 6
PREFIX = "telemetry.aware.scheduling."


def setUpModule():
    global PLANE
    PLANE = heated.begin_plane()


class Model:
    """What policies there are, and what follows from them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.specs = {}  # by name: (kinds, target, mode)
        self.above_band = []  # nodes that violate policy BAND, if there is one

    def change(self):
        """Makes one change; its name and the policy, None for deleted."""
        name = self.random.choice(NAMES)
        if name in self.specs and self.random.random() < 0.4:
            del self.specs[name]
            return name, None
        kinds = frozenset(self.random.sample(("dontschedule", "deschedule", "labeling"), self.random.randint(1, 3)))
        self.specs[name] = kinds, self.random.choice((0, 20, 40, 60, 80)), self.random.choice(("Enforce", "Enforce", "Enforce", "DryRun"))
        return name, self.policy(name)

    def policy(self, name):
        kinds, target, mode = self.specs[name]
        rule = {"metricname": "heat", "operator": "GreaterThan", "target": target}
        return policy({kind: {"rules": [dict(rule, labels=["heat=high"]) if kind == "labeling" else rule]} for kind in kinds}, name, mode=mode)

    @staticmethod
    def hot(target):
        return sorted(node for node, heat in HEAT.items() if heat > target)

    def labels(self):
        out = {node: {} for node in HEAT}
        for name, (kinds, target, mode) in self.specs.items():
            for node in self.hot(target) if mode == "Enforce" else ():
                if "deschedule" in kinds:
                    out[node][name] = "violating"
                if "labeling" in kinds:
                    out[node][f"{PREFIX}{name}/heat"] = "high"
        for node in self.above_band:
            out[node][BAND] = "violating"
        return out

    def passing(self):
        """By policy, the nodes that pass. A policy that does not exist is listed, too, and passes all nodes."""
        out = {name: sorted(HEAT) for name in NAMES}
        out[BAND] = sorted(set(HEAT) - set(self.above_band))
        for name, (kinds, target, mode) in self.specs.items():
            if "dontschedule" in kinds and mode == "Enforce":
                out[name] = sorted(set(HEAT) - set(self.hot(target)))
        return out

    def violating(self):
        """What each status says; in a dry run, too."""
        out = {name: self.hot(target) for name, (_, target, _) in self.specs.items()}
        return {**out, BAND: self.above_band} if self.above_band else out


class Churn(HeatedNodes):
    def setUp(self):
        super().setUp()
        self.ports = {"aggregator": self.trial.ports}  # of each replica
        print(f"\nBINNACLE_SEED={SEED}", file=sys.stderr)

    def start_agent(self, name, *more):
        others = [word for ports in list(self.ports.values())[1:] for word in ("--aggregator", f"localhost:{ports['ingest']}")]
        super().start_agent(name, *others, *more)

    def start_replica(self, name):
        others = ",".join(f"localhost:{ports['ops']}" for other, ports in self.ports.items() if other != name)
        self.trial.start_aggregator("--kube-config", self.kubeconfig, "--replica-id", name, "--state-from", others, name=name, ports=self.ports[name])

    def all_labels(self):
        """By node and key; without the one that wakes pods which all_passing() saw refused everywhere."""
        return {(n["metadata"]["name"], key): value for n in ask("GET", "/api/v1/nodes")["items"]
                for key, value in n["metadata"].get("labels", {}).items() if key != "binnacle/wake"}

    def all_passing(self, replica="aggregator"):
        with self.trial.scheduler(self.ports[replica]) as scheduler:
            return {name: sorted(scheduler.call("filter", pod(f"web-{name}", name), list(HEAT))[0]["NodeNames"]) for name in (*NAMES, BAND)}

    def statuses(self):
        """Who violates, by policy; None where the status is not of the newest generation."""
        return {item["metadata"]["name"]: sorted(item.get("status", {}).get("violating", []))
                if item.get("status", {}).get("observedGeneration") == item["metadata"]["generation"] else None
                for item in ask("GET", POLICIES.format("default"))["items"]}

    def in_force(self):
        """Our own list of policies with their rules and who violates them."""
        return json.loads(self.trial.ask("ops", "/api/v1/policies")[1])

    def until_equal(self, what, found, wanted):
        """A difference that stays is shown, not all of it."""
        with contextlib.suppress(Failure):
            self.until(what, lambda: found() == wanted, 300)
        now = found()
        self.assertEqual([(key, now.get(key), wanted.get(key)) for key in sorted(now.keys() | wanted.keys()) if now.get(key) != wanted.get(key)], [], what)

    def until_as_in(self, model):
        wanted = {(node, key): value for node, labels in model.labels().items() for key, value in labels.items()}
        self.until_equal("labels", self.all_labels, wanted)
        for replica in self.ports:
            self.until_equal(f"who passes at {replica}", lambda replica=replica: self.all_passing(replica), model.passing())
        self.until_equal("statuses", self.statuses, model.violating())

    @staticmethod
    def change(model, times):
        for _ in range(times):
            name, changed = model.change()
            apply(changed) if changed else delete_policy(name)

    def churn(self, model):
        """Changes in rounds, and what they cost the API server and the aggregator's memory."""
        kinds = ("LIST", "nodes"), ("LIST", "taspolicies"), ("PATCH", "nodes"), ("PATCH", "taspolicies", "status")
        before, memory, began = [requests(*kind) for kind in kinds], [], time.monotonic()
        for _ in range(ROUNDS):
            self.change(model, CHANGES)
            memory.append(self.number("binnacle_aggregator_resident_bytes"))
        node_lists, policy_lists, node_patches, statuses = (requests(*kind) - b for kind, b in zip(kinds, before))
        took = time.monotonic() - began
        print(f"{ROUNDS * CHANGES} changes in {took:.0f} s, {len(model.specs)} policies left: {node_patches:.0f} patches of nodes, {statuses:.0f} statuses, "
              f"memory {', '.join(f'{m / 2**20:.0f}' for m in memory)} MiB", file=sys.stderr)
        self.assertEqual((node_lists, policy_lists), (0, 0), "nothing is listed anew because a policy changes")
        self.assertLessEqual(node_patches, len(HEAT) * (took + 1), "one a second for each node")
        self.assertLessEqual(statuses, 10 * (took + 1), "ten a second")
        self.assertLess(memory[-1], 1.3 * memory[0], "as much after all rounds as after the first, but for a third")

    def test_churn_leaves_what_a_fresh_aggregator_makes_of_it(self):
        model = Model(SEED)
        self.begin(HEAT)
        self.until_led()
        self.churn(model)
        self.until_as_in(model)

        before = self.in_force()
        self.trial.end("aggregator")
        self.start_aggregator()
        self.until_led()
        self.until("the same policies and verdicts", lambda: self.in_force() == before, 120)
        self.until_as_in(model)
        model.specs["marker"] = frozenset({"deschedule"}), 0, "Enforce"
        apply(model.policy("marker"))
        self.until_as_in(model)
        self.assertEqual(self.number('binnacle_node_patches_total{outcome="written"}'), len(HEAT), "the marker's: it found nothing else to write")

        for name in list(model.specs):
            model.specs.pop(name)
            delete_policy(name)
        self.until_as_in(model)
        self.until("no annotation left", lambda: not any(self.listed(node) for node in HEAT))
        self.assertEqual(self.in_force()["policies"], [])

    def test_replicas_that_are_killed_in_turn_say_what_one_says_that_never_was(self):
        model = Model(SEED)
        victims = "one", "two"
        self.ports |= {name: free_ports() for name in victims}
        self.trial.make_certificates(HEAT)
        for name in self.ports:
            self.start_replica(name)
        for node, heat in (HEAT | {"n3": 70}).items():
            self.add_node(node)
            self.heat(node, heat)
            self.start_agent(node)
        rules = {"rules": [{"metricname": "heat", "operator": "GreaterThan", "target": 60, "clearBelow": "40"}]}
        apply(policy({"dontschedule": rules, "deschedule": rules}, BAND))
        model.above_band = ["n3", "n4"]
        self.until("labels", lambda: self.violating(BAND) == model.above_band)
        for replica in self.ports:
            self.until(f"{replica} to refuse them", lambda replica=replica: self.all_passing(replica)[BAND] == ["n1", "n2"])
        self.heat("n3", HEAT["n3"])
        for name, ports in self.ports.items():
            self.until(f"{name} to know the heat of n3",
                       lambda ports=ports: [item["value"] for item in self.trial.metric("heat", "n3", ports)] == [str(HEAT["n3"])])

        watch, leads = Watch(BAND), []
        for number in range(KILLS):
            victim = victims[number % 2]
            self.change(model, model.random.randrange(CHANGES // KILLS))
            leads.append("binnacle_kubernetes_leads 1" in self.trial.ask("ops", "/metrics", self.ports[victim])[1])
            self.trial.end(victim, signal.SIGKILL)
            self.change(model, CHANGES // KILLS)
            self.start_replica(victim)
            self.change(model, model.random.randrange(CHANGES // KILLS))
            self.until(f"{victim} to be ready", lambda victim=victim: self.trial.ask("ops", "/readyz", self.ports[victim])[0] == 200, 120)
            self.assertEqual(self.all_passing(victim)[BAND], ["n1", "n2"], f"{victim} has the memory as soon as it is ready")
            if number % 2:
                self.until_as_in(model)
        print(f"killed {KILLS} times, of these {sum(leads)} while it led", file=sys.stderr)
        self.assertEqual({node: watch.values(node) for node in HEAT}, {"n1": [None], "n2": [None], "n3": ["violating"], "n4": ["violating"]})


if __name__ == "__main__":
    heated.run()
