"""Three replicas under churn of values and policies. Two of them are killed in turn, one is never killed: in the end all must say the same.

One of the two goes on from its own state file, the other one asks its peers. Each step changes one thing, often while a replica is dead, and ends when all replicas that live
agree. So what a replica cannot know (a value that came and went while it was dead) does not happen, and a slow machine only takes longer. A replica that never agrees fails
the test with what each one says.

Run by meson (suite integration), or by hand: python3 tests/integration/loop_churn_test.py --build build [--seed N]
"""

import json
import random
import signal
import sys

import loop
from loop import METRIC, policy
from trial import Failure, free_ports, pod, run_tests

SEED = random.randrange(1_000_000)
STEPS = 8
# Watts of a package, and what the node then draws: two packages, and a tenth more for their memory. All far from each other and from the targets.
LEVELS = {40: 88, 73: 160, 100: 220}
TARGETS = (60, 120, 190, 300)


def text_of(name, target, operator="GreaterThan", keys=0):
    """`hot` with what only time teaches (for, the band, the cool-down), the same through all edits but for the first rule. `keys`: 300 are too many."""
    rules = f"""    dontschedule:
      rules:
      - {{metricname: {METRIC}, operator: {operator}, target: {target}, for: 1s}}
    deschedule:
      coolDown: 1h
      rules:
      - {{metricname: {METRIC}, operator: GreaterThan, target: 190, clearBelow: 120, for: 1s}}
"""
    if keys:
        rules += "    labeling:\n      rules:\n"
        for first in range(0, keys, 60):
            labels = ", ".join(f'"k{key}=v"' for key in range(first, min(first + 60, keys)))
            rules += f"      - {{metricname: {METRIC}, operator: GreaterThan, target: 1000000, labels: [{labels}]}}\n"
    return policy(rules, name)


