"""Commands with a kubeconfig alone: the real program, real aggregators, and a kubectl whose forwards lead to them.

python3 tests/cli/bridge/bridge_test.py --build build
"""

import base64
import http.client
import http.server
import json
import os
import pathlib
import signal
import ssl
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from trial import Trial, free_ports, run_tests  # noqa: E402  (the path comes first)

BUILD = None
HERE = pathlib.Path(__file__).resolve().parent
LABELS = {"app.kubernetes.io/name": "binnacle", "app.kubernetes.io/instance": "binnacle", "app.kubernetes.io/component": "aggregator"}


def encoded(path):
    return base64.b64encode(path.read_bytes()).decode()


def runs(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Listener(http.server.ThreadingHTTPServer):
    """Somebody with the aggregator's certificate, who notes what each call shows: (Authorization, name in the client's certificate)."""

    def __init__(self, pki):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                names = dict(pair for part in (self.connection.getpeercert() or {}).get("subject", ()) for pair in part)
                self.server.shown.add((self.headers["Authorization"], names.get("commonName")))
                self.send_error(401)

            def log_message(self, *_):
                pass

        self.shown = set()
        super().__init__(("127.0.0.1", 0), Handler)
        security = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        security.load_cert_chain(pki / "aggregator.crt", pki / "aggregator.key")
        security.load_verify_locations(pki / "clients-ca.crt")
        security.verify_mode = ssl.CERT_OPTIONAL
        self.socket = security.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


class Bridge(unittest.TestCase):
    def setUp(self):
        self.trial = trial = Trial(BUILD)
        self.addCleanup(trial.stop)
        trial.make_certificates([], server_names=["binnacle.binnacle.svc"])
        trial.start_aggregator("--replica-id", "first")
        second = free_ports()
        trial.start_aggregator("--replica-id", "second", name="second", ports=second)
        self.cluster = trial.folder / "cluster"
        self.cluster.mkdir()
        self.put("ports.json", {"pod-1": trial.ports["ops"], "pod-2": second["ops"]})
        self.pods("pod-1", "pod-2")
        self.secret(certificate=False)
        self.kubeconfig(self.own_certificate())
        self.plugin = trial.folder / "kubectl-binnacle"
        self.plugin.symlink_to(trial.build / "cli/binnacle")

    def put(self, name, value):
        new = self.cluster / "new"
        new.write_text(json.dumps(value))
        new.rename(self.cluster / name)

    def pods(self, *names):
        service = {"kind": "Service", "metadata": {"name": "binnacle"}, "spec": {"ports": [{"name": "ops", "port": 9102}], "selector": LABELS}}
        self.put("objects.json", {"items": [service, *({"kind": "Pod", "metadata": {"name": name, "labels": LABELS}, "status": {"phase": "Running"}} for name in names)]})

    def kubeconfig(self, user, **cluster):
        self.config = self.cluster / "config"
        self.config.write_text(json.dumps({
            "current-context": "here", "contexts": [{"name": name, "context": {"cluster": "c", "user": "ann"}} for name in ("here", "there")],
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1", "certificate-authority": str(self.trial.pki / "server-ca.crt"), **cluster}}],
            "users": [{"name": "ann", "user": user}]}))

    def own_certificate(self):
        """The fields of a kubeconfig's user who has a certificate."""
        return {"client-certificate-data": encoded(self.trial.pki / "client-cli.crt"), "client-key-data": encoded(self.trial.pki / "client-cli.key")}

    def secret(self, *, certificate):
        """The chart's, with or without its client certificate."""
        more = {"tls.crt": encoded(self.trial.pki / "client-scheduler.crt"), "tls.key": encoded(self.trial.pki / "client-scheduler.key")} if certificate else {}
        self.put("secret.json", {"data": {"ca.crt": encoded(self.trial.pki / "server-ca.crt"), **more}})

    def api_service(self, name, namespace, **metadata):
        self.put("apiservice.json", {"metadata": metadata, "spec": {"service": {"name": name, "namespace": namespace}, "caBundle": encoded(self.trial.pki / "server-ca.crt")}})

    def what_is_shown(self, *words):
        """By the command, to somebody at the end of the forward; and what the command says."""
        somebody = Listener(self.trial.pki)
        self.addCleanup(somebody.stop)
        self.put("ports.json", {"pod-1": somebody.server_port})
        self.pods("pod-1")
        done = self.run_it("status", "--kube-config", self.config, *words)
        self.assertEqual(done.returncode, 1, done.stdout)  # nobody gets an answer there
        return somebody.shown, done.stderr

    def environment(self, **more):
        own = {key: value for key, value in os.environ.items() if not key.startswith(("BINNACLE_", "KUBE"))}
        return {**own, "PATH": f"{HERE}:{own['PATH']}", "FAKE_KUBECTL": str(self.cluster), "XDG_CONFIG_HOME": str(self.trial.folder), **more}

    def run_it(self, *words, program=None, **more):
        return subprocess.run([program or self.trial.build / "cli/binnacle", *words], env=self.environment(**more), capture_output=True, text=True, timeout=120, check=False)

    def run_at_a_terminal(self, *words):
        """(exit status, standard output, what the terminal shows of standard error)"""
        ours, theirs = os.openpty()
        running = subprocess.Popen([self.trial.build / "cli/binnacle", *words], env=self.environment(TERM="xterm"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # nobody has the other end open any more
            pass
        os.close(ours)
        output, _ = running.communicate(timeout=120)
        return running.returncode, output, shown.decode()

    def lines(self, name):
        file = self.cluster / name
        return file.read_text().split("\n")[:-1] if file.exists() else []

    def wait_until_no_forward_runs(self):
        self.trial.wait_for("the forwards to end", lambda: not any(runs(pid) for pid in self.lines("pids")))

    def test_the_plugin_needs_nothing_but_the_users_kubeconfig(self):
        done = self.run_it("status", program=self.plugin, KUBECONFIG=str(self.config))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("replica first", done.stdout)
        self.assertIn("replica second", done.stdout)
        # People know pods, and not the ports of forwards that have ended.
        self.assertEqual(sorted(word for word in done.stdout.split() if "pod-" in word), ["pod/pod-1", "pod/pod-2"])
        self.assertEqual(len(self.lines("pids")), 2)
        self.wait_until_no_forward_runs()
        # Whoever names an aggregator is led to that one.
        named = self.run_it("status", program=self.plugin, KUBECONFIG=str(self.config), **self.trial.cli_environment())
        self.assertEqual((named.returncode, named.stderr), (0, ""))
        self.assertNotIn("replica second", named.stdout)
        self.assertEqual(len(self.lines("pids")), 2)

    def test_the_plugins_doctor_asks_the_cluster_that_kubectl_would_ask(self):
        home = self.trial.folder / "home"
        (home / ".kube").mkdir(parents=True)
        (home / ".kube/config").symlink_to(self.config)
        for program, words, asks in ((self.plugin, [], True), (None, [], False), (None, ["--kube-context", "there"], True)):
            with self.subTest(program=program, words=words):
                done = self.run_it("doctor", "kubernetes", *words, program=program, HOME=str(home))
                self.assertEqual("no cluster is asked" in done.stdout, not asks, done.stdout + done.stderr)
                self.assertEqual("127.0.0.1:1" in done.stdout, asks, done.stdout + done.stderr)

    def test_every_command_takes_the_flags(self):
        for words in (["status"], ["top", "--once"], ["policy", "list"]):
            with self.subTest(words):
                done = self.run_it(*words, "--kube-config", self.config, "--kube-context", "there")
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual({line.partition(" get ")[0] for line in self.lines("asked") if " get " in line}, {"--namespace binnacle --context there"})
        both = self.run_it("status", "--kube-config", self.config, "--aggregator", "https://localhost:1")
        self.assertEqual((both.returncode, both.stderr), (2, "binnacle: --aggregator and --kube-config are two ways to the same place: give one\n"))

    # kubectl knows the way through the proxy, and all goes through kubectl.
    def test_a_kubeconfig_with_a_proxy_is_good_for_kubectl_and_so_for_us(self):
        self.kubeconfig(self.own_certificate(), **{"proxy-url": "socks5://127.0.0.1:1"})
        done = self.run_it("status", "--kube-config", self.config)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("replica first", done.stdout)

    def test_a_plugin_of_the_kubeconfig_says_who_one_is(self):
        given = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {
            "clientCertificateData": (self.trial.pki / "client-cli.crt").read_text(), "clientKeyData": (self.trial.pki / "client-cli.key").read_text()}}
        self.put("given", given)
        self.kubeconfig({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "cat", "args": [str(self.cluster / "given")], "interactiveMode": "Never"}})
        done = self.run_it("status", "--kube-config", self.config)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.kubeconfig({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "false", "interactiveMode": "Never"}})
        done = self.run_it("status", "--kube-config", self.config)
        self.assertEqual(done.returncode, 1)
        self.assertIn("false, which the kubeconfig names, gave no credentials: run it by hand", done.stderr)

    # The day's first call of kubectl may want a login: a browser, a code, a second factor.
    def test_a_login_is_shown_at_a_terminal_and_may_take_longer_than_a_call(self):
        (self.cluster / "login").write_text("25")
        status, output, shown = self.run_at_a_terminal("status", "--kube-config", self.config)
        self.assertEqual(status, 0, shown)
        self.assertIn("To sign in, open https://login.example and enter the code QX7-2F9", shown)
        self.assertIn("replica first", output)

    def test_a_login_that_nobody_sees_is_ended_with_the_remedy(self):
        (self.cluster / "login").write_text("3600")
        done = self.run_it("status", "--kube-config", self.config)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("if kubectl wants a login, log in first, with the same kubeconfig and context: kubectl get --raw /version", done.stderr)

    def test_what_is_missing_is_said_with_its_remedy(self):
        def said(*words, **more):
            done = self.run_it("status", "--kube-config", self.config, *words, **more)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            return done.stderr

        self.assertIn("kubectl, which is not in PATH: install it", said(PATH=str(self.trial.folder)))
        for right, resource in (("get", "pods"), ("secret", "secrets"), ("port-forward", "pods/portforward")):
            (self.cluster / "forbidden").write_text(right)
            words = said()
            self.assertIn('User "ann" cannot ', words)
            self.assertIn(f'resource "{resource}"', words)
            self.assertIn("docs/operate.md", words)
        self.assertIn("--ca", (self.cluster / "forbidden").write_text("secret") and said())
        # Who has the CA needs no right to the Secret.
        done = self.run_it("status", "--kube-config", self.config, "--ca", self.trial.pki / "server-ca.crt")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (self.cluster / "forbidden").unlink()
        self.pods()
        self.assertIn("no pod of Service binnacle in namespace binnacle runs", said())
        self.put("objects.json", {"items": []})
        self.assertIn("namespace elsewhere has no Service of Binnacle's chart: --kube-namespace names another one", said("--kube-namespace", "elsewhere"))
        self.kubeconfig({})
        self.pods("pod-1")
        self.assertIn("the kubeconfig has neither a token nor a certificate", said())

    # With certManager the Secret has the CA of callers, and not everybody may read Secrets.
    def test_the_authority_is_that_of_the_api_service(self):
        self.put("secret.json", {"data": {"ca.crt": encoded(self.trial.pki / "clients-ca.crt")}})
        done = self.run_it("status", "--kube-config", self.config)
        self.assertEqual(done.returncode, 1, done.stdout)
        (self.cluster / "forbidden").write_text("secret")
        self.api_service("binnacle", "binnacle")
        done = self.run_it("status", "--kube-config", self.config)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # That of another product says nothing about the aggregator.
        self.api_service("adapter", "binnacle")
        self.assertIn('resource "secrets"', self.run_it("status", "--kube-config", self.config).stderr)

    # Whoever may write in a namespace can make there what the chart makes there: Service, pods and Secret, but no APIService.
    def test_a_token_goes_to_no_server_that_only_a_secret_vouches_for(self):
        self.kubeconfig({"token": "ann-s-token"})
        file = self.trial.folder / "token"
        file.write_text("reader-s-token")
        for words, whose in (((), "the kubeconfig's token"), (("--token-file", file), f"the token in {file}")):
            with self.subTest(whose):
                shown, said = self.what_is_shown(*words)
                self.assertEqual(shown, set())
                self.assertIn(f"{whose} is not sent, because only Secret binnacle-client, which anybody who may write in namespace binnacle can make, "
                              "says whose server that is: give the CA of the aggregator's certificate with --ca", said)
        self.assertEqual(self.lines("pids"), [])  # not even a forward was opened
        # The user's word, and the cluster's.
        ca = ("--ca", self.trial.pki / "server-ca.crt")
        self.assertEqual(self.what_is_shown(*ca)[0], {("Bearer ann-s-token", None)})
        self.assertEqual(self.what_is_shown(*ca, "--token-file", file)[0], {("Bearer reader-s-token", None)})
        self.api_service("binnacle", "binnacle")
        self.assertEqual(self.what_is_shown()[0], {("Bearer ann-s-token", None)})

    def test_where_only_the_secret_vouches_certificates_are_shown(self):
        self.secret(certificate=True)
        for user, name in (({"token": "ann-s-token"}, "scheduler"), ({"token": "ann-s-token", **self.own_certificate()}, "cli")):
            self.kubeconfig(user)
            with self.subTest("no APIService", name=name):
                self.assertEqual(self.what_is_shown()[0], {(None, name)})
            (self.cluster / "forbidden").write_text("apiservice")
            with self.subTest("no right to read it", name=name):
                self.assertEqual(self.what_is_shown()[0], {(None, name)})
            (self.cluster / "forbidden").unlink()
            self.api_service("adapter", "monitoring", labels={"app.kubernetes.io/name": "adapter"})
            with self.subTest("another product's", name=name):
                self.assertEqual(self.what_is_shown()[0], {(None, name)})
            (self.cluster / "apiservice.json").unlink()

    def test_of_a_token_and_a_certificate_only_the_certificate_is_shown(self):
        self.api_service("binnacle", "binnacle")
        self.kubeconfig({"token": "ann-s-token"})
        self.assertEqual(self.what_is_shown()[0], {("Bearer ann-s-token", None)})
        named = {"client-certificate": str(self.trial.pki / "client-cli.crt"), "client-key": str(self.trial.pki / "client-cli.key")}
        self.put("given", {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {
            "token": "ann-s-token", "clientCertificateData": (self.trial.pki / "client-cli.crt").read_text(),
            "clientKeyData": (self.trial.pki / "client-cli.key").read_text()}})
        plugin = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "cat", "args": [str(self.cluster / "given")], "interactiveMode": "Never"}}
        for where, user in (("data", {"token": "ann-s-token", **self.own_certificate()}), ("files", {"token": "ann-s-token", **named}), ("a plug-in", plugin)):
            with self.subTest(where):
                self.kubeconfig(user)
                self.assertEqual(self.what_is_shown()[0], {(None, "cli")})
        # The user's word is stronger.
        file = self.trial.folder / "token"
        file.write_text("reader-s-token")
        self.assertEqual(self.what_is_shown("--token-file", file)[0], {("Bearer reader-s-token", None)})

    # A chart without custom metrics, for people whose kubeconfig has a token.
    def test_the_secrets_certificate_gets_an_answer(self):
        self.secret(certificate=True)
        self.kubeconfig({"token": "ann-s-token"})
        done = self.run_it("status", "--kube-config", self.config)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("replica first", done.stdout)

    def test_nothing_is_opened_where_the_charts_apiservice_leads_elsewhere(self):
        self.secret(certificate=True)
        self.api_service("x", "telemetry", labels=LABELS)
        for user in ({"token": "ann-s-token"}, self.own_certificate()):
            self.kubeconfig(user)
            shown, said = self.what_is_shown()
            self.assertEqual(shown, set())
            self.assertIn("leads to Service x in namespace telemetry, not to binnacle in binnacle: give --kube-namespace telemetry, or the CA", said)
        self.assertEqual(self.lines("pids"), [])
        self.assertEqual([line for line in self.lines("asked") if " secret " in line], [])
        # A second release of the chart has no APIService of its own.
        self.assertEqual(self.what_is_shown("--ca", self.trial.pki / "server-ca.crt")[0], {(None, "cli")})

    def test_the_name_in_the_certificate_is_the_services(self):
        done = self.run_it("status", "--kube-config", self.config, "--kube-namespace", "elsewhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("binnacle.elsewhere.svc", done.stderr)

    def status_events(self):
        """The dashboard's events about the replicas, as they come."""
        connection = http.client.HTTPConnection(self.origin, timeout=120)
        self.addCleanup(connection.close)
        connection.request("GET", "/live?topic=status", headers={"Authorization": "Bearer " + self.key})
        for line in connection.getresponse():
            if line.startswith(b"data: "):
                yield json.loads(line[6:])["replicas"]

    def test_a_forward_that_dies_is_begun_again_and_none_outlives_the_command(self):
        environment = [f"{key}={value}" for key, value in self.environment().items()]
        self.trial.start("dashboard", "env", "-i", *environment, self.trial.build / "cli/binnacle", "dashboard", "-o", "json", "--kube-config", self.config)
        self.trial.wait_for("the link", lambda: '"link"' in self.trial.log("dashboard"))
        self.origin, link = json.loads(self.trial.log("dashboard"))["link"].removeprefix("http://").split("/#link=")
        opened = http.client.HTTPConnection(self.origin, timeout=60)
        self.addCleanup(opened.close)
        opened.request("POST", "/open", json.dumps({"link": link}))
        self.key = json.loads(opened.getresponse().read())["key"]
        events = self.status_events()
        names = lambda: sorted(r["status"]["replica"] if "status" in r else "away" for r in next(events))  # noqa: E731
        while names() != ["first", "second"]:
            pass
        # The pods are replaced by others, and both forwards die.
        self.put("ports.json", {"pod-3": json.loads((self.cluster / "ports.json").read_text())["pod-1"]})
        self.pods("pod-3")
        before = self.lines("pids")
        for pid in before:
            os.kill(int(pid), signal.SIGKILL)
        while names() != ["first", "first"]:
            pass
        self.trial.end("dashboard", signal.SIGKILL)
        self.wait_until_no_forward_runs()
        self.assertGreater(len(self.lines("pids")), len(before))


if __name__ == "__main__":
    run_tests(__doc__)
