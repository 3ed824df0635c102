"""Rollouts, upgrades and switches of mode on real nodes, under a client that asks all the time: no answer is empty, late or wrong.

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/rollout_test.py [TestName]
"""

import base64
import contextlib
import datetime
import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import time
import unittest

import namespaces
import probe
import releases
from nodes import BRIDGE, HERE, ROOT
from trial import PATIENCE, Failure, run_tests

BUILD = ROOT / "build"
LAB = None
FULL = os.environ.get("BINNACLE_CHECK_FULL") == "1"
HOT = {"rules": [{"metricname": "heat", "operator": "GreaterThan", "target": 50, "staleAfter": "10m"}]}
# Once above 50 it takes less than 30 to clear: between them only a memory knows the verdict.
FEVER = {"rules": [{"metricname": "fever", "operator": "GreaterThan", "target": 50, "clearBelow": "30", "staleAfter": "10m"}]}


def policy(name, rules):
    return {"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": name, "namespace": "default"},
            "spec": {"strategies": {"dontschedule": rules}}}


def setUpModule():
    begin(releases.begin())


def begin(lab):
    """Policies and what they judge, and what a client takes to ask, where the chart is installed."""
    global LAB
    LAB = lab
    LAB.apply(policy("no-heat", HOT), policy("no-fever", FEVER))
    releases.give_number(LAB, "n1", "heat", 40)
    releases.give_number(LAB, "n2", "heat", 60)
    for who in ("scheduler-client", "client"):
        for key, text in LAB.get("secret", f"binnacle-{who}", "binnacle")["data"].items():
            (LAB.folder / f"{who}-{key}").write_bytes(base64.b64decode(text))
    LAB.wait_for("all replicas to know both nodes' heat", all_know, 120)


def replica(pod, port):
    """One replica's port, asked by the address of its pod."""
    return probe.Server(f"{pod['status']['podIP']}:{port}", probe.NAME, *files("scheduler-client" if port == 9001 else "client"))


def files(who):
    """Of a caller: the scheduler's certificate opens the extender alone, the other everything else."""
    return [LAB.folder / f"{who}-{name}" for name in ("ca.crt", "tls.crt", "tls.key")]


def answer(question):
    """What a question gives once it is answered: a machine under load may take longer than the client waits."""
    def tried():
        try:
            return [question()]
        except probe.Unanswered:
            return None
    return LAB.wait_for("an answer", tried, 60)[0]


def fever_of_n1(pod):
    return answer(lambda: replica(pod, 6443).ask("GET", "/apis/custom.metrics.k8s.io/v1beta2/nodes/n1/fever")["items"][0]["value"])


def said_by(pod):
    return LAB.kubectl("logs", "-n", "binnacle", pod["metadata"]["name"])


def logs_of_all():
    """Of every aggregator, and of the container before, where there was one: which state each went on from."""
    def one(pod, *which):
        code, text = LAB.kubectl("logs", "-n", "binnacle", pod["metadata"]["name"], *which, check=False)
        return text if code == 0 else ""
    return "\n".join(f"--- {pod['metadata']['name']}\n{one(pod, '--previous')}--- and since it began again\n{one(pod)}" for pod in replicas())


def replicas():
    return [pod for pod in releases.pods(LAB, "aggregator") if releases.is_ready(pod)]


def all_know(number=2):
    return len(replicas()) == number and releases.metric(LAB, "heat") == {"n1": "40", "n2": "60"}


def into_the_band():
    """All replicas refuse n1 because of a fever that has gone down since: what only a memory knows."""
    releases.give_number(LAB, "n1", "fever", 60)
    LAB.wait_for("all replicas to refuse n1", lambda: all(passing(pod) == ["n2"] for pod in replicas()), 60)
    releases.give_number(LAB, "n1", "fever", 40)
    LAB.wait_for("all replicas to know of 40", lambda: {fever_of_n1(pod) for pod in replicas()} == {"40"}, 60)


def passing(pod):
    """The nodes that this replica lets pods run on that are to keep away from fever."""
    return passing_by(pod, "no-fever")


def passing_by(pod, name):
    return answer(lambda: probe.passing(replica(pod, 9001), name))


