"""The chart on real nodes, installed by helm from the archives that scripts/images makes: what only a kubelet and a container runtime show.

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/install_test.py [TestName]
"""

import datetime
import json
import unittest

import namespaces
import releases
from nodes import ROOT
from trial import run_tests

BUILD = ROOT / "build"
LAB = None
PERFMON = 1 << 38  # linux/capability.h


def setUpModule():
    global LAB
    LAB = releases.begin()


def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def status_of(pod):
    """/proc/ID/status of that process, as words by name."""
    node, number = releases.process(LAB, pod)
    lines = LAB.on_node(node, "cat", f"/proc/{number}/status").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


class Installed(unittest.TestCase):
    def test_1_all_pods_are_ready_and_helm_test_passes_and_shows_its_logs(self):
        def unready():
            return [p["metadata"]["name"] for p in everyone() if not releases.is_ready(p)]

        def everyone():
            return [pod for namespace in ("binnacle", "binnacle-agents") for pod in LAB.get("pods", namespace=namespace)]
        self.assertEqual(sorted(p["metadata"]["labels"]["app.kubernetes.io/component"] for p in everyone()), ["agent"] * 2 + ["aggregator"] * 2 + ["scheduler"])
        # helm waited; of the aggregators for all but the one that a rollout may take away (the chart's README says so).
        self.assertLessEqual(len(unready()), 1, unready())
        LAB.wait_for("the last of them", lambda: not unready(), 60)
        said = LAB.helm("test", "binnacle", "--logs")
        self.assertIn("Phase:          Succeeded", said)
        self.assertIn("POD LOGS: binnacle-test-doctor", said)
        self.assertNotIn("unchecked", said)  # the doctor's account has all the rights that its questions take

    def test_2_agents_stream_with_the_token_that_the_kubelet_projected(self):
        LAB.wait_for("the memory of both nodes", lambda: set(releases.metric(LAB, "os_memory_available_bytes")) == {"n1", "n2"}, 60)
        log = LAB.kubectl("logs", "-n", "binnacle-agents", "-l", "app.kubernetes.io/component=agent", "--tail=-1")
        self.assertIn("connected to replica", log)

    def test_3_agents_read_what_the_host_has(self):
        LAB.wait_for("its load", lambda: set(releases.metric(LAB, "os_load1")) == {"n1", "n2"}, 60)
        releases.give_number(LAB, "n1", "heat", 7)
        LAB.wait_for("a textfile metric", lambda: releases.metric(LAB, "heat", "n1") == {"n1": "7"}, 60)

    def test_4_an_agent_is_user_0_with_perfmon_alone_and_nobody_else_is_user_0(self):
        for pod in releases.agents(LAB):
            status = status_of(pod)
            with self.subTest(pod["metadata"]["name"]):
                self.assertEqual(status["Uid"].split()[1], "0")
                self.assertEqual([int(status[which], 16) for which in ("CapEff", "CapPrm", "CapBnd")], [PERFMON] * 3)
                self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        for pod in releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler"):
            status = status_of(pod)
            with self.subTest(pod["metadata"]["name"]):
                self.assertEqual(status["Uid"].split()[1], "65532")
                self.assertEqual([int(status[which], 16) for which in ("CapEff", "CapPrm", "CapBnd")], [0] * 3)
                self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))

    def test_5_its_root_and_the_host_s_folders_are_read_only(self):
        for pod in releases.agents(LAB):
            node, number = releases.process(LAB, pod)
            mounts = [line.split() for line in LAB.on_node(node, "cat", f"/proc/{number}/mounts").splitlines()]
            options = {where: how.split(",") for _, where, _, how, *_ in mounts}
            writable = [where for where in options if "rw" in options[where] and (where == "/" or where.startswith("/host"))]
            self.assertEqual(writable, [])
            self.assertIn("/host/sys", options)
            self.assertIn("/host/proc", options)

    def test_6_processes_have_the_programs_names(self):
        for component, name in (("agent", "binnacle-agent"), ("aggregator", "binnacle-aggreg")):  # the kernel keeps 15 characters
            for pod in releases.agents(LAB) if component == "agent" else releases.pods(LAB, component):
                self.assertEqual(status_of(pod)["Name"], name)

    def test_7_the_log_begins_when_the_container_does(self):
        for pod in releases.agents(LAB) + releases.pods(LAB, "aggregator"):
            meta = pod["metadata"]
            first = LAB.kubectl("logs", "-n", meta["namespace"], meta["name"], "--timestamps").split()[0]
            began = pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
            # A buffer that fills slowly would take minutes; a machine under load takes seconds.
            self.assertLess((time_of(first) - time_of(began)).total_seconds(), 10, meta["name"])

    def test_8_nothing_has_restarted(self):
        self.assertEqual({pod: count for pod, count in releases.restarts(LAB).items() if count}, {})

    def test_9_pods_end_in_order_and_within_their_grace_period(self):
        for pod in (releases.agents(LAB)[0], releases.pods(LAB, "aggregator")[0]):
            meta = pod["metadata"]
            with self.subTest(meta["name"]):
                where = (meta["name"], "-n", meta["namespace"])
                # Held, so that its last state can be read.
                LAB.kubectl("patch", "pod", *where, "--type=merge", "-p", json.dumps({"metadata": {"finalizers": ["binnacle.test/held"]}}))
                LAB.kubectl("delete", "pod", *where, "--wait=false")

                def ended():
                    now = LAB.get("pod", meta["name"], meta["namespace"])
                    return now["status"]["containerStatuses"][0]["state"].get("terminated") and now
                last = LAB.wait_for("its end", ended, 120)
                LAB.kubectl("patch", "pod", *where, "--type=merge", "-p", json.dumps({"metadata": {"finalizers": None}}))
                state = last["status"]["containerStatuses"][0]["state"]["terminated"]
                # 137 is the kubelet's patience at its end.
                self.assertEqual(state["exitCode"], 0, state)
        LAB.wait_for("those that come after them", lambda: len([p for p in releases.agents(LAB) + releases.pods(LAB, "aggregator")
                                                               if releases.is_ready(p)]) == 4, 300)
        LAB.helm("test", "binnacle")


class Removed(unittest.TestCase):
    def test_an_uninstall_leaves_no_pod(self):
        LAB.helm("uninstall", "binnacle", "--wait", "--timeout", "5m")
        LAB.wait_for("the agents' namespace to go", lambda: not LAB.get("namespace", "binnacle-agents"), 120)
        left = {p["metadata"]["labels"]["app.kubernetes.io/component"] for p in LAB.get("pods", namespace="binnacle")}
        self.assertLessEqual(left, {"test"})  # ended, for who reads their logs


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
