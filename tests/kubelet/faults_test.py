"""What goes wrong on a real node: an agent that is killed or hangs, a kubelet that is away, a node that is drained, a pod that cannot start; and a token that
the kubelet renews while an agent streams.

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/faults_test.py [TestName]
"""

import calendar
import json
import os
import re
import subprocess
import time
import unittest

import namespaces
import releases
from nodes import ROOT
from trial import run_tests

BUILD = ROOT / "build"
LAB = None
FULL = os.environ.get("BINNACLE_CHECK_FULL") == "1"


def setUpModule():
    global LAB
    LAB = releases.begin()


def agent_of(node):
    return next(pod for pod in releases.agents(LAB) if pod["spec"]["nodeName"] == node)


def age(node):
    """Seconds since the node's load was read, as the custom metrics API says; None where it has none."""
    code, text = LAB.request("GET", f"/apis/custom.metrics.k8s.io/v1beta2/nodes/{node}/os_load1")
    if code != 200:
        return None
    stamp = json.loads(text)["items"][0]["timestamp"]
    return time.time() - calendar.timegm(time.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S"))


def streams(node):
    seconds = age(node)
    return seconds is not None and seconds < 15


def everyone():
    return releases.agents(LAB) + releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler")


def all_ready():
    return len(everyone()) == 5 and all(releases.is_ready(pod) for pod in everyone())


def doctor_of_pods():
    """Every sentence and remedy of its check "pods", as an administrator of the cluster gets them."""
    done = subprocess.run([BUILD / "cli/binnacle", "doctor", "pods", "--kube-config", LAB.kubeconfig, "--timeout", "60", "-o", "json"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    return [(found["grade"], found["sentence"], found.get("remedy", "")) for found in json.loads(done.stdout)["findings"]]


# What an upgrade lacks, what the kubelet's or the scheduler's event then says, and what of it is in the doctor's remedy.
LACKS = {
    "an image": (("image.tag=absent",), "absent", "image.tag"),
    "a secret": (("aggregator.remoteWrite.url=https://localhost:1/write", "aggregator.remoteWrite.secret=absent", "aggregator.remoteWrite.files={ca.crt}"),
                 'secret "absent" not found', "create that secret in namespace binnacle"),
    "a device": (("agent.ipmi.enabled=true", "agent.ipmi.access=devicePlugin", "agent.ipmi.deviceResource=example.com/ipmi"),
                 "Insufficient example.com/ipmi", "agent.ipmi.deviceResource"),
}


class Faults(unittest.TestCase):
    def setUp(self):
        LAB.wait_for("all pods to be ready", all_ready, 300)
        self.before = sum(releases.restarts(LAB).values())

    def test_an_agent_that_is_killed_comes_back_and_streams(self):
        releases.signal(LAB, agent_of("n2"), "SIGKILL")
        LAB.wait_for("its restart", lambda: sum(releases.restarts(LAB).values()) == self.before + 1, 180)
        LAB.wait_for("its values", lambda: all_ready() and streams("n2"), 180)

    def test_an_agent_that_is_killed_for_its_memory_comes_back_and_streams(self):
        releases.fill_memory(LAB, agent_of("n1"))
        LAB.wait_for("its end for its memory", lambda: releases.was_killed_for_memory(agent_of("n1")), 180)
        LAB.wait_for("its values", lambda: all_ready() and streams("n1"), 180)

    def test_an_agent_that_is_deleted_or_evicted_is_replaced_by_one_that_streams(self):
        for how in (self.delete, self.evict):
            before = agent_of("n2")["metadata"]
            with self.subTest(how.__name__):
                how(before["name"], before["namespace"])
                LAB.wait_for("another", lambda: all_ready() and agent_of("n2")["metadata"]["uid"] != before["uid"], 180)
                LAB.wait_for("its values", lambda: streams("n2"), 120)

    @staticmethod
    def delete(name, namespace):
        LAB.kubectl("delete", "pod", name, "-n", namespace, "--wait=false")

    @staticmethod
    def evict(name, namespace):
        code, said = LAB.request("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/eviction",
                                 {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}})
        assert code == 201, said

    def test_an_agent_that_hangs_is_restarted_by_its_liveness_probe(self):
        releases.signal(LAB, agent_of("n2"), "SIGSTOP")
        LAB.wait_for("its restart", lambda: sum(releases.restarts(LAB).values()) == self.before + 1, 300)
        LAB.wait_for("its values", lambda: all_ready() and streams("n2"), 180)

    def test_a_kubelet_that_is_away_stops_no_agent(self):
        LAB.stop_program("n2")
        comes_back = time.monotonic() + (120 if FULL else 0)
        LAB.wait_for("the node not to be ready", lambda: "n2" not in LAB.ready_nodes(), 180)
        LAB.wait_for("two minutes without a kubelet", lambda: time.monotonic() > comes_back, 180)
        self.assertTrue(streams("n2"))
        LAB.start_program("n2")
        LAB.wait_for("all pods to be ready", all_ready, 300)
        self.assertEqual(sum(releases.restarts(LAB).values()), self.before)

    def test_a_pod_that_cannot_start_says_why_and_starts_when_it_can(self):
        code, said = LAB.helm("upgrade", "binnacle", releases.CHART, "--reuse-values", "--set", "agent.seccomp.type=Localhost", "--set",
                              "agent.seccomp.localhostProfile=binnacle-agent.json", "--wait", "--timeout", "20s", check=False)
        self.assertNotEqual(code, 0, said)
        LAB.wait_for("an event that names the profile", lambda: "binnacle-agent.json" in LAB.kubectl(
            "get", "events", "-n", "binnacle-agents", "-o", "jsonpath={.items[*].message}"), 120)
        LAB.wait_for("the doctor's remedy", lambda: any(
            grade == "failure" and "binnacle-agent.json" in sentence and "seccomp/README.md" in remedy for grade, sentence, remedy in doctor_of_pods()), 120)
        # As charts/binnacle/seccomp/README.md says.
        for node in LAB.names:
            folder = LAB.disk(node, "/var/lib/kubelet/seccomp")
            folder.mkdir(exist_ok=True)
            (folder / "binnacle-agent.json").write_bytes((releases.CHART / "seccomp/binnacle-agent.json").read_bytes())
        LAB.wait_for("agents under that profile", lambda: all_ready() and all(
            p["spec"]["containers"][0]["securityContext"]["seccompProfile"]["type"] == "Localhost" for p in releases.agents(LAB)), 300)
        LAB.wait_for("their values", lambda: streams("n1") and streams("n2"), 120)
        if namespaces.perfmon_suffices():
            # The system call that the runtime's own profile gives to CAP_PERFMON alone.
            LAB.wait_for("an event that the kernel counts for them", lambda: all(
                "pmu_context_switches_total" in releases.page_of(LAB, agent) for agent in releases.agents(LAB)), 60)
        LAB.helm("rollback", "binnacle", "--wait", "--timeout", "5m")

    def test_the_doctor_says_what_a_pod_lacks_that_cannot_start(self):
        self.assertEqual([grade for grade, _, _ in doctor_of_pods() if grade == "failure"], [])
        for what, (values, event, remedy) in LACKS.items():
            with self.subTest(what):
                LAB.helm("upgrade", "binnacle", releases.CHART, "--reuse-values", *(word for value in values for word in ("--set", value)))
                try:
                    LAB.wait_for("an event", lambda event=event: event in LAB.kubectl("get", "events", "-A", "-o", "jsonpath={.items[*].message}"), 120)
                    LAB.wait_for("the doctor's finding", lambda event=event, remedy=remedy: any(
                        grade == "failure" and event in sentence and remedy in said for grade, sentence, said in doctor_of_pods()), 180)
                finally:
                    LAB.helm("rollback", "binnacle", "--wait", "--timeout", "5m")
                LAB.wait_for("all pods to be ready", all_ready, 300)

    def test_the_doctor_says_why_an_agent_was_not_made(self):
        LAB.kubectl("label", "namespace", "binnacle-agents", "pod-security.kubernetes.io/enforce=restricted", "--overwrite")
        remedy = "kubectl label --overwrite namespace binnacle-agents pod-security.kubernetes.io/enforce=privileged"
        try:
            LAB.kubectl("delete", "pod", agent_of("n2")["metadata"]["name"], "-n", "binnacle-agents", "--wait=false")
            LAB.wait_for("the doctor's finding", lambda: any(
                grade == "failure" and "has 1 of 2 pods" in sentence and "violates PodSecurity" in sentence and remedy in said
                for grade, sentence, said in doctor_of_pods()), 180)
        finally:
            LAB.kubectl(*remedy.split()[1:])
        LAB.wait_for("all pods to be ready", all_ready, 300)

    @unittest.skipUnless(FULL, "takes eleven minutes: with scripts/check --full")
    def test_zz_in_eleven_quiet_minutes_a_token_is_renewed_and_nothing_restarts(self):
        # The shortest that Kubernetes gives; the kubelet renews it after four fifths of its life.
        volumes = LAB.get("daemonset", "binnacle-agent", "binnacle-agents")["spec"]["template"]["spec"]["volumes"]
        at = next(i for i, volume in enumerate(volumes) if volume["name"] == "token")
        LAB.kubectl("patch", "daemonset", "binnacle-agent", "-n", "binnacle-agents", "--type=json", "-p", json.dumps([
            {"op": "replace", "path": f"/spec/template/spec/volumes/{at}/projected/sources/0/serviceAccountToken/expirationSeconds", "value": 600}]))
        LAB.wait_for("the rollout", lambda: "successfully rolled out" in LAB.kubectl(
            "rollout", "status", "daemonset/binnacle-agent", "-n", "binnacle-agents", "--watch=false"), 300)
        LAB.wait_for("links to both replicas", lambda: len(self.links("n1")) == 2, 120)
        before = {pod["metadata"]["uid"] for pod in everyone()}
        ends = time.monotonic() + 660
        LAB.wait_for("more than the token's life", lambda: time.monotonic() > ends, 700)
        self.assertTrue(streams("n1"))
        self.assertEqual(len(self.links("n1")), 2)
        self.assertEqual({pod["metadata"]["uid"] for pod in everyone()}, before)
        self.assertEqual(sum(releases.restarts(LAB).values()), self.before)

    @staticmethod
    def links(node):
        """Lines of the agent's log, one for each link that came about."""
        meta = agent_of(node)["metadata"]
        return re.findall("connected to replica .*", LAB.kubectl("logs", "-n", meta["namespace"], meta["name"]))


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
