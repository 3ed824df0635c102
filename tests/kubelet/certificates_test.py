"""The chart with certificates of others on real nodes: cert-manager's controllers issue them, for agents by token and by certificate, and renew one while
agents stream; then secrets of one's own.

Run by scripts/test --kubelet, or by hand: python3 tests/kubelet/certificates_test.py [TestName]
"""

import json
import ssl
import unittest

import namespaces
import releases
from support.control_plane import Certificates, program
from nodes import ROOT
from trial import run_tests

BUILD = ROOT / "build"
LAB = None
# Each authority, and the namespace of its Issuer.
AUTHORITIES = {"server": "binnacle", "agent": "binnacle-agents", "client": "binnacle"}
CERT_MANAGER = ("--set", "agent.namespace.create=false", "--set", "certificates.mode=certManager", "--set", "certificates.certManager.trustSecret=trust",
                "--set", "certificates.certManager.agentTrustSecret=servers",
                *(word for name in AUTHORITIES for word in ("--set", f"certificates.certManager.{name}Issuer.name={name}")))


def setUpModule():
    global LAB
    LAB = releases.begin_nodes()
    manager = program("cert-manager", "cert-manager")
    LAB.kubectl("apply", "-f", manager.parent / "crds")
    LAB.until_established()
    LAB.start("cert-manager", manager, LAB.kubeconfig)
    for name in ("binnacle", "binnacle-agents"):
        LAB.kubectl("create", "namespace", name)
    # As the chart's README says.
    LAB.kubectl("label", "namespace", "binnacle-agents", "pod-security.kubernetes.io/enforce=privileged")
    make_issuers()
    make_trust()


def make_issuers():
    """One authority for each kind of certificate, as cert-manager's documentation says ("SelfSigned", "Bootstrapping CA issuers")."""
    def issuer(name, namespace, spec):
        return {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": name, "namespace": namespace}, "spec": spec}

    def authority(name, namespace):
        return {"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": f"{name}-ca", "namespace": namespace},
                "spec": {"isCA": True, "commonName": f"{name}-ca", "secretName": f"{name}-ca", "privateKey": {"algorithm": "ECDSA", "size": 256},
                         "issuerRef": {"name": "self", "kind": "Issuer"}}}
    LAB.apply(*(issuer("self", namespace, {"selfSigned": {}}) for namespace in set(AUTHORITIES.values())),
              *(authority(name, namespace) for name, namespace in AUTHORITIES.items()),
              *(issuer(name, namespace, {"ca": {"secretName": f"{name}-ca"}}) for name, namespace in AUTHORITIES.items()))


def make_trust():
    """The two secrets that are the user's part, because cert-manager's hold the CA of their own issuer only."""
    def secret(name):
        return (LAB.get("secret", f"{name}-ca", AUTHORITIES[name]) or {}).get("data", {})
    LAB.wait_for("three authorities", lambda: all(secret(name).get("tls.crt") for name in AUTHORITIES), 120)
    authority = {name: secret(name)["tls.crt"] for name in AUTHORITIES}
    LAB.apply(*({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "data": data} for name, namespace, data in (
        ("trust", "binnacle", {"clients-ca.crt": authority["client"], "agents-ca.crt": authority["agent"]}),
        ("servers", "binnacle-agents", {"ca.crt": authority["server"]}))))


def served():
    """The certificates that the aggregators show at the extender's port."""
    return {ssl.get_server_certificate((pod["status"]["podIP"], 9001)) for pod in releases.pods(LAB, "aggregator") if releases.is_ready(pod)}


def all_is_well():
    ready = [pod for pod in releases.agents(LAB) + releases.pods(LAB, "aggregator") + releases.pods(LAB, "scheduler") if releases.is_ready(pod)]
    return len(ready) == 5 and set(releases.metric(LAB, "os_load1")) == {"n1", "n2"}


