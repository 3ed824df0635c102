"""A real control plane on loopback: etcd and kube-apiserver, with certificates, RBAC and the aggregation layer; on demand kube-scheduler,
kube-controller-manager, and kwok with nodes whose pods become Ready though nothing runs.

`cluster` (beside this file) starts one for people; the cluster tests start their own. Only the Python standard library. Everything is
below one folder; every process that was started is ended by its id. BINNACLE_KUBERNETES=1.30 in the environment takes that minor from
modules-on-demand, not the newest of modules/.
"""

import base64
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from trial import PATIENCE, Failure, Processes, free_port  # noqa: E402  (the path comes first)


KUBERNETES = "-".join(filter(None, ("kubernetes", os.environ.get("BINNACLE_KUBERNETES"))))  # the module's name
IS_OLD = bool(os.environ.get("BINNACLE_KUBERNETES"))  # 1.30: its scheduler has no /readyz, its aggregation layer reads Endpoints
PROGRAMS = (("etcd", "etcd"), (KUBERNETES, "kube-apiserver"), (KUBERNETES, "kubectl"))


def program(module, name):
    """A built program, which is built first when it is not there."""
    done = subprocess.run([ROOT / "tests/cluster/build", f"{module}/{name}"], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failure(f"there is no {name}, and tests/cluster/build {module}/{name} did not make it")
    return pathlib.Path(done.stdout.strip()) / name


def built(module, name):
    """A program that is in the cache already, or None: for tests that leave it out rather than build it."""
    pinned = re.search(r"^require \S+ (v\S+)", (ROOT / f"tests/cluster/modules-on-demand/{module}/go.mod").read_text(), re.M)[1]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    path = cache / f"binnacle/cluster/{module}-{pinned}" / name
    return path if path.exists() else None


def own_address():
    """An address of this machine that is not loopback, which an EndpointSlice may not name. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return probe.getsockname()[0]


class Certificates:
    """An authority, and what it signs; ECDSA P-256, valid for a day."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self._openssl(name, f"/CN={name}", "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign", [])

    def path(self, name, kind="crt"):
        return self.folder / f"{name}.{kind}"

    def issue(self, name, subject, usage, names=()):
        kinds = ",".join(("IP:" if word.replace(".", "").isdigit() else "DNS:") + word for word in names)
        extensions = f"keyUsage=critical,digitalSignature\nextendedKeyUsage={usage}" + (f"\nsubjectAltName={kinds}" if kinds else "")
        self._openssl(name, subject, extensions, ["-CA", self.path(self.name), "-CAkey", self.path(self.name, "key")])

    def _openssl(self, name, subject, extensions, signer):
        config = self.path(name, "cnf")
        config.write_text(f"[req]\ndistinguished_name=dn\nx509_extensions=ext\n[dn]\n[ext]\nsubjectKeyIdentifier=hash\n{extensions}\n")
        done = subprocess.run(["openssl", "req", "-x509", "-config", config, "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-sha256",
                               "-days", "1", "-subj", subject, "-keyout", self.path(name, "key"), "-out", self.path(name), *signer],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"openssl made no certificate for {subject}:\n{done.stdout}")


class ControlPlane(Processes):
    """begin() gives an API server that answers; kubectl() and request() speak to it as its administrator. start_…() adds what a test needs
    besides; what is not there yet is built first."""

    def __init__(self, folder=None, outlive=False):
        super().__init__(pathlib.Path(folder or tempfile.mkdtemp(prefix="binnacle-cluster-")), outlive)
        self.pki = self.folder / "pki"
        self.pki.mkdir(mode=0o700, exist_ok=True)
        self.programs = {name: program(module, name) for module, name in PROGRAMS}
        self.etcd_port, self.etcd_peer_port, self.port = free_port(), free_port(), free_port()
        self.kubeconfig = self.folder / "admin.kubeconfig"

    def begin(self):
        self.make_certificates()
        self.write_kubeconfig("admin")
        self.start_etcd()
        self.start_api_server()
        return self

    # Certificates and who is who

    def make_certificates(self):
        self.authority = Certificates(self.pki, "ca")
        self.authority.issue("apiserver", "/CN=kube-apiserver", "serverAuth",
                             ["localhost", "kubernetes", "kubernetes.default.svc", "127.0.0.1", "10.96.0.1"])
        self.authority.issue("admin", "/O=system:masters/CN=admin", "clientAuth")
        self.front_proxy = Certificates(self.pki, "front-proxy-ca")
        self.front_proxy.issue("front-proxy-client", "/CN=front-proxy-client", "clientAuth")
        for command in (["genrsa", "-out", self.pki / "sa.key", "2048"], ["rsa", "-in", self.pki / "sa.key", "-pubout", "-out", self.pki / "sa.pub"]):
            subprocess.run(["openssl", *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def write_kubeconfig(self, user, path=None, inline=True, **fields):
        """A kubeconfig for the holder of the certificate `user`, or with other fields of a user ({"tokenFile": …})."""
        def pem(name, kind):
            return base64.b64encode((self.pki / f"{name}.{kind}").read_bytes()).decode()
        cluster = {"server": f"https://127.0.0.1:{self.port}"}
        if inline:
            cluster["certificate-authority-data"] = pem("ca", "crt")
            who = fields or {"client-certificate-data": pem(user, "crt"), "client-key-data": pem(user, "key")}
        else:
            cluster["certificate-authority"] = str(self.pki / "ca.crt")
            who = fields or {"client-certificate": str(self.pki / f"{user}.crt"), "client-key": str(self.pki / f"{user}.key")}
        path = pathlib.Path(path or self.folder / f"{user}.kubeconfig")
        path.touch(mode=0o600)
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": user,
            "clusters": [{"name": "loopback", "cluster": cluster}],
            "users": [{"name": user, "user": who}],
            "contexts": [{"name": user, "context": {"cluster": "loopback", "user": user}}],
        }))
        return path

    # The programs

    def start_etcd(self, *more):
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{self.etcd_peer_port}"
        self.start("etcd", self.programs["etcd"], "--data-dir", self.folder / "etcd", "--listen-client-urls", client,
                   "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                   "--initial-cluster", f"default={peer}", "--unsafe-no-fsync", "--log-level", "warn", *more)

    def start_api_server(self, *more):
        pki = self.pki
        self.start("kube-apiserver", self.programs["kube-apiserver"],
                   f"--etcd-servers=http://127.0.0.1:{self.etcd_port}", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
                   f"--secure-port={self.port}", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
                   f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key", f"--client-ca-file={pki}/ca.crt",
                   "--authorization-mode=Node,RBAC", "--allow-privileged=true",
                   "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/sa.pub",
                   f"--service-account-signing-key-file={pki}/sa.key",
                   f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt", "--requestheader-allowed-names=front-proxy-client",
                   "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
                   "--requestheader-extra-headers-prefix=X-Remote-Extra-", f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
                   f"--proxy-client-key-file={pki}/front-proxy-client.key", "--enable-aggregator-routing=true", *more)
        self.wait_for("the API server", self.is_ready, 120)

    def start_controller_manager(self, *more):
        """All controllers: service accounts, Deployments, the HPA, namespaces' ends, taints of nodes that fell silent."""
        self.authority.issue("kube-controller-manager", "/CN=system:kube-controller-manager", "clientAuth")
        access, pki = self.write_kubeconfig("kube-controller-manager"), self.pki
        port = free_port()
        self.start("kube-controller-manager", program(KUBERNETES, "kube-controller-manager"), f"--kubeconfig={access}",
                   f"--authentication-kubeconfig={access}", f"--authorization-kubeconfig={access}", "--bind-address=127.0.0.1",
                   f"--secure-port={port}", f"--cert-dir={self.folder}/kube-controller-manager", "--leader-elect=false",
                   "--use-service-account-credentials", f"--service-account-private-key-file={pki}/sa.key", f"--root-ca-file={pki}/ca.crt",
                   f"--cluster-signing-cert-file={pki}/ca.crt", f"--cluster-signing-key-file={pki}/ca.key", *more)
        # Pods cannot be made before their namespace's service account is there.
        self.wait_for("the default service account", lambda: self.request("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] == 200, 120)
        return port

    def start_scheduler(self, configuration=None, name="kube-scheduler", *more):
        """A scheduler with a KubeSchedulerConfiguration (without it, one without extenders), whose connection and election are filled in."""
        self.authority.issue(name, "/CN=system:kube-scheduler", "clientAuth")
        access = str(self.write_kubeconfig(name))
        configuration = dict({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}, **(configuration or {}))
        configuration["leaderElection"] = {"leaderElect": False}
        configuration["clientConnection"] = dict({"qps": 1000, "burst": 2000}, **configuration.get("clientConnection", {}), kubeconfig=access)
        file, port = self.folder / f"{name}.json", free_port()
        file.write_text(json.dumps(configuration))
        self.start(name, program(KUBERNETES, "kube-scheduler"), f"--config={file}", f"--authentication-kubeconfig={access}",
                   f"--authorization-kubeconfig={access}", "--bind-address=127.0.0.1", f"--secure-port={port}", f"--cert-dir={self.folder}/{name}", *more)
        self.wait_for(name, lambda: self.answers(port, "/healthz" if IS_OLD else "/readyz"), 120)
        return port

    def start_kwok(self, nodes=(), *more):
        """kwok, which keeps nodes Ready that have its annotation and lets their pods become Ready; and such nodes."""
        self.start("kwok", program("kwok", "kwok"), f"--kubeconfig={self.kubeconfig}", f"--config={ROOT}/tests/cluster/support/stages.yaml",
                   "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", *more)
        for node in nodes:
            self.add_node(node)
        self.wait_for("kwok's nodes", lambda: set(nodes) <= set(self.ready_nodes()), 120)

    def add_node(self, name, cpu="32", memory="256Gi", pods="110", **labels):
        room = {"cpu": cpu, "memory": memory, "pods": pods}
        node = {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **labels},
                             "annotations": {"kwok.x-k8s.io/node": "fake"}},
                "status": {"allocatable": room, "capacity": room}}
        code, text = self.request("POST", "/api/v1/nodes", node)
        if code not in (201, 409):
            raise Failure(f"node {name}: {code}: {text}")

    def ready_nodes(self):
        nodes = json.loads(self.request("GET", "/api/v1/nodes")[1])["items"]
        return [n["metadata"]["name"] for n in nodes
                if any(c["type"] == "Ready" and c["status"] == "True" for c in n.get("status", {}).get("conditions", []))]

    def deschedule(self, policy, *more):
        """One round of the descheduler with a DeschedulerPolicy; its log."""
        file = self.folder / "descheduler.json"
        file.write_text(json.dumps(dict({"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy"}, **policy)))
        done = subprocess.run([program("descheduler", "descheduler"), f"--policy-config-file={file}", f"--kubeconfig={self.kubeconfig}",
                               "--descheduling-interval=0", "--bind-address=127.0.0.1", f"--secure-port={free_port()}",
                               f"--cert-dir={self.folder}/descheduler", "--v=2", *more],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise Failure(f"the descheduler ended with {done.returncode}:\n{done.stdout[-3000:]}")
        return done.stdout

    def compact(self):
        """etcd forgets all that was before now."""
        newest = json.loads(self.request("GET", "/api/v1/namespaces")[1])["metadata"]["resourceVersion"]
        wish = json.dumps({"revision": newest, "physical": True}).encode()
        urllib.request.urlopen(f"http://127.0.0.1:{self.etcd_port}/v3/kv/compaction", wish, timeout=30).close()

    def is_ready(self):
        try:
            return self.request("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def install_crd(self):
        self.kubectl("apply", "-f", ROOT / "charts/binnacle/crds/taspolicy.yaml")
        self.until_established("taspolicies.telemetry.intel.com")

    def until_established(self, *definitions):
        """All CustomResourceDefinitions, if none is named. `kubectl wait` fails for one that has no conditions yet, so it is asked again."""
        which = [f"crd/{name}" for name in definitions] or ["crd", "--all"]
        self.wait_for("the CRDs", lambda: self.kubectl("wait", "--for=condition=Established", *which, "--timeout=10s", check=False)[0] == 0)

    def serve(self, name, namespace, port, port_name="metrics-api"):
        """A service without pods: its one endpoint is what listens on `port` of this machine."""
        self.apply({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace},
                    "spec": {"ports": [{"name": port_name, "port": 443, "targetPort": port}]}})
        self.add_endpoint(name, namespace, port, port_name)

    def add_endpoint(self, name, namespace, port, port_name="metrics-api"):
        """What listens on `port` of this machine, as the one endpoint of a service: no controller finds any here."""
        ports = [{"name": port_name, "port": port, "protocol": "TCP"}]
        if IS_OLD:
            endpoint = {"apiVersion": "v1", "kind": "Endpoints", "subsets": [{"addresses": [{"ip": own_address()}], "ports": ports}]}
        else:
            endpoint = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
                        "endpoints": [{"addresses": [own_address()], "conditions": {"ready": True}}], "ports": ports}
        self.apply(endpoint | {"metadata": {"name": name, "namespace": namespace, "labels": {"kubernetes.io/service-name": name}}})

    def aggregators_kubeconfig(self, writes=False, path=None, **fields):
        """For a service account of namespace binnacle, which is made here, with the rights to read and to ask that the chart gives, and to write
        nothing, unless `writes`. Other fields of the user may be given instead of a token."""
        self.kubectl("create", "namespace", "binnacle")
        self.kubectl("create", "serviceaccount", "aggregator", "-n", "binnacle")
        self.kubectl("create", "clusterrole", "binnacle", "--verb=get,list,watch", "--resource=taspolicies.telemetry.intel.com,pods,nodes,replicasets.apps")
        who = "--serviceaccount=binnacle:aggregator"
        self.kubectl("create", "clusterrolebinding", "binnacle", "--clusterrole=binnacle", who)
        self.kubectl("create", "clusterrolebinding", "binnacle-auth", "--clusterrole=system:auth-delegator", who)
        self.kubectl("create", "rolebinding", "binnacle-auth", "-n", "kube-system", "--role=extension-apiserver-authentication-reader", who)
        if writes:
            for right, verbs, what in (("nodes", "patch", "nodes"), ("statuses", "patch", "taspolicies.telemetry.intel.com/status"),
                                       ("leases", "get,create,update", "leases.coordination.k8s.io"), ("events", "create,patch", "events.events.k8s.io")):
                self.kubectl("create", "clusterrole", f"binnacle-{right}", f"--verb={verbs}", f"--resource={what}")
                self.kubectl("create", "clusterrolebinding", f"binnacle-{right}", f"--clusterrole=binnacle-{right}", who)
        return self.write_kubeconfig("aggregator", path, inline=not fields, **(fields or {"token": self.token("aggregator", "binnacle")}))

    # What its administrator asks

    def version(self):
        """As "v1.36.3"."""
        return json.loads(self.request("GET", "/version")[1])["gitVersion"]

    def answers(self, port, path):
        """The text of a health or metrics page of one of its programs, which signed its certificate itself; None when there is none yet."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(self.pki / "admin.crt", self.pki / "admin.key")
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{port}{path}", context=context, timeout=10 * PATIENCE) as answer:
                return answer.read().decode()
        except OSError:
            return None

    def token(self, name, namespace="default", *words):
        return self.kubectl("create", "token", name, "-n", namespace, *words).strip()

    def apply(self, *things):
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": things}))

    def request(self, method, path, body=None, content_type="application/json", timeout=10, token=None):
        """(status, text); as the holder of a token if one is given."""
        context = ssl.create_default_context(cafile=str(self.pki / "ca.crt"))
        headers = {"Content-Type": content_type}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        else:
            context.load_cert_chain(self.pki / "admin.crt", self.pki / "admin.key")
        data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        asked = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, context=context, timeout=timeout * PATIENCE) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def kubectl(self, *words, stdin=None, check=True):
        """Its standard output; a failure is a Failure with what it said, unless check=False: then (status, output)."""
        environment = dict(os.environ, KUBECONFIG=str(self.kubeconfig), KUBECACHEDIR=str(self.folder / "kubectl-cache"))
        done = subprocess.run([self.programs["kubectl"], *[str(word) for word in words]], env=environment, input=stdin, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60 * PATIENCE, check=False)
        if not check:
            return done.returncode, done.stdout
        if done.returncode != 0:
            raise Failure(f"kubectl {' '.join(str(word) for word in words)} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout
