"""A node without a control plane: the kubelet, containerd and runc, and the chart's agent as a static pod. What takes least, for a machine that is slow:
tests/qemu runs it in a guest, under version 2 of cgroups.

By hand: python3 tests/kubelet/alone_test.py [TestName]
"""

import json
import os
import subprocess
import sys
import unittest
import urllib.request

import namespaces
import yaml
from nodes import KUBERNETES, ROOT, Nodes, program
from trial import PATIENCE, run_tests

BUILD = None
LAB = None


class Alone(Nodes):
    """Its kubelet asks nobody, and answers everybody on this network."""

    def begin(self, names=("n1",)):
        self.names = list(names)
        self.images = [self.folder / "images"]
        self.images[0].mkdir()
        for file in (self.cache / "images/pause.tar", self.cache / "images/pause.name", ROOT / "build-images/binnacle-agent.oci.tar"):
            (self.images[0] / file.name).symlink_to(file)
        self.make_network()
        self.make_certificates()
        self.authority.issue("kube-proxy", "/CN=system:kube-proxy", "clientAuth")
        self.start_node(self.names[0])

    def write_settings(self, name, folder):
        super().write_settings(name, folder)
        (folder / "kubelet.kubeconfig").unlink()
        file, pods = folder / "kubelet.yaml", folder / "pods"
        file.write_text(json.dumps(json.loads(file.read_text()) | {
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}}, "authorization": {"mode": "AlwaysAllow"},
            "readOnlyPort": 10255, "staticPodPath": str(pods)}))
        pods.mkdir()
        (pods / "agent.json").write_text(json.dumps(agent()))

    def pods(self):
        """What the kubelet says of them; none while it does not answer."""
        try:
            return json.loads(self.ask(f"http://{self.address(self.names[0])}:10255/pods"))["items"] or []
        except OSError:
            return []

    @staticmethod
    def ask(url):
        with urllib.request.urlopen(url, timeout=10 * PATIENCE) as answer:
            return answer.read().decode()


def agent():
    """The pod that the chart's DaemonSet makes, without what only a control plane has for it: files, an account, a priority, someone to report to."""
    rendered = subprocess.run([program("helm", "helm"), "template", "binnacle", ROOT / "charts/binnacle", "--namespace", "binnacle", "--kube-version",
                               program(KUBERNETES, "kubelet").parent.name.rpartition("-")[2], "--show-only", "templates/agent/daemon-set.yaml"], stdout=subprocess.PIPE, text=True, check=True).stdout
    spec = yaml.safe_load(rendered)["spec"]["template"]["spec"]
    folders = [volume for volume in spec["volumes"] if "hostPath" in volume]
    container = spec["containers"][0]
    container["volumeMounts"] = [mount for mount in container["volumeMounts"] if mount["name"] in [folder["name"] for folder in folders]]
    container["args"] = ["--node-name=$(NODE_NAME)", "--sys-root=/host/sys", "--proc-net=/host/net", "--virtual-interfaces=true", "--sources=os,pmu", "--pmu-pods=true",
                         "--listen=:9103", "--health=:9104"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "agent", "namespace": "default"}, "spec": {
        "containers": [container], "volumes": folders, "securityContext": spec.get("securityContext", {}), "enableServiceLinks": False}}


def setUpModule():
    global LAB
    LAB = Alone(namespaces.enter())
    unittest.addModuleCleanup(LAB.stop)
    LAB.begin()


def is_ready(pod):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod["status"].get("conditions", []))


class Node(unittest.TestCase):
    def test_1_the_agent_is_ready_in_a_group_with_its_limit(self):
        pod = LAB.wait_for("the agent's pod", lambda: next((pod for pod in LAB.pods() if is_ready(pod)), None), 120)
        version = 2 if (namespaces.CGROUPS / "cgroup.controllers").exists() else 1
        root, file = (namespaces.CGROUPS, "memory.max") if version == 2 else (namespaces.CGROUPS / "memory", "memory.limit_in_bytes")
        own = pod["status"]["containerStatuses"][0]["containerID"].partition("://")[2]
        path = root / "kubepods/burstable" / f"pod{pod['metadata']['uid']}" / own / file
        print(f"cgroups of version {version}: {path}", file=sys.stderr)
        self.assertEqual(int(LAB.on_node("n1", "cat", path)), 128 << 20)

    def log(self, pod):
        own = f"{pod['metadata']['namespace']}_{pod['metadata']['name']}_{pod['metadata']['uid']}"
        return LAB.on_node("n1", "sh", "-c", f"cat /var/log/pods/{own}/*/*.log")

    def test_2_it_reads_the_node_and_counts_for_its_own_pod(self):
        pod = LAB.pods()[0]
        uid = pod["metadata"]["uid"]
        if not namespaces.perfmon_suffices():
            LAB.wait_for("the agent's reason", lambda: "set sysctl kernel.perf_event_paranoid=2 on the node" in self.log(pod), 60)
            if "BINNACLE_OWN_KERNEL" not in os.environ:
                self.skipTest(f"{namespaces.PERF_LEVEL} is above 2, and this kernel is not the test's to set")
            namespaces.PERF_LEVEL.write_text("2")
        page = LAB.wait_for("context switches of its pod", lambda: (lambda text: f'pmu_pod_context_switches_total{{pod_uid="{uid}"' in text and text)(
            LAB.ask(f"http://{pod['status']['podIP']}:9103/metrics")), 60)
        self.assertIn("os_memory_available_bytes", page)
        # The host's end of a pod's link, which the agent's own network does not have.
        link = next(name for name in LAB.on_node("n1", "ls", "/sys/class/net").split() if name.startswith("veth"))
        self.assertIn(f'device="{link}"', page)
        self.assertEqual(LAB.pods()[0]["status"]["containerStatuses"][0]["restartCount"], 0)


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
