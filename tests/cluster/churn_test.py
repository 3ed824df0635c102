"""Two hundred policies are created, changed and deleted at random: what is left is what a fresh aggregator would make of it, and what a model says.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/churn_test.py --build build [TestName]
BINNACLE_SEED=N repeats a run.
"""

import contextlib
import json
import os
import random
import sys
import time

from support import heated
from support.heated import POLICIES, HeatedNodes, apply, ask, delete_policy, policy, requests
from trial import Failure, pod

PLANE = None
NAMES = [f"p{i:03}" for i in range(200)]
HEAT = {"n1": 10, "n2": 30, "n3": 50, "n4": 70}
SEED = int(os.environ.get("BINNACLE_SEED", random.randrange(1_000_000)))
ROUNDS, CHANGES = 3, 300
PREFIX = "telemetry.aware.scheduling."


def setUpModule():
    global PLANE
    PLANE = heated.begin_plane()


class Model:
    """What policies there are, and what follows from them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.specs = {}  # by name: (kinds, target, mode)

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
        return out

    def passing(self):
        """By policy, the nodes that pass. A policy that does not exist is listed, too, and passes all nodes."""
        out = {name: sorted(HEAT) for name in NAMES}
        for name, (kinds, target, mode) in self.specs.items():
            if "dontschedule" in kinds and mode == "Enforce":
                out[name] = sorted(set(HEAT) - set(self.hot(target)))
        return out

    def violating(self):
        """What each status says; in a dry run, too."""
        return {name: self.hot(target) for name, (_, target, _) in self.specs.items()}


class Churn(HeatedNodes):
    def all_labels(self):
        """By node and key; without the one that wakes pods which all_passing() saw refused everywhere."""
        return {(n["metadata"]["name"], key): value for n in ask("GET", "/api/v1/nodes")["items"]
                for key, value in n["metadata"].get("labels", {}).items() if key != "binnacle/wake"}

    def all_passing(self):
        with self.trial.scheduler() as scheduler:
            return {name: sorted(scheduler.call("filter", pod(f"web-{name}", name), list(HEAT))[0]["NodeNames"]) for name in NAMES}

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
        self.until_equal("who passes", self.all_passing, model.passing())
        self.until_equal("statuses", self.statuses, model.violating())

    def churn(self, model):
        """Changes in rounds, and what they cost the API server and the aggregator's memory."""
        kinds = ("LIST", "nodes"), ("LIST", "taspolicies"), ("PATCH", "nodes"), ("PATCH", "taspolicies", "status")
        before, memory, began = [requests(*kind) for kind in kinds], [], time.monotonic()
        for _ in range(ROUNDS):
            for _ in range(CHANGES):
                name, changed = model.change()
                apply(changed) if changed else delete_policy(name)
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
        print(f"\nBINNACLE_SEED={SEED}", file=sys.stderr)
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


if __name__ == "__main__":
    heated.run()
