"""The chart on one node, in the least time: what a machine that is much slower can still run. tests/qemu runs it under version 2 of cgroups.

By hand: python3 tests/kubelet/one_node_test.py [TestName]
"""

import sys
import unittest

import namespaces
import releases
from trial import run_tests

BUILD = None
LAB = None


def setUpModule():
    global LAB
    LAB = releases.begin("--set", "aggregator.replicas=1", "--set", "agent.settings.pmu-pods=true", names=["n1"])


def everyone():
    return releases.agents(LAB) + releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler")


class OneNode(unittest.TestCase):
    def test_1_all_pods_are_ready_and_helm_test_passes(self):
        LAB.wait_for("three pods that are ready", lambda: [releases.is_ready(pod) for pod in everyone()] == [True] * 3, 300)
        self.assertIn("Phase:          Succeeded", LAB.helm("test", "binnacle"))
        self.assertEqual({pod: count for pod, count in releases.restarts(LAB).items() if count}, {})

    def test_2_containers_are_in_the_groups_of_their_pods_with_their_limits(self):
        for pod in everyone():
            node, number = releases.process(LAB, pod)
            groups = dict(line.split(":")[1:] for line in LAB.on_node(node, "cat", f"/proc/{number}/cgroup").splitlines())
            version_2 = list(groups) == [""]
            path = f"/sys/fs/cgroup{groups['']}/memory.max" if version_2 else f"/sys/fs/cgroup/memory{groups['memory']}/memory.limit_in_bytes"
            print(f"{pod['metadata']['name']}: {path}", file=sys.stderr)
            self.assertIn(f"pod{pod['metadata']['uid']}/", path)
            mebibytes = pod["spec"]["containers"][0]["resources"]["limits"]["memory"]
            self.assertEqual(int(LAB.on_node(node, "cat", path)), {"128Mi": 128, "512Mi": 512, "1Gi": 1024}[mebibytes] << 20)

    def test_3_the_agent_reads_the_node_and_counts_for_each_pod(self):
        LAB.wait_for("the node's memory", lambda: "n1" in releases.metric(LAB, "os_memory_available_bytes"), 120)
        agent = releases.agents(LAB)[0]["metadata"]["name"]

        def counted():
            page = LAB.request("GET", f"/api/v1/namespaces/binnacle-agents/pods/{agent}:9103/proxy/metrics")[1]
            return [pod for pod in everyone() if f'pmu_pod_context_switches_total{{pod_uid="{pod["metadata"]["uid"]}"' in page]
        LAB.wait_for("context switches of each pod", lambda: len(counted()) == 3, 120)


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