class Churn(loop.Loop):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        print(f"seed {SEED} (--seed {SEED} does the same again)", file=sys.stderr, flush=True)
        self.ports = {"aggregator": self.trial.ports, "by-file": free_ports(), "by-peers": free_ports()}
        self.more = {
            "aggregator": (),
            "by-file": ("--state", self.trial.folder / "state"),
            "by-peers": ("--state-from", ",".join(f"localhost:{self.ports[name]['ops']}" for name in ("aggregator", "by-file"))),
        }
        self.living = set(self.ports)

    def start_replica(self, name):
        self.trial.start_aggregator("--replica-id", name, *self.more[name], name=name, ports=self.ports[name])

    def says(self, name):
        """All that a scheduler, a descheduler or a person reads of policies at this replica, but for values."""
        ports = self.ports[name]
        policies = json.loads(self.trial.ask("ops", "/api/v1/policies", ports)[1])
        # What a policy takes is a figure of the moment at which policies were chosen last: it counts the nodes that were known then.
        out = {"policies": [{key: value for key, value in p.items() if key != "takes"} for p in policies["policies"]], "problems": policies["problems"],
               "conditions": sorted((c["policy"], c.get("strategy", ""), c["type"], c["message"]) for c in policies["conditions"]),
               "labels": json.loads(self.trial.ask("ops", "/api/v1/labels", ports)[1])["nodes"]}
        with self.trial.scheduler(ports) as scheduler:
            for of in ("hot", "warm-too"):
                answer, _ = scheduler.call("filter", pod("web", of), ["cool", "warm"])
                out[f"filter by {of}"] = sorted(answer["NodeNames"])
        return out

    def agree(self, what):
        """Waits until all that live say the same, and what `what` says of it; returns it."""
        said = {}

        def same():
            said.update({name: self.says(name) for name in self.living})
            first = said["aggregator"]
            return what(first) and all(said[name] == first for name in self.living)
        try:
            self.trial.wait_for("the replicas to agree", same)
        except Failure as why:
            each = "\n".join(f"--- {name}: {json.dumps(said.get(name))}" for name in sorted(self.living))
            raise Failure(f"seed {SEED}: the replicas that live do not agree\n{each}\n{why}") from None
        return said["aggregator"]

    def sees(self, name, node, watts):
        """Whether this replica has a value of the node that is near these watts."""
        values = {item["describedObject"]["name"]: item["value"] for item in self.trial.metric(METRIC, ports=self.ports[name])}
        value = values.get(node, "0")
        number = float(value[:-1]) / 1000 if value.endswith("m") else float(value)
        return abs(number - watts) < 15

    # What may happen

    def heat(self, _):
        node = self.random.choice(["cool", "warm"])
        level = self.random.choice([level for level in LEVELS if level != self.level[node]])
        self.level[node] = level
        self.trial.heat(node, level)

    def edit(self, step):
        """Writes another version of a policy: right, mistyped, torn, or too costly. Each one is seen in what replicas say."""
        name = self.random.choice(["hot", "warm-too"])
        kind = self.random.choice(["right", "mistyped", "torn", "costly"])
        if kind == "right":
            self.target[name] = self.random.choice([target for target in TARGETS if target != self.target[name]])
            text = text_of(name, self.target[name])
        elif kind == "mistyped":
            text = text_of(name, 1000 + step, operator=f"GreaterTham{step}")
        elif kind == "torn":
            text = "\n" * step + "{ torn\n" + text_of(name, 1000 + step)  # what is said of it names another line at each step
        else:
            text = text_of(name, 1000 + step, keys=300 + step)
        self.trial.write_policy(text, f"{name}.yaml")
        return f"{kind} {name}"

    # The test

    def due(self, said):
        """Whether what each `for: 1s` delays has come: all replicas must have seen a value for so long before the next one comes."""
        watts = {node: LEVELS[level] for node, level in self.level.items()}
        for p in said["policies"]:
            strategy = {s["strategy"]: s for s in p["strategies"]}
            target = int(strategy["dontschedule"]["rules"][0].split()[2])  # of a bad edit, the parts that are right count
            if said[f"filter by {p['name']}"] != sorted(node for node, of in watts.items() if of <= target):
                return False
            hot = {node for state in ("violating", "held") for node in strategy["deschedule"].get(state, {}).get("nodes", [])}
            if not all(node in hot if of > 190 else node not in hot if of < 120 else True for node, of in watts.items()):
                return False
        return True

    def settle(self):
        """All that live see the nodes' watts, and say the same twice: nothing is under way any more."""
        for name in self.living:
            for node, level in self.level.items():
                self.trial.wait_for(f"{name} to see {node}", lambda name=name, node=node, level=level: self.sees(name, node, LEVELS[level]))
        before = {}

        def quiet(first):
            was, before["said"] = before.get("said"), first
            return was == first and self.due(first)
        return self.agree(quiet)

    def wait_for_state(self):
        """A state file that was begun after all that has happened: the second one from now on."""
        state = self.trial.folder / "state"
        for _ in range(2):
            written = state.stat().st_mtime_ns if state.exists() else 0
            self.trial.wait_for("the state", lambda written=written: state.exists() and state.stat().st_mtime_ns > written)

    def test_replicas_that_are_killed_in_turn_say_what_one_says_that_never_was(self):
        self.level, self.target = {"cool": 40, "warm": 73}, {"hot": 190, "warm-too": 120}
        for name, target in self.target.items():
            self.trial.write_policy(text_of(name, target), f"{name}.yaml")
        for name in self.ports:
            self.start_replica(name)
        agents = [word for name in ("by-file", "by-peers") for word in ("--aggregator", f"localhost:{self.ports[name]['ingest']}")]
        for node, watts in self.level.items():
            self.trial.start_package(node, watts)
            self.trial.start_agent(node, "--sys-root", self.trial.sysroot(node), *agents)
        self.settle()

        log = []
        for step in range(STEPS):
            victim = (None, "by-peers", "by-file", "by-peers")[step % 4]
            before = self.says("aggregator")
            if victim == "by-file":
                self.wait_for_state()
            if victim:
                self.trial.end(victim, signal.SIGKILL)
                self.living.remove(victim)
            happens = self.random.choice([self.heat, self.edit])
            what = happens(step) or f"heat {self.level}"
            log.append(f"{step}: {what}" + (f" while {victim} is dead" if victim else ""))
            if what.startswith("heat"):
                self.settle()
            else:
                self.agree(lambda first, before=before: first["problems"] != before["problems"] or first["conditions"] != before["conditions"]
                           or first["policies"] != before["policies"])
            if victim:
                self.start_replica(victim)
                self.living.add(victim)
            said = self.settle()
        print("\n".join(log) + f"\nall say in the end: {json.dumps(said)}", file=sys.stderr, flush=True)
        self.assertEqual(len(self.living), 3)


if __name__ == "__main__":
    if "--seed" in sys.argv:
        at = sys.argv.index("--seed")
        SEED = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    run_tests(holder="loop")
