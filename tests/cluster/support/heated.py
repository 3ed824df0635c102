"""Nodes with an agent each, whose heat is a file, before a real API server and the real aggregator: what tests of labels and faults stand on."""

import http.client
import json
import threading
import time
import unittest

from support.control_plane import ROOT, ControlPlane
from trial import Failure, Scheduler, Trial, free_ports, pod, run_tests

BUILD = ROOT / "build"
PLANE = None
POLICIES = "/apis/telemetry.intel.com/v1alpha1/namespaces/{}/taspolicies"
SPACES = ("default", "allowed")


def policy(strategies, name="power-policy", namespace="default", **spec):
    return {"apiVersion": "telemetry.intel.com/v1alpha1", "kind": "TASPolicy", "metadata": {"name": name, "namespace": namespace},
            "spec": dict(spec, strategies=strategies)}


def hot(target, metric="heat", **strategy):
    return dict(strategy, rules=[{"metricname": metric, "operator": "GreaterThan", "target": target}])


def begin_plane(kind=ControlPlane):
    """To be called by setUpModule(): the control plane of one test file."""
    global PLANE
    PLANE = kind()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    PLANE.install_crd()
    PLANE.kubectl("create", "namespace", "allowed")
    return PLANE


def run():
    """What stands at the end of a test file."""
    run_tests(holder=__name__)


def ask(method, path, body=None, content_type="application/json"):
    """The API server's answer as an object; kubectl takes a second of CPU each time, and there is much to ask."""
    code, text = PLANE.request(method, path, body, content_type, timeout=60)
    if code >= 400:
        raise Failure(f"{method} {path} was answered {code}: {text}")
    return json.loads(text)


def requests(verb, resource, subresource=""):
    """How many of these the API server has had, whoever made them."""
    wanted = f'resource="{resource}"', f'subresource="{subresource}"', f'verb="{verb}"'
    lines = PLANE.request("GET", "/metrics", timeout=60)[1].splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("apiserver_request_total{") and all(word in line for word in wanted))


def apply(thing):
    meta, collection = thing["metadata"], "/api/v1/nodes"
    if thing["kind"] == "TASPolicy":
        collection = POLICIES.format(meta["namespace"])
    ask("PATCH", f"{collection}/{meta['name']}?fieldManager=labels-test&force=true", thing, "application/apply-patch+yaml")


def delete_policy(name, namespace="default"):
    ask("DELETE", f"{POLICIES.format(namespace)}/{name}")


class Watch:
    """Every state of one label of one node since the watch began, as the API server tells it: labels that come and go are seen."""

    def __init__(self, label):
        self.label = label
        self.version = ask("GET", "/api/v1/nodes")["metadata"]["resourceVersion"]

    def values(self, node):
        """The values that the label took on, None for absent, repeats left out."""
        path = f"/api/v1/nodes?watch=1&resourceVersion={self.version}&timeoutSeconds=3&fieldSelector=metadata.name={node}"
        seen = []
        for line in PLANE.request("GET", path, timeout=30)[1].splitlines():
            value = json.loads(line)["object"]["metadata"].get("labels", {}).get(self.label)
            if not seen or seen[-1] != value:
                seen.append(value)
        return seen


class Calls:
    """kube-scheduler's part, played without a pause: a filter call, each on a connection of its own with a handshake of its own."""

    def __init__(self, port, pki, nodes):
        self.port, self.pki, self.nodes = port, pki, nodes
        self.count, self.failures, self.answers = 0, [], []  # answers: who passes, repeats left out
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def work(self):
        while not self.stopping.wait(0.02):
            try:
                with Scheduler(self.port, self.pki, "scheduler", timeout=60) as scheduler:
                    passing = scheduler.call("filter", pod("web"), self.nodes)[0]["NodeNames"]
            except (OSError, Failure, http.client.HTTPException) as why:
                self.failures.append(repr(why))
                continue
            self.count += 1
            if self.answers[-1:] != [passing]:
                self.answers.append(passing)


