"""The project's images and its chart on the lab's nodes, as a user installs them: what the tests stand on."""

import datetime
import json
import re
import subprocess
import unittest

import namespaces
from nodes import ROOT, Nodes
from trial import PATIENCE

CHART = ROOT / "charts" / "binnacle"
# Numbers that a test gives a node, and its pods' links, which a machine of one's own does not have.
VALUES = ("--set", "agent.textfileDirectory=/var/lib/numbers", "--set", "agent.settings.virtual-interfaces=true")
TIMEOUT = f"{600 * PATIENCE:.0f}s"  # helm's
IMAGES = [ROOT / f"build-images/binnacle-{name}.oci.tar" for name in ("agent", "aggregator")]


def begin_nodes(names=("n1", "n2")):
    """To be called by setUpModule(): nodes that have the images, without the chart."""
    absent = [str(image.relative_to(ROOT)) for image in IMAGES if not image.exists()]
    assert not absent, f"there is no {', '.join(absent)}: scripts/images makes it"
    lab = Nodes(namespaces.enter())
    unittest.addModuleCleanup(lab.stop)
    lab.begin(names)
    return lab


def begin(*more, names=("n1", "n2")):
    """To be called by setUpModule(): nodes with the chart installed and ready."""
    lab = begin_nodes(names)
    install(lab, *more)
    return lab


def install(lab, *more):
    lab.helm("install", "binnacle", CHART, "--create-namespace", *VALUES, *more, "--wait", "--timeout", TIMEOUT)


def upgrade(lab, *more):
    lab.helm("upgrade", "binnacle", CHART, "--reuse-values", *more, "--wait", "--timeout", TIMEOUT)


def tools(lab, build):
    """A folder with kubectl and its plug-in, the command line."""
    folder = lab.folder / "tools"
    if not folder.exists():
        folder.mkdir()
        (folder / "kubectl").symlink_to(lab.programs["kubectl"])
        (folder / "kubectl-binnacle").symlink_to(build / "cli/binnacle")
    return folder


def kubectl_binnacle(lab, build, kubeconfig, *words):
    """(status, output) of a subcommand as people run it who have a kubeconfig and kubectl, and nothing else."""
    folder = tools(lab, build)
    environment = {"PATH": str(folder), "HOME": str(lab.folder), "KUBECONFIG": str(kubeconfig)}
    done = subprocess.run([folder / "kubectl", "binnacle", *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
    return done.returncode, done.stdout


def pods(lab, component, namespace="binnacle"):
    """Those that nobody is deleting."""
    found = lab.get("pods", namespace=namespace, labels=f"app.kubernetes.io/component={component}")
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def agents(lab):
    return pods(lab, "agent", "binnacle-agents")


def is_ready(pod):
    return any(c["type"] == "Ready" and c["status"] == "True" for c in pod.get("status", {}).get("conditions", []))


def restarts(lab):
    """{pod: restarts of its containers}, of all that the chart brought."""
    everyone = [pod for namespace in ("binnacle", "binnacle-agents") for pod in lab.get("pods", namespace=namespace)]
    return {p["metadata"]["name"]: sum(c["restartCount"] for c in p["status"].get("containerStatuses", [])) for p in everyone}


def container(pod, name=None):
    """The status of a container of it: that of this name, or the first."""
    return next(c for c in pod["status"]["containerStatuses"] if name in (None, c["name"]))


def last_state(lab, pod):
    """Deletes a pod as kubectl does, and gives its last state, with the end of each container: for that it is held until all have ended."""
    meta = pod["metadata"]
    where = (meta["name"], "-n", meta["namespace"])
    lab.kubectl("patch", "pod", *where, "--type=merge", "-p", json.dumps({"metadata": {"finalizers": ["binnacle.test/held"]}}))
    lab.kubectl("delete", "pod", *where, "--wait=false")

    def ended():
        now = lab.get("pod", meta["name"], meta["namespace"])
        return all("terminated" in c["state"] for c in now["status"]["containerStatuses"]) and now
    last = lab.wait_for(f"the end of {meta['name']}", ended, 120)
    lab.kubectl("patch", "pod", *where, "--type=merge", "-p", json.dumps({"metadata": {"finalizers": None}}))
    return last


def ends(last):
    """Of last_state(): {container: (exit status, seconds after the wish, seconds that it may take)}. 137 is the kubelet's patience at its end."""
    # The kubelet deletes a pod that has ended once more, with a grace period of 0, which moves the timestamp by as much.
    wish = time_of(last["metadata"]["deletionTimestamp"]) - datetime.timedelta(seconds=last["metadata"]["deletionGracePeriodSeconds"])
    states = {c["name"]: c["state"]["terminated"] for c in last["status"]["containerStatuses"]}
    return {name: (state["exitCode"], (time_of(state["finishedAt"]) - wish).total_seconds(), last["spec"]["terminationGracePeriodSeconds"])
            for name, state in states.items()}


def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def process(lab, pod, name=None):
    """(node, id there) of a container's first process."""
    node, own = pod["spec"]["nodeName"], container(pod, name)["containerID"].partition("://")[2]
    tasks = lab.on_node(node, "ctr", "-n", "k8s.io", "tasks", "list")
    return node, re.search(rf"^{own}\s+(\d+)", tasks, re.MULTILINE).group(1)


def signal(lab, pod, number, name=None):
    """To a container's first process, from outside: what a process 1 may ignore from inside reaches it, too."""
    own = container(pod, name)["containerID"].partition("://")[2]
    lab.on_node(pod["spec"]["nodeName"], "ctr", "-n", "k8s.io", "tasks", "kill", "--signal", number, own)


def fill_memory(lab, pod):
    """Uses up the memory that a pod's first container may have: pages of a file in memory count for the cgroup of who writes them. The kernel
    then kills the largest process there that may be killed first, which is the container's own."""
    node, number = process(lab, pod)
    groups = dict(line.split(":")[1:] for line in lab.on_node(node, "cat", f"/proc/{number}/cgroup").splitlines())
    group = f"/sys/fs/cgroup/memory{groups['memory']}" if "memory" in groups else f"/sys/fs/cgroup{groups['']}"
    lab.on_node(node, "sh", "-c", f"echo $$ > {group}/cgroup.procs && exec dd if=/dev/zero of=/run/fill bs=64k count=64k", check=False)
    lab.on_node(node, "rm", "/run/fill")


def was_killed_for_memory(pod):
    """Its first container, the last time that it ended."""
    return container(pod)["lastState"].get("terminated", {}).get("reason") == "OOMKilled"


def metric(lab, name, node="*"):
    """{node: value} from the custom metrics API, by way of the API server; {} where it has none."""
    code, text = lab.request("GET", f"/apis/custom.metrics.k8s.io/v1beta2/nodes/{node}/{name}")
    return {item["describedObject"]["name"]: item["value"] for item in json.loads(text)["items"]} if code == 200 else {}


def page_of(lab, agent):
    """The metrics page of an agent itself."""
    return lab.request("GET", f"/api/v1/namespaces/binnacle-agents/pods/{agent['metadata']['name']}:9103/proxy/metrics")[1]


def give_number(lab, node, name, value):
    """A textfile metric of a node, as node_exporter's users write them."""
    folder = lab.disk(node, "/var/lib/numbers")
    folder.mkdir(exist_ok=True)
    (folder / "new").write_text(f"{name} {value}\n")
    (folder / "new").rename(folder / f"{name}.prom")
