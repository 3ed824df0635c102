"""An API server that refuses whatever the service accounts of one namespace ask: 429, with its own Retry-After.

Priority and fairness gives them a level of no seats. One request at a time is still let in, so one that never ends takes that place: its admission
webhook is a server that does not answer.
"""

import base64
import contextlib
import socket
import ssl
import threading

from trial import free_port

NAME = "binnacle-storm"
FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
PLACE = "/api/v1/namespaces/binnacle/configmaps"


class Storm:
    """Prepared by its constructor; refuses between begin() and end(), also beyond a restart of the API server."""

    def __init__(self, plane):
        self.plane, self.stopping, self.held = plane, threading.Event(), []
        plane.authority.issue("deaf", "/CN=deaf", "serverAuth", ["localhost", "127.0.0.1"])
        plane.kubectl("create", "serviceaccount", "holder", "-n", "binnacle")
        plane.kubectl("create", "role", "holder", "-n", "binnacle", "--verb=create", "--resource=configmaps")
        plane.kubectl("create", "rolebinding", "holder", "-n", "binnacle", "--role=holder", "--serviceaccount=binnacle:holder")
        self.token = plane.token("holder", "binnacle")
        self.port = free_port()
        self.put("apiextensions", WEBHOOKS, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {"webhooks": [{
            "name": "deaf.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 30,
            "clientConfig": {"url": f"https://127.0.0.1:{self.port}/", "caBundle": base64.b64encode((plane.pki / "ca.crt").read_bytes()).decode()},
            "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]}]})
        self.put("level", f"{FLOW}/prioritylevelconfigurations", "flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", {"spec": {
            "type": "Limited", "limited": {"nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0,
                                           "limitResponse": {"type": "Reject"}}}})

    def put(self, what, collection, version, kind, more):
        thing = dict(more, apiVersion=version, kind=kind, metadata={"name": NAME})
        code, text = self.plane.request("PATCH", f"{collection}/{NAME}?fieldManager=storm&force=true", thing, "application/apply-patch+yaml")
        if code not in (200, 201):
            raise RuntimeError(f"{what}: {code}: {text}")

    def begin(self):
        self.put("flow", f"{FLOW}/flowschemas", "flowcontrol.apiserver.k8s.io/v1", "FlowSchema", {"spec": {
            "priorityLevelConfiguration": {"name": NAME}, "matchingPrecedence": 2, "rules": [{
                "subjects": [{"kind": "Group", "group": {"name": "system:serviceaccounts:binnacle"}}],
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]}]}})
        self.listener = socket.create_server(("127.0.0.1", self.port))
        for work in (self.take, self.hold, self.hold):
            threading.Thread(target=work, daemon=True).start()
        self.wait()

    def wait(self):
        self.plane.wait_for("the storm", lambda: self.stopping.wait(0.05) or self.ask()[0] == 429, 60)

    def ask(self):
        """As one of those who are refused."""
        return self.plane.request("GET", "/api", token=self.token, timeout=60)

    def end(self):
        self.stopping.set()
        self.listener.close()
        for peer in self.held:
            peer.close()
        for path in (f"{FLOW}/flowschemas", WEBHOOKS, f"{FLOW}/prioritylevelconfigurations"):
            self.plane.request("DELETE", f"{path}/{NAME}")

    def hold(self):
        thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "held-"}}
        while not self.stopping.wait(0.02):
            with contextlib.suppress(OSError):
                self.plane.request("POST", f"{PLACE}?dryRun=All", thing, token=self.token, timeout=60)

    def take(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.plane.pki / "deaf.crt", self.plane.pki / "deaf.key")
        while not self.stopping.is_set():
            try:
                self.held.append(context.wrap_socket(self.listener.accept()[0], server_side=True))
            except OSError:
                if self.listener.fileno() < 0:
                    return