@contextlib.contextmanager
def client(case, may_be_away=False, agents_may_be_away=False):
    """Asks while the body runs. All questions must have been answered, unless the aggregator may be away, and all answers must have been right, but
    that a node is missing from a metric while its agent is away. Yields a dictionary which then has the counts."""
    total = {}
    service = LAB.get("service", "binnacle", "binnacle")["spec"]["clusterIP"]
    command = ["ip", "netns", "exec", "n1", sys.executable, HERE / "probe.py", f"{BRIDGE}:{LAB.port}", LAB.pki / "ca.crt", LAB.pki / "admin.crt",
               LAB.pki / "admin.key", f"{service}:9001", *files("scheduler-client")]
    with open(LAB.folder / "probe.log", "w", encoding="utf-8") as log:
        asking = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield total
    finally:
        asking.send_signal(signal.SIGTERM)
        asking.wait(60)
    lines = (LAB.folder / "probe.log").read_text().splitlines()
    total.update(json.loads(lines[-1]))
    print(f"the client: {total}", file=sys.stderr)
    case.assertGreater(total["asked"], 0)
    wrong = [line for line in lines[:-1] if "wrong" in line and not (agents_may_be_away and "AssertionError: 1 items" in line)]
    case.assertEqual(wrong, [])
    if not may_be_away:
        case.assertEqual(total["unanswered"], 0, "\n".join(lines[:10]))
        case.assertLess(total["extender"]["p99"], probe.PATIENCE * PATIENCE, "the scheduler waits no longer")


def restart(kind, name, namespace):
    LAB.kubectl("rollout", "restart", f"{kind}/{name}", "-n", namespace)

    def done():
        code, text = LAB.kubectl("rollout", "status", f"{kind}/{name}", "-n", namespace, "--watch=false", check=False)
        return code == 0 and "successfully rolled out" in text
    LAB.wait_for(f"the rollout of {name}", done, 300)


class KilledAtRandom(unittest.TestCase):
    """Pods of all kinds, by all means, so often that the kubelet makes some of them wait before it starts them again."""

    def test_no_answer_is_wrong_and_all_is_well_afterwards(self):
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        LAB.wait_for("both replicas", all_know, 120)
        into_the_band()
        print(f"the order of this seed: {seed}", file=sys.stderr)
        ends, done = time.monotonic() + (600 if FULL else 60), []
        with client(self, may_be_away=True, agents_may_be_away=True) as total:
            while time.monotonic() < ends:
                done.append(self.kill_one(chance))
                print(f"{datetime.datetime.now():%T} {done[-1]}", file=sys.stderr)
                wakes = time.monotonic() + chance.uniform(2, 12)
                LAB.wait_for("the next", lambda wakes=wakes: time.monotonic() > wakes, 60)
            LAB.wait_for("all pods to be ready", self.all_ready, 600)
            LAB.wait_for("both replicas to know both nodes", all_know, 120)
        print(f"{len(done)} killed: {sorted(done)}", file=sys.stderr)
        self.assertLess(total["unanswered"], total["asked"] / 20)
        # It was true of every replica before, and at least one was there all the time.
        for name, right in (("no-fever", ["n2"]), ("no-heat", ["n1"])):
            for pod in replicas():
                if (said := passing_by(pod, name)) != right:
                    self.fail(f"{name}: {pod['metadata']['name']} passes {said}, not {right}\n{logs_of_all()}")
        for pod in replicas():
            self.assertNotIn("two agents with one identity", said_by(pod))

    def kill_one(self, chance):
        component, how = chance.choice(["agent", "aggregator", "scheduler"]), chance.choice(["SIGKILL", "SIGTERM", "delete", "delete at once"])
        # n1's agent is spared: a node without data for ten seconds loses what dontschedule remembers of it.
        agents = [pod for pod in releases.agents(LAB) if pod["spec"]["nodeName"] != "n1"]
        found = [pod for pod in (agents if component == "agent" else releases.pods(LAB, component)) if releases.is_ready(pod)]
        if not found or component == "aggregator" and len(found) == 1:  # nobody answers for the last one
            return "nobody"
        pod = chance.choice(found)
        try:
            if how.startswith("SIG"):
                releases.signal(LAB, pod, how)
            else:
                LAB.kubectl("delete", "pod", pod["metadata"]["name"], "-n", pod["metadata"]["namespace"], "--wait=false",
                            *(["--grace-period=0", "--force"] if how == "delete at once" else []))
        except Failure:
            return "was gone"  # it ended by itself: an earlier wish was still on its way
        return f"{component} by {how}"

    @staticmethod
    def all_ready():
        everyone = releases.agents(LAB) + releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler")
        return len(everyone) == 5 and all(releases.is_ready(pod) for pod in everyone)


