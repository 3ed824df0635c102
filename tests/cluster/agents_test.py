"""Who an agent is: tokens of pods, made and judged by a real API server, in front of the real aggregator and agents.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/agents_test.py --build build [TestName]
"""

import json
import signal
import unittest

from support.control_plane import ROOT, ControlPlane
from trial import Trial, run_tests

BUILD = ROOT / "build"
PLANE = KUBECONFIG = None
NODES = ("n1", "n2")


def setUpModule():
    global PLANE, KUBECONFIG
    PLANE = ControlPlane()
    unittest.addModuleCleanup(PLANE.stop)
    PLANE.begin()
    PLANE.install_crd()
    KUBECONFIG = PLANE.aggregators_kubeconfig()
    PLANE.kubectl("create", "namespace", "agents")
    for account in ("agent", "other"):
        PLANE.kubectl("create", "serviceaccount", account, "-n", "agents")
    for node in NODES:
        PLANE.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
        for account in ("agent", "other"):
            make_pod(f"{account}-{node}", account, node)


def make_pod(name, account, node):
    PLANE.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "agents"},
                 "spec": {"nodeName": node, "serviceAccountName": account, "automountServiceAccountToken": False, "containers": [{"name": "a", "image": "a"}]}})


def pod_token(pod, account="agent", audience="binnacle"):
    return PLANE.token(account, "agents", "--audience", audience, "--bound-object-kind", "Pod", "--bound-object-name", pod)


