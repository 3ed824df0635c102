"""Every authority, certificate and token around an aggregator is replaced while agents stream and the extender is called: no call is lost, nothing restarts.

Run by scripts/test --cluster, or by hand: python3 tests/cluster/rotation_test.py --build build [TestName]
"""

import json
import shutil
import signal
import socket
import ssl

from support import heated
from support.control_plane import Certificates
from support.heated import HeatedNodes, apply, ask, policy
from support.service import Service

PLANE = None
AUTHORITIES = ("agents-ca", "clients-ca", "server-ca")
PATIENT = {"rules": [{"metricname": "heat", "operator": "GreaterThan", "target": 50, "staleAfter": "2m"}]}


def setUpModule():
    global PLANE
    PLANE = heated.begin_plane()


def replace(path, *texts):
    """At once, as a rotation does it."""
    new = path.with_suffix(".new")
    new.write_bytes(b"".join(texts))
    new.chmod(0o600)
    new.rename(path)


def shown(port):
    """The certificate that a server shows to somebody who has none."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["binnacle/1", "http/1.1"])
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain, context.wrap_socket(plain) as peer:
            return peer.getpeercert(binary_form=True)
    except OSError:
        return None


def takes(port, pki, name, protocol):
    """Whether a server goes on with the holder of a certificate: in TLS 1.3 it says no after the handshake."""
    context = ssl.create_default_context(cafile=str(pki / "server-ca.crt"))
    context.load_cert_chain(pki / f"{name}.crt", pki / f"{name}.key")
    context.set_alpn_protocols([protocol])
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain, context.wrap_socket(plain, server_hostname="localhost") as peer:
            peer.settimeout(1)
            return peer.recv(1) != b""
    except TimeoutError:
        return True  # it waits for what we have to say
    except OSError:
        return False


class Rotation(HeatedNodes):
    def connected(self):
        nodes = json.loads(self.trial.ask("ops", "/api/v1/nodes")[1])["nodes"]
        return sorted(n["name"] for n in nodes if n["connected"])

    def reconnect(self):
        """Links break, for another reason; agents come back with what their files are now."""
        before = self.trial.log("aggregator").count(") connected, agent")
        self.service.cut()
        self.until("the agents again", lambda: self.trial.log("aggregator").count(") connected, agent") >= before + len(self.nodes)
                   and self.connected() == self.nodes)

    def token(self, secret):
        """A token that ends with a Secret."""
        PLANE.kubectl("create", "secret", "generic", secret, "-n", "binnacle")
        return PLANE.token("aggregator", "binnacle", "--bound-object-kind", "Secret", "--bound-object-name", secret).encode()

    def begin_with_files(self):
        token = self.trial.folder / "token"
        self.kubeconfig = PLANE.aggregators_kubeconfig(True, self.trial.folder / "kubeconfig", tokenFile=str(token))
        replace(token, self.token("first"))
        ingest = self.trial.ports["ingest"]
        self.service = Service(ingest)
        self.addCleanup(self.service.stop)
        self.nodes = ["cool", "warm"]
        self.trial.make_certificates(self.nodes)
        for name in self.nodes:
            self.add_node(name)
        self.start_aggregator()
        self.trial.ports["ingest"] = self.service.port
        for name, heat in (("cool", 40), ("warm", 60)):
            self.heat(name, heat)
            self.start_agent(name)
        self.trial.ports["ingest"] = ingest
        apply(policy({"dontschedule": PATIENT, "deschedule": PATIENT}))
        self.until_violating(["warm"])
        return token

    def make_anew(self):
        """As scripts/pki made the first ones, in a folder beside."""
        live, self.trial.pki = self.trial.pki, self.trial.folder / "pki-new"
        self.trial.make_certificates(self.nodes)
        new, self.trial.pki = self.trial.pki, live
        authority = Certificates(PLANE.pki, "new-ca")
        authority.issue("new-apiserver", "/CN=kube-apiserver", "serverAuth", ["localhost", "kubernetes.default.svc", "127.0.0.1"])
        authority.issue("new-admin", "/O=system:masters/CN=admin", "clientAuth")
        return new

    def trust(self, *folders, cluster):
        """What everybody's authority files hold from now on."""
        for name in AUTHORITIES:
            texts = [(folder / f"{name}.crt").read_bytes() for folder in folders]
            for place in (self.trial.pki, self.callers):
                replace(place / f"{name}.crt", *texts)
        replace(PLANE.pki / "ca.crt", *[(PLANE.pki / f"{name}.crt").read_bytes() for name in cluster])

    def holder(self, name, of):
        """Who trusts the server as callers do, and shows this certificate."""
        folder = self.trial.folder / f"{of.name}-{name}"
        folder.mkdir(exist_ok=True)
        shutil.copy(self.callers / "server-ca.crt", folder)
        for kind in ("crt", "key"):
            shutil.copy(of / f"{name}.{kind}", folder)
        return folder

    def are_taken(self, of):
        """Callers' and agents' certificates of that folder, each: yes or no."""
        return [takes(self.trial.ports["extender"], self.holder("client-scheduler", of), "client-scheduler", "http/1.1"),
                takes(self.trial.ports["ingest"], self.holder("node-cool", of), "node-cool", "binnacle/1")]

    def until_shown(self, port, file):
        certificate = ssl.PEM_cert_to_DER_cert(file.read_text())
        self.until(f"the new certificate on {port}", lambda: shown(port) == certificate, 180)

    def test_everything_is_replaced_under_load_and_no_call_is_lost(self):
        token = self.begin_with_files()
        pki = self.trial.pki
        old, new, second = shutil.copytree(pki, self.trial.folder / "pki-old"), self.make_anew(), self.token("second")
        shutil.copy(PLANE.pki / "ca.crt", PLANE.pki / "old-ca.crt")
        self.callers = shutil.copytree(pki, self.trial.folder / "callers-old")
        processes = dict(self.trial.processes)
        with self.calls() as calls:
            calls.pki = self.callers
            self.assertEqual(self.are_taken(new), [False, False])
            # 1. Everybody trusts both.
            self.trust(old, new, cluster=("old-ca", "new-ca"))
            self.until("both to be taken", lambda: self.are_taken(old) == self.are_taken(new) == [True, True])
            # 2. Everybody shows what is new.
            for name in ("aggregator", *[f"node-{node}" for node in self.nodes], "client-cli"):
                for kind in ("key", "crt"):
                    replace(pki / f"{name}.{kind}", (new / f"{name}.{kind}").read_bytes())
            self.callers = shutil.copytree(new, self.trial.folder / "callers-new")
            self.trust(old, new, cluster=("old-ca", "new-ca"))
            calls.pki = self.callers
            for face in ("ingest", "extender", "metrics", "ops"):
                self.until_shown(self.trial.ports[face], new / "aggregator.crt")
            self.reconnect()
            for name in ("apiserver", "admin"):
                for kind in ("key", "crt"):
                    replace(PLANE.pki / f"{name}.{kind}", (PLANE.pki / f"new-{name}.{kind}").read_bytes())
            self.until_shown(PLANE.port, PLANE.pki / "apiserver.crt")
            replace(token, second)
            ask("DELETE", "/api/v1/namespaces/binnacle/secrets/first")
            # 3. Nothing trusts the old authorities any more.
            self.trust(new, cluster=("new-ca",))
            self.until("the old ones to be refused", lambda: self.are_taken(old) == [False, False])
            self.assertEqual(self.are_taken(new), [True, True])
            self.reconnect()
            PLANE.end("kube-apiserver", signal.SIGKILL)  # ends all connections to it
            PLANE.start_api_server()
            count = calls.count
            self.until("calls after all that", lambda: calls.count > count + 20)
        self.assertEqual((calls.failures, calls.answers), ([], [["cool"]]))
        self.heat("cool", 60)
        self.heat("warm", 40)
        self.until_violating(["cool"], 180)
        self.assertEqual(self.trial.processes, processes, "nothing was started anew")


if __name__ == "__main__":
    heated.run()
