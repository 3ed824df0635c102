"""The chart on real nodes, installed by helm from the archives that scripts/images makes: what only a kubelet and a container runtime show.

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/install_test.py [TestName]
"""

import datetime
import http.client
import json
import re
import subprocess
import sys
import time
import unittest

import namespaces
import releases
from nodes import IS_OLD, ROOT
from trial import run_tests

BUILD = ROOT / "build"
LAB = None
PERFMON = 1 << 38  # linux/capability.h
WARNING = re.compile(r"\S+Z (warning|error) |[WEF]\d{4} ")  # in the programs' own form, and in that of Kubernetes
# What they may say: what this machine's RAPL and PMUs lack; and what each kube-scheduler in a pod says, since it has no flags for it.
LACKING = re.compile("this machine has no RAPL|source (rapl|pmu) (does not work|works in part)|this counter never counts|"
                     "Neither --kubeconfig nor --master was specified|The manifest file is empty")


def setUpModule():
    global LAB
    LAB = releases.begin_nodes()
    # The level that the chart's README promises for this namespace; agents have one of their own.
    LAB.kubectl("create", "namespace", "binnacle")
    LAB.kubectl("label", "namespace", "binnacle", "pod-security.kubernetes.io/enforce=restricted")
    releases.install(LAB)


def status_of(pod):
    """/proc/ID/status of that process, as words by name."""
    node, number = releases.process(LAB, pod)
    lines = LAB.on_node(node, "cat", f"/proc/{number}/status").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def mounts_of(pod):
    """{where: options} of that process."""
    node, number = releases.process(LAB, pod)
    mounts = [line.split() for line in LAB.on_node(node, "cat", f"/proc/{number}/mounts").splitlines()]
    return {where: how.split(",") for _, where, _, how, *_ in mounts}


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
        levels = {name: LAB.get("namespace", name)["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] for name in ("binnacle", "binnacle-agents")}
        self.assertEqual(levels, {"binnacle": "restricted", "binnacle-agents": "privileged"})
        self.assertEqual(LAB.get("clusterrolebindings", labels="app.kubernetes.io/component=test"), [])  # helm takes these rights back
        self.assertNotIn("unchecked", said)  # the doctor's account has all the rights that its questions take

    def test_2_agents_stream_with_the_token_that_the_kubelet_projected(self):
        LAB.wait_for("the memory of both nodes", lambda: set(releases.metric(LAB, "os_memory_available_bytes")) == {"n1", "n2"}, 60)
        log = LAB.kubectl("logs", "-n", "binnacle-agents", "-l", "app.kubernetes.io/component=agent", "--tail=-1")
        self.assertIn("connected to replica", log)

    def test_3_agents_read_what_the_host_has(self):
        # From /proc, from /host/sys, and a software event, which takes PERFMON, and on Debian's kernel more.
        for name in ("os_load1", "os_hugepages_total_bytes", *(["pmu_context_switches_total"] if namespaces.perfmon_suffices() else [])):
            with self.subTest(name):
                LAB.wait_for(name, lambda name=name: set(releases.metric(LAB, name)) == {"n1", "n2"}, 60)
        # The host's end of a pod's link, which the agent's own network does not have.
        link = next(name for name in LAB.on_node("n1", "ls", "/sys/class/net").split() if name.startswith("veth"))
        LAB.wait_for(f"counters of {link}", lambda: "n1" in releases.metric(LAB, f"os_network_receive_bytes_total_{link}_virtual", "n1"), 60)
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

    def test_5_every_root_and_the_host_s_folders_are_read_only(self):
        for pod in releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler"):
            with self.subTest(pod["metadata"]["name"]):
                self.assertIn("ro", mounts_of(pod)["/"])
        for pod in releases.agents(LAB):
            options = mounts_of(pod)
            writable = [where for where in options if "rw" in options[where] and (where == "/" or where.startswith("/host"))]
            # Kubernetes 1.30 with containerd 1.6 knows no recursiveReadOnly: what is mounted below stays as it is (the chart's README, "Namespaces").
            below = ("/host/sys/",) if IS_OLD else ()
            self.assertEqual([where for where in writable if not where.startswith(below)], [])
            self.assertIn("/host/sys", options)
            self.assertIn("/host/net", options)
            # Not a process of the node: in its folder are its root and its open files, which a read-only /proc opens to another user 0 all the same.
            node, number = releases.process(LAB, pod)
            self.assertEqual(LAB.on_node(node, "find", f"/proc/{number}/root/host", "-maxdepth", "2", "-name", "1").split(), [])

    def test_6_processes_have_the_programs_names(self):
        for component, name in (("agent", "binnacle-agent"), ("aggregator", "binnacle-aggreg")):  # the kernel keeps 15 characters
            for pod in releases.agents(LAB) if component == "agent" else releases.pods(LAB, component):
                self.assertEqual(status_of(pod)["Name"], name)

    def test_7_the_log_begins_when_the_container_does(self):
        took = {}
        for pod in releases.agents(LAB) + releases.pods(LAB, "aggregator"):
            meta = pod["metadata"]
            first = LAB.kubectl("logs", "-n", meta["namespace"], meta["name"], "--timestamps").split()[0]
            began = pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
            took[meta["name"]] = round((releases.time_of(first) - releases.time_of(began)).total_seconds(), 1)
        print(f"seconds from the start, which the kubelet tells in whole ones, to the first line: {took}", file=sys.stderr)
        # A buffer that fills slowly would take minutes for each. On a machine under load some may take seconds.
        self.assertLess(min(took.values()), 2)
        self.assertLess(max(took.values()), 10)

    def test_8_in_two_minutes_nothing_restarts_and_nobody_warns_of_anything_but_what_these_nodes_lack(self):
        everyone = releases.agents(LAB) + releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler")
        begun = [releases.time_of(releases.container(pod)["state"]["running"]["startedAt"]) for pod in everyone]
        until = max(begun) + datetime.timedelta(minutes=2)
        LAB.wait_for("the second minute's end", lambda: datetime.datetime.now(datetime.timezone.utc) > until, 150)
        self.assertEqual({pod: count for pod, count in releases.restarts(LAB).items() if count}, {})
        for pod in everyone:
            meta = pod["metadata"]
            log = LAB.kubectl("logs", "-n", meta["namespace"], meta["name"])
            warnings = [line for line in log.splitlines() if WARNING.match(line)]
            with self.subTest(meta["name"]):
                self.assertEqual([line for line in warnings if not LACKING.search(line)], [], log)

    def test_9_pods_end_in_order_and_within_their_grace_period(self):
        for component in ("agent", "aggregator", "scheduler"):
            pod = releases.agents(LAB)[0] if component == "agent" else releases.pods(LAB, component)[0]
            with self.subTest(component):
                for name, (status, took, grace) in releases.ends(releases.last_state(LAB, pod)).items():
                    print(f"{component}: {name} ended after {took:.0f} of {grace} s with {status}", file=sys.stderr)
                    # Kubernetes' scheduler ends with another status than 0 when it is told to.
                    self.assertTrue(status == 0 or component == "scheduler" and status not in (137, 139), status)
                    self.assertLessEqual(took, grace)
        LAB.wait_for("those that come after them", lambda: len([p for p in releases.agents(LAB) + releases.pods(LAB, "aggregator") + releases.pods(
            LAB, "scheduler") if releases.is_ready(p)]) == 5, 300)
        LAB.helm("test", "binnacle")


class Kubeconfig(unittest.TestCase):
    """The command line of people who have a kubeconfig and kubectl, and nothing else."""

    def answers(self, kubeconfig):
        """All that people ask most, right; and how long it took."""
        for words, said in ((["status"], [r"replica binnacle-aggregator-", "nodes +2"]), (["top", "--once"], ["n1", "n2"]),
                            (["why", "default/asked-about"], ["filter for pod default/asked-about", "2 nodes", "of pod/binnacle-"]), (["policy", "list"], ["no policy"])):
            with self.subTest(words=words, who=kubeconfig.name):
                began = time.monotonic()
                code, text = releases.kubectl_binnacle(LAB, BUILD, kubeconfig, *words)
                print(f"{kubeconfig.name}: kubectl binnacle {' '.join(words)}: {time.monotonic() - began:.1f} s\n{text}", file=sys.stderr)
                self.assertEqual(code, 0, text)
                for pattern in said:
                    self.assertRegex(text, pattern)

    def test_1_an_administrator_s_answers_what_people_ask(self):
        LAB.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asked-about", "namespace": "default"}, "spec": {
            "schedulerName": "binnacle-scheduler", "terminationGracePeriodSeconds": 1, "containers": [{
                "name": "a", "image": "localhost/app:latest", "imagePullPolicy": "Never", "command": ["/bin/sleep", "3600"],
                "resources": {"limits": {"telemetry/scheduling": "0"}}}]}})
        LAB.wait_for("its place", lambda: "nodeName" in LAB.get("pod", "asked-about", "default")["spec"], 120)
        self.answers(LAB.kubeconfig)

    # By the commands of docs/operate.md, with a certificate; a service account with a token of the cluster has the same rights.
    def test_2_a_person_s_once_an_administrator_has_bound_what_the_chart_has(self):
        LAB.authority.issue("ann", "/CN=ann", "clientAuth")
        ann = LAB.write_kubeconfig("ann")
        code, said = releases.kubectl_binnacle(LAB, BUILD, ann, "status")
        self.assertEqual(code, 1, said)
        self.assertRegex(said, 'User "ann" cannot list resource.*docs/operate.md')
        text = (ROOT / "docs/operate.md").read_text()
        for command in text[text.index("For the user ann:"):].split("```sh\n", 1)[1].split("```", 1)[0].splitlines():
            LAB.kubectl(*command.split()[1:])
        LAB.wait_for("her rights", lambda: releases.kubectl_binnacle(LAB, BUILD, ann, "status")[0] == 0, 60)
        self.answers(ann)
        self.assertEqual(LAB.kubectl("auth", "can-i", "get", "secrets", "-n", "binnacle", "--as", "ann", check=False)[1].strip(), "no")

    def test_3_the_dashboard(self):
        LAB.start("dashboard", "env", "-i", f"PATH={releases.tools(LAB, BUILD)}", BUILD / "cli/binnacle", "dashboard", "-o", "json", "--kube-config", LAB.kubeconfig)
        LAB.wait_for("its link", lambda: '"link"' in LAB.log("dashboard"), 60)
        origin, link = json.loads(LAB.log("dashboard"))["link"].removeprefix("http://").split("/#link=")
        opened = http.client.HTTPConnection(origin, timeout=60)
        self.addCleanup(opened.close)
        opened.request("POST", "/open", json.dumps({"link": link}))
        key = json.loads(opened.getresponse().read())["key"]
        live = http.client.HTTPConnection(origin, timeout=60)
        self.addCleanup(live.close)
        live.request("GET", "/live?topic=status", headers={"Authorization": f"Bearer {key}"})
        event = next(line for line in live.getresponse() if line.startswith(b"data: "))
        names = {replica["status"]["replica"] for replica in json.loads(event[6:])["replicas"]}
        self.assertEqual(names, {pod["metadata"]["name"] for pod in releases.pods(LAB, "aggregator")})
        LAB.end("dashboard")
        LAB.wait_for("the end of its forwards", lambda: not subprocess.run(["pgrep", "-f", "port-forward"], stdout=subprocess.PIPE, check=False).stdout, 30)


class Removed(unittest.TestCase):
    def test_an_uninstall_leaves_no_pod(self):
        LAB.helm("uninstall", "binnacle", "--wait", "--timeout", "5m")
        LAB.wait_for("the agents' namespace to go", lambda: not LAB.get("namespace", "binnacle-agents"), 120)
        # Helm waits for Deployments, and the garbage collector ends their pods later. Those of the tests stay, for who reads their logs.
        LAB.wait_for("the other pods to go", lambda: all(pod["metadata"]["labels"]["app.kubernetes.io/component"] == "test" for pod in LAB.get("pods", namespace="binnacle")), 120)


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