class WithOthersCertificates(unittest.TestCase):
    def wait_until_all_is_well(self):
        LAB.wait_for("all pods to be ready, and values of both nodes", all_is_well, 420)
        said = LAB.helm("test", "binnacle", "--logs")
        self.assertIn("Phase:          Succeeded", said)
        # The command finds the CA of the servers by itself. The CA of callers is not the same.
        code, said = releases.kubectl_binnacle(LAB, BUILD, LAB.kubeconfig, "status")
        self.assertEqual(code, 0, said)

    def place_a_pod(self, name):
        """By the chart's scheduler, which waits for the extender's answer."""
        LAB.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": {
            "schedulerName": "binnacle-scheduler", "containers": [{"name": "a", "image": "localhost/app:latest", "imagePullPolicy": "Never",
                                                                   "command": ["/bin/sleep", "3600"], "resources": {"limits": {"telemetry/scheduling": "0"}}}]}})
        LAB.wait_for("its place", lambda: "nodeName" in LAB.get("pod", name, "default")["spec"], 120)

    def test_1_cert_manager_s_for_all_but_agents_which_have_tokens(self):
        releases.install(LAB, *CERT_MANAGER, "--set", "scheduler.ignorable=false", "--set", "scheduler.timeout=30s")
        self.wait_until_all_is_well()
        self.place_a_pod("by-cert-manager")
        for version in ("v1beta1", "v1beta2"):  # the injector's work
            self.assertTrue(LAB.get("apiservice", f"{version}.custom.metrics.k8s.io")["spec"].get("caBundle"))

    def test_2_a_renewed_certificate_is_served_without_a_restart(self):
        pods = {pod["metadata"]["uid"] for pod in releases.pods(LAB, "aggregator")}
        before = served()
        self.assertEqual(len(before), 1)
        LAB.kubectl("delete", "secret", "binnacle-server", "-n", "binnacle")  # cert-manager then issues another
        LAB.wait_for("the new certificate at both replicas", lambda: len(served()) == 1 and served().isdisjoint(before), 300)
        self.wait_until_all_is_well()
        LAB.kubectl("delete", "pod", releases.agents(LAB)[0]["metadata"]["name"], "-n", "binnacle-agents")
        LAB.wait_for("an agent that met the new certificate first", all_is_well, 180)
        self.assertEqual({pod["metadata"]["uid"] for pod in releases.pods(LAB, "aggregator")}, pods)
        self.assertEqual(sum(releases.restarts(LAB).values()), 0)

    def test_3_cert_manager_s_for_agents_too(self):
        releases.upgrade(LAB, "--set", "agent.identity=certificate", "--set", "agent.sharedCertificate=true", "--set", "certificates.nodes={n1,n2}")
        self.wait_until_all_is_well()
        volumes = [volume["name"] for volume in releases.agents(LAB)[0]["spec"]["volumes"]]
        self.assertNotIn("token", volumes)

    def test_4_secrets_of_one_s_own(self):
        names = LAB.get("certificate.cert-manager.io", "binnacle-server", "binnacle")["spec"]["dnsNames"]
        folder = LAB.folder / "own"
        folder.mkdir()
        authority = Certificates(folder, "own-ca")
        authority.issue("own-server", "/CN=binnacle", "serverAuth", names)
        authority.issue("own-client", "/CN=binnacle-caller", "clientAuth", ["binnacle-caller"])
        ca = folder / "own-ca.crt"
        for name, namespace, files in (("own-server", "binnacle", ("ca.crt", "clients-ca.crt")), ("own-client", "binnacle", ("ca.crt",)),
                                       ("own-trust", "binnacle-agents", ("ca.crt",))):
            pair = [f"--from-file=tls.{kind}={folder / name}.{kind}" for kind in ("crt", "key")] if namespace == "binnacle" else []
            LAB.kubectl("create", "secret", "generic", name, "-n", namespace, *(f"--from-file={file}={ca}" for file in files), *pair)
        releases.upgrade(LAB, "--set", "certificates.mode=existing", "--set", "certificates.existing.server=own-server", "--set",
                         "certificates.existing.client=own-client", "--set", "certificates.existing.agent=own-trust", "--set-file",
                         f"certificates.existing.serverCA={ca}", "--set", "agent.identity=token", "--set", "agent.sharedCertificate=false")
        LAB.wait_for("our own certificate", lambda: {text.strip() for text in served()} == {(folder / "own-server.crt").read_text().strip()}, 300)
        self.wait_until_all_is_well()
        self.place_a_pod("by-secrets")
        left = json.loads(LAB.kubectl("get", "certificates.cert-manager.io", "-n", "binnacle", "-l", "app.kubernetes.io/part-of=binnacle", "-o", "json"))["items"]
        self.assertEqual(left, [])


if __name__ == "__main__":
    namespaces.enter_tests()
    run_tests(__doc__)