class HeatedNodes(unittest.TestCase):
    """Nodes with an agent each, which reads the node's heat from a file: 40 is cool and 60 is warm, but where a test says otherwise."""

    def setUp(self):
        for collection in (*map(POLICIES.format, SPACES), "/api/v1/nodes", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                           "/apis/events.k8s.io/v1/namespaces/default/events"):
            ask("DELETE", collection)
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.kubeconfig = PLANE.kubeconfig

    def begin(self, nodes, *more):
        """Node objects, agents and an aggregator; `nodes` by name with their heat."""
        self.nodes = list(nodes)
        self.trial.make_certificates(self.nodes)
        for name in self.nodes:
            self.add_node(name)
        self.start_aggregator(*more)
        for name, heat in nodes.items():
            self.heat(name, heat)
            self.start_agent(name)
        self.trial.wait_for("the heat of all nodes", lambda: len(self.trial.metric("heat")) == len(nodes), 60)

    def start_aggregator(self, *more):
        self.trial.start_aggregator("--kube-config", self.kubeconfig, *more)

    def start_standby(self):
        """A second replica, with ports of its own, which are returned; agents may be told of it."""
        ports = free_ports()
        self.trial.start_aggregator("--kube-config", self.kubeconfig, "--replica-id", "second", "--replicas", "2", name="standby", ports=ports)
        return ports

    def start_agent(self, name, *more):
        self.trial.start_agent(name, "--sources", "textfile", "--textfile-directory", self.trial.folder / name, *more)

    def heat(self, node, value):
        folder = self.trial.folder / node
        folder.mkdir(exist_ok=True)
        (folder / "heat.new").write_text(f"# TYPE heat gauge\nheat {value}\n")
        (folder / "heat.new").rename(folder / "heat.prom")

    def add_node(self, name, **labels):
        apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})

    def label(self, node, **labels):
        """As a user does it."""
        ask("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": labels}}, "application/merge-patch+json")

    def metadata(self, node):
        return ask("GET", f"/api/v1/nodes/{node}")["metadata"]

    def labels(self, node):
        """The labels of the node: Binnacle's and the test's, since the API server adds none by itself."""
        return self.metadata(node).get("labels", {})

    def listed(self, node):
        """What our annotation says."""
        return self.metadata(node).get("annotations", {}).get("binnacle/labels")

    def violating(self, name="power-policy"):
        return sorted(item["metadata"]["name"] for item in ask("GET", f"/api/v1/nodes?labelSelector={name}%3Dviolating")["items"])

    def until(self, what, ready, seconds=60.0):
        def quietly():
            time.sleep(0.1)
            try:
                return ready()
            except (OSError, Failure):  # an API server that is away, or not quite there yet
                return None
        return self.trial.wait_for(what, quietly, seconds)

    def until_violating(self, nodes, seconds=60.0):
        self.until(f"{nodes} labelled", lambda: self.violating() == nodes, seconds)

    def condition(self, kind, name="power-policy", namespace="default"):
        status = ask("GET", f"{POLICIES.format(namespace)}/{name}").get("status", {})
        return next(((c["status"], c["message"]) for c in status.get("conditions", []) if c["type"] == kind), ("", ""))

    def events(self, name="power-policy"):
        """The reasons of the policy's events."""
        items = ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events")["items"]
        return {item["reason"] for item in items if item.get("regarding", {}).get("name") == name}

    def calls(self):
        return Calls(self.trial.ports["extender"], self.trial.pki, self.nodes)

    def passing(self):
        with self.trial.scheduler() as scheduler:
            return scheduler.call("filter", pod("web"), self.nodes)[0]["NodeNames"]

    def until_passing(self, nodes, seconds=60.0):
        self.until(f"the filter to pass {nodes}", lambda: self.passing() == nodes, seconds)

    def warnings(self):
        return json.loads(self.trial.ask("ops", "/api/v1/status")[1]).get("warnings", [])

    def number(self, metric):
        """The first of its samples."""
        lines = self.trial.ask("ops", "/metrics")[1].splitlines()
        return next((float(line.split()[-1]) for line in lines if line.startswith(metric)), None)

    def until_led(self):
        self.until("the Lease", lambda: self.number("binnacle_kubernetes_leads") == 1)

    def written_through(self):
        """A policy applied now has its labels on all nodes: what was to be written before is written."""
        if not getattr(self, "marker", None):
            self.marker = "marker"
            apply(policy({"deschedule": hot(0)}, self.marker))
        return self.violating(self.marker) == sorted(self.nodes)