class UnderAClient(unittest.TestCase):
    def test_1_five_rollouts_of_the_aggregator(self):
        with client(self):
            for number in range(5):
                with self.subTest(number=number):
                    restart("deployment", "binnacle-aggregator", "binnacle")
        for pod in releases.pods(LAB, "aggregator"):
            self.assertNotIn("replace one another", said_by(pod))

    def test_2_an_upgrade_that_replaces_aggregators_and_agents_at_once(self):
        before = {pod["metadata"]["uid"] for pod in releases.agents(LAB)}
        with client(self):
            releases.upgrade(LAB, "--set", "aggregator.settings.log-level=debug", "--set", "agent.settings.log-level=debug")
            LAB.wait_for("new agents", lambda: len({pod["metadata"]["uid"] for pod in releases.agents(LAB) if releases.is_ready(pod)} - before) == 2, 300)
            LAB.wait_for("both replicas", all_know, 300)

    def test_3_a_replica_that_is_killed(self):
        killed = releases.pods(LAB, "aggregator")[0]["metadata"]["name"]
        before = releases.restarts(LAB)[killed]
        releases.signal(LAB, LAB.get("pod", killed, "binnacle"), "SIGKILL")
        LAB.wait_for("its successor", lambda: releases.restarts(LAB)[killed] == before + 1 and all_know(), 300)

    def test_4_a_new_pod_goes_on_from_another_replica_s_state(self):
        LAB.wait_for("both replicas", all_know, 120)
        into_the_band()
        gone, stays = replicas()
        names = {gone["metadata"]["name"], stays["metadata"]["name"]}
        began = time.monotonic()
        LAB.kubectl("delete", "pod", gone["metadata"]["name"], "-n", "binnacle", "--wait=false")
        fresh = LAB.wait_for("its successor", lambda: next((pod for pod in replicas() if pod["metadata"]["name"] not in names), None), 120)
        took = time.monotonic() - began
        answers = [passing(pod) for pod in (stays, fresh)]
        print(f"a successor was ready {took:.1f} s after its predecessor was deleted", file=sys.stderr)
        self.assertEqual(answers, [["n2"], ["n2"]], f"the log of the successor:\n{said_by(fresh)}")
        # Of the one that stays, or of the one that is just ending.
        self.assertRegex(said_by(fresh), r"goes on from the state of replica \S+:9102: ")
        self.assertIn('binnacle_state_origin_info{origin="replica"} 1', replica(fresh, 9102).ask("GET", "/metrics"))

    def test_5_agents_privileged_and_hardened_again(self):
        for mode, privileged in (("privileged", True), ("hardened", False)):
            with self.subTest(mode):
                releases.upgrade(LAB, "--set", f"agent.mode={mode}")
                LAB.wait_for("agents that are ready", lambda: len([p for p in releases.agents(LAB) if releases.is_ready(p)]) == 2, 300)
                self.assertEqual({p["spec"]["containers"][0]["securityContext"]["privileged"] for p in releases.agents(LAB)}, {privileged})
                LAB.wait_for("their values", all_know, 120)

    # The block of commands of images/README.md itself.
    def test_6_images_pinned_by_digest_without_a_registry(self):
        text = (ROOT / "images/README.md").read_text()
        commands = text[text.index("**Pinned by digest"):].split("```sh\n", 1)[1].split("```", 1)[0].splitlines()
        pinned = {}
        for archive in releases.IMAGES:
            with tarfile.open(archive) as tar:
                digest = json.load(tar.extractfile("./index.json"))["manifests"][0]["digest"]
            part = archive.name.removeprefix("binnacle-").removesuffix(".oci.tar")
            image = f"localhost/binnacle/binnacle-{part}"
            pinned[part] = f"{image}@{digest}"
            command, = (line.replace("sha256:…", digest) for line in commands if f"{image}:" in line)
            self.assertTrue(command.endswith(pinned[part]), command)
            for node in LAB.names:
                LAB.on_node(node, *command.split())
        releases.upgrade(LAB, *(word for part, name in pinned.items() for word in ("--set", f"image.digests.{part}={name.partition('@')[2]}")))
        LAB.wait_for("both replicas", all_know, 300)
        self.assertEqual({p["spec"]["containers"][0]["image"] for p in releases.agents(LAB)}, {pinned["agent"]})
        self.assertEqual({p["spec"]["containers"][0]["image"] for p in replicas()}, {pinned["aggregator"]})

    def test_7_a_replica_that_is_killed_for_its_memory_comes_back_and_the_other_goes_on(self):
        LAB.wait_for("both replicas", all_know, 120)
        killed, other = replicas()
        name, before = killed["metadata"]["name"], sum(releases.restarts(LAB).values())
        with client(self, may_be_away=True):
            releases.fill_memory(LAB, killed)
            self.assertEqual(passing_by(other, "no-heat"), ["n1"])
            LAB.wait_for("its end for its memory", lambda: releases.was_killed_for_memory(LAB.get("pod", name, "binnacle")), 180)
            LAB.wait_for("both replicas", all_know, 300)
        self.assertEqual(sum(releases.restarts(LAB).values()), before + 1)
        self.assertEqual([passing_by(pod, "no-heat") for pod in replicas()], [["n1"], ["n1"]])

    # Agents dialled as many replicas as those that were there had been told of, so that the third one became ready without any.
    def test_8_a_new_replica_knows_all_when_it_becomes_ready(self):
        LAB.wait_for("both replicas", all_know, 120)
        before = {pod["metadata"]["uid"] for pod in replicas()}
        ways = (("kubectl scale", 3, lambda number: LAB.kubectl("scale", "deployment/binnacle-aggregator", "-n", "binnacle", f"--replicas={number}")),
                ("helm upgrade", 5, lambda number: releases.upgrade(LAB, "--set", f"aggregator.replicas={number}")))
        for way, most, scale in ways:
            with self.subTest(way), client(self):
                began = time.monotonic()
                scale(most)
                fresh = LAB.wait_for("a new replica that is ready", lambda before=before: [p for p in replicas() if p["metadata"]["uid"] not in before], 300)
                print(f"{way}: a new replica was ready after {time.monotonic() - began:.1f} s", file=sys.stderr)
                self.assertEqual([passing_by(pod, "no-heat") for pod in fresh], [["n1"]] * len(fresh))
                LAB.wait_for(f"{most} replicas", lambda most=most: all_know(most), 300)
                self.assertEqual([passing_by(pod, "no-heat") for pod in replicas()], [["n1"]] * most)
                scale(2)
                LAB.wait_for("two replicas", lambda: all_know(2), 300)
            before = {pod["metadata"]["uid"] for pod in replicas()}

    # Each node in turn, so that all that left the first comes back to it.
    def test_9_nodes_that_are_drained_and_come_back(self):
        for node, other in (("n2", "n1"), ("n1", "n2")):
            self.addCleanup(LAB.kubectl, "uncordon", node)
            with self.subTest(node), client(self):
                LAB.kubectl("cordon", node)

                def moved(node=node, other=other):
                    LAB.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=5s", check=False)
                    return KilledAtRandom.all_ready() and {p["spec"]["nodeName"] for p in releases.pods(LAB, "aggregator")} == {other}
                LAB.wait_for(f"all aggregators on {other}", moved, 300)
                LAB.wait_for("all to know both nodes", all_know, 120)  # the agent of the drained node goes on
                LAB.kubectl("uncordon", node)
        self.assertEqual({p["spec"]["nodeName"] for p in replicas()}, {"n2"})

    # It became ready without agents, which have a link to one replica if there is one, and passed hot nodes for six seconds.
    def test_z_an_only_replica_that_is_rolled_out_gives_no_wrong_answer_and_forgets_nothing(self):
        releases.upgrade(LAB, "--set", "aggregator.replicas=1")
        LAB.wait_for("one replica", lambda: len(releases.pods(LAB, "aggregator")) == 1 and all_know(1), 300)
        into_the_band()
        with client(self, may_be_away=True):
            restart("deployment", "binnacle-aggregator", "binnacle")
            LAB.wait_for("its successor", lambda: all_know(1), 300)
        self.assertEqual([passing(pod) for pod in replicas()], [["n2"]])


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