class Agents(unittest.TestCase):
    def setUp(self):
        self.trial = Trial(BUILD)
        self.addCleanup(self.trial.stop)
        self.trial.make_certificates(["n2"])
        self.start_aggregator()

    def start_aggregator(self):
        self.trial.start_aggregator("--kube-config", KUBECONFIG, "--agents-account", "agents/agent")

    def start_agent(self, node, token, **more):
        file = self.trial.folder / f"token-{node}"
        if token:
            file.write_text(token + "\n")
        self.trial.start_agent(node, "--sources", "os", token_file=file if token else None, **more)

    def ops_metric(self, begin):
        return sum(int(line.split()[-1]) for line in self.trial.ask("ops", "/metrics")[1].splitlines() if line.startswith(begin))

    def connected(self):
        nodes = json.loads(self.trial.ask("ops", "/api/v1/nodes")[1])["nodes"]
        return sorted(n["name"] for n in nodes if n["connected"])

    def until_connected(self, *nodes, seconds=60):
        self.trial.wait_for(f"{nodes} to be connected", lambda: self.connected() == sorted(nodes), seconds)

    def refused(self, reason):
        return self.ops_metric(f'binnacle_sessions_refused_total{{reason="{reason}"}}')

    def until_refused(self, reason, words):
        self.trial.wait_for(f"a refusal with {reason}", lambda: self.refused(reason), 60)
        self.trial.wait_for(f"the agent's log to say {words}", lambda: words in self.trial.log("n1"), 60)
        self.assertEqual(self.connected(), [])

    def is_known(self, token):
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token, "audiences": ["binnacle"]}}
        return json.loads(PLANE.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)[1])["status"].get("authenticated", False)

    def test_an_agent_is_welcomed_by_its_pod_s_token_beside_one_with_a_certificate(self):
        self.start_agent("n1", pod_token("agent-n1"))
        self.start_agent("n2", None)
        self.until_connected("n1", "n2")
        self.trial.wait_for("values of both", lambda: len(self.trial.metric("os_memory_available_bytes")) == 2, 30)
        self.assertEqual(self.ops_metric('binnacle_agent_token_reviews_total{outcome="asked"}'), 1)

    def test_a_token_bound_to_the_node_itself_counts(self):
        if PLANE.version().startswith("v1.30."):
            self.skipTest("1.30 binds tokens to pods only (feature gate ServiceAccountTokenNodeBinding)")
        self.start_agent("n1", PLANE.token("agent", "agents", "--audience", "binnacle", "--bound-object-kind", "Node", "--bound-object-name", "n1"))
        self.until_connected("n1")

    def test_the_token_of_another_node_s_agent_is_refused(self):
        self.start_agent("n1", pod_token("agent-n2"))
        self.until_refused("wrong_node", "the token is of a pod on node n2, not on n1")

    def test_the_token_of_another_pod_of_the_same_node_is_refused(self):
        self.start_agent("n1", pod_token("other-n1", "other"))
        self.until_refused("not_authorised", "system:serviceaccount:agents:other")

    def test_a_token_for_another_audience_is_refused(self):
        self.start_agent("n1", pod_token("agent-n1", audience="vault"))
        self.until_refused("not_authorised", "the API server does not know the agent's token")

    def test_a_token_that_is_bound_to_nothing_is_refused(self):
        self.start_agent("n1", PLANE.token("agent", "agents", "--audience", "binnacle"))
        self.until_refused("wrong_node", "bound to no node")

    def test_a_token_that_was_carried_into_another_pod_is_refused_there(self):
        # The agent comes from loopback; whose address that is the API server says.
        for name, account, address in (("agent-robbed", "agent", "10.1.2.3"), ("thief", "other", "127.0.0.1")):
            make_pod(name, account, "n1")
            self.addCleanup(PLANE.kubectl, "delete", "pod", name, "-n", "agents", "--grace-period=0", "--wait=false", "--force")
            self.set_address(name, address)
        # It reads them all at its start, and then knows their addresses.
        self.trial.end("aggregator")
        self.start_aggregator()
        path = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/agents/pods/thief/health_metric"
        self.trial.wait_for("the pods to be read", lambda: "pods are not read" not in self.trial.ask("metrics", path)[1], 60)
        self.start_agent("n1", pod_token("agent-robbed"))
        self.until_refused("not_authorised", "the address of pod agents/thief")
        # The address belongs to the agent's own pod now, so the other pod with it does not matter. If the aggregator has not read the new address yet, it
        # refuses the agent once more, and the agent tries again after a minute.
        self.set_address("agent-robbed", "127.0.0.1")
        self.trial.end("n1")
        self.trial.start_agent("n1", "--sources", "os", token_file=self.trial.folder / "token-n1")
        self.until_connected("n1", seconds=150)

    @staticmethod
    def set_address(pod, address):
        PLANE.kubectl("patch", "pod", pod, "-n", "agents", "--subresource=status", "--type=merge", "-p",
                      json.dumps({"status": {"podIP": address, "podIPs": [{"ip": address}]}}))

    def test_a_token_of_a_pod_that_was_deleted_is_refused_and_the_next_one_read(self):
        make_pod("agent-gone", "agent", "n1")
        token = pod_token("agent-gone")
        self.start_agent("n1", token)
        self.until_connected("n1")
        PLANE.kubectl("delete", "pod", "agent-gone", "-n", "agents", "--grace-period=0", "--wait=false", "--force")
        # The API server remembers tokens for some seconds, too.
        self.trial.wait_for("the API server to know the token no longer", lambda: not self.is_known(token), 60)
        self.trial.end("aggregator")
        self.start_aggregator()
        self.trial.wait_for("the refusal", lambda: self.refused("not_authorised"), 60)
        (self.trial.folder / "token-n1").write_text(pod_token("agent-n1"))
        self.trial.end("n1")  # it would come back by itself after a minute
        self.trial.start_agent("n1", "--sources", "os", token_file=self.trial.folder / "token-n1")
        self.until_connected("n1")

    def test_an_agent_comes_back_while_the_api_server_is_away_and_a_new_one_when_it_is_there_again(self):
        token = pod_token("agent-n1")
        late = pod_token("agent-n2")
        self.start_agent("n1", token)
        self.until_connected("n1")
        PLANE.end("kube-apiserver", signal.SIGKILL)
        try:
            self.trial.end("n1")
            self.trial.wait_for("its end", lambda: self.connected() == [])
            self.start_agent("n1", token)
            self.until_connected("n1")
            self.start_agent("n2", late)
            self.trial.wait_for("the refusal of the other", lambda: self.refused("unverified"), 60)
        finally:
            PLANE.start_api_server()
        self.until_connected("n1", "n2")


if __name__ == "__main__":
    run_tests()
