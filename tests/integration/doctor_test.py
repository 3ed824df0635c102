"""`binnacle doctor` against a real trial, with faults put in one by one: each is found, named, and no other is.

Run by meson (suite integration), or by hand: python3 tests/integration/doctor_test.py --build build [TestName]
"""

import http.server
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
import unittest
import urllib.request
from email.utils import formatdate

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from trial import ROOT, Trial, free_port, run_tests  # noqa: E402  (the path comes first)

BUILD = ROOT / "build"
CONFIG = """kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: {url}
  filterVerb: {verb}
  prioritizeVerb: scheduler/prioritize
  preemptVerb: scheduler/preempt
  weight: 100
  nodeCacheCapable: {by_names}
  ignorable: true
  enableHTTPS: true
  httpTimeout: 15s
  managedResources: [{{name: telemetry/scheduling, ignoredByScheduler: true}}]
  tlsConfig: {{caFile: {ca}, certFile: {cert}, keyFile: {key}}}
"""


class ApiServer:
    """A stand-in for an API server whose clock is `ahead` seconds from ours: what it answers is given by path."""

    def __init__(self, pki, ahead, answers):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(answers.get(self.path, {})).encode()
                self.send_response(200 if self.path in answers else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def date_time_string(self, timestamp=None):
                return formatdate(time.time() + ahead, usegmt=True)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "aggregator.crt", pki / "aggregator.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


class Doctor(unittest.TestCase):
    """One trial for all: an aggregator and an agent that are well. Faults are in what the doctor is told, as they would be in settings."""

    @classmethod
    def setUpClass(cls):
        cls.trial = Trial(BUILD)
        cls.addClassCleanup(cls.trial.stop)
        cls.trial.make_certificates(["n1", "n2"])
        cls.pki = cls.trial.pki
        cls.trial.start_aggregator()
        cls.scrape = free_port()
        cls.well = cls.settings("well")
        cls.trial.start("n1", BUILD / "agent/binnacle-agent", "--config", cls.well)
        # The agent says every five seconds which links it has.
        cls.trial.wait_for("the agent's link", lambda: re.search(r"^binnacle_agent_connected\{[^}]*\} 1$", cls.metrics(), re.M), 60)

    @classmethod
    def metrics(cls):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{cls.scrape}/metrics", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    @classmethod
    def settings(cls, name, **changes):
        """The path of an agent's settings file."""
        all_of_them = {"node-name": "n1", "aggregator": [f"localhost:{cls.trial.ports['ingest']}"], "cert": cls.pki / "node-n1.crt",
                       "key": cls.pki / "node-n1.key", "ca": cls.pki / "server-ca.crt", "listen": f"127.0.0.1:{cls.scrape}",
                       "sources": ["os"]} | {key.replace("_", "-"): value for key, value in changes.items()}
        path = cls.trial.folder / f"{name}.yaml"
        path.write_text("".join(f"{key}: {json.dumps(value, default=str)}\n" for key, value in all_of_them.items()))
        return path

    def doctor(self, *words, agent=None, **environment):
        """(exit status, findings by check) of the command; the agent's settings are the well one's if none are given."""
        variables = dict(os.environ, PATH=f"{BUILD / 'agent'}:{os.environ['PATH']}", **self.trial.cli_environment())
        variables.pop("KUBECONFIG", None)
        done = subprocess.run([BUILD / "cli/binnacle", "doctor", *words, "--agent-config", agent or self.well, "--timeout", "60", "-o", "json"],
                              env=variables | environment, capture_output=True, text=True, timeout=120, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertTrue(done.stdout, done.stderr)
        found = {}
        for finding in json.loads(done.stdout)["findings"]:
            found.setdefault(finding["check"], []).append(finding)
        return done.returncode, found

    def assert_finds(self, grade, part, check, **given):
        """One finding of that grade with these words, and a remedy; the exit status fits."""
        status, found = self.doctor(check, **given)
        words = {f["sentence"]: f for f in found[check] if f["grade"] == grade}
        fitting = [f for sentence, f in words.items() if part in sentence]
        self.assertTrue(fitting, f"no {grade} with \"{part}\" in {found}")
        self.assertTrue(fitting[0].get("remedy"), fitting)
        self.assertEqual(status, 1 if grade == "failure" else 0, found)

    def test_a_healthy_trial_has_no_failure_and_everything_was_looked_at(self):
        status, found = self.doctor()
        failures = [f for all_of_it in found.values() for f in all_of_it if f["grade"] == "failure"]
        self.assertEqual((status, failures), (0, []))
        for check in ("kernel", "agent", "sensors", "certificates", "ingest", "extender", "aggregator", "clocks"):
            self.assertIn("ok", [f["grade"] for f in found[check]], found[check])
        for check in ("kubernetes", "pods", "rights"):
            self.assertEqual([f["grade"] for f in found[check]], ["unchecked"])
        # The agent's session is the same as before: nothing that was looked at took its place.
        self.assertNotIn("superseded", self.trial.log("aggregator"))

    def test_the_page_for_people_is_plain_outside_of_a_terminal(self):
        done = subprocess.run([BUILD / "cli/binnacle", "doctor", "kernel"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("0 failures", done.stdout)
        done = subprocess.run([BUILD / "cli/binnacle", "doctor", "kernal"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no check 'kernal'", done.stderr)

    def test_an_option_given_twice_is_refused(self):
        done = subprocess.run([BUILD / "cli/binnacle", "status", "--cert", "a", "--cert", "b"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "binnacle: --cert is given twice: give it once; see binnacle --help\n"))

    def test_no_aggregator_where_the_agent_looks_for_it(self):
        self.assert_finds("failure", "cannot reach localhost", "ingest", agent=self.settings("closed", aggregator=[f"localhost:{free_port()}"]))

    def test_the_agent_trusts_another_ca(self):
        self.assert_finds("failure", "not in the authority file", "ingest", agent=self.settings("ca", ca=self.pki / "agents-ca.crt"))

    def test_the_aggregator_has_another_name_than_the_agent_expects(self):
        self.assert_finds("failure", 'must carry "elsewhere.example"', "ingest", agent=self.settings("name", server_name="elsewhere.example"))

    def test_the_aggregator_does_not_trust_the_agents_ca(self):
        wrong = self.settings("stranger", cert=self.pki / "client-cli.crt", key=self.pki / "client-cli.key")
        self.assert_finds("failure", "refuses the agent", "ingest", agent=wrong)

    def test_the_agent_dials_another_port_of_the_aggregator(self):
        wrong = self.settings("port", aggregator=[f"localhost:{self.trial.ports['ops']}"])
        self.assert_finds("failure", "does not speak binnacle/1", "ingest", agent=wrong)

    def test_the_agents_certificate_is_another_nodes(self):
        wrong = self.settings("other", cert=self.pki / "node-n2.crt", key=self.pki / "node-n2.key")
        self.assert_finds("failure", "speaks for n2, not for node n1", "certificates", agent=wrong)

    def test_the_agents_key_is_anothers(self):
        self.assert_finds("failure", "do not belong together", "certificates", agent=self.settings("key", key=self.pki / "node-n2.key"))

    def test_the_agents_certificate_has_ended(self):
        made, key = self.trial.folder / "ended.crt", self.trial.folder / "ended.key"
        request, names = self.trial.folder / "ended.csr", self.trial.folder / "ended.ext"
        names.write_text("subjectAltName=DNS:n1\nextendedKeyUsage=clientAuth\n")
        # OpenSSL 3.4 takes no negative number of days any more, and has the option that says it better.
        knows_dates = "-not_after" in subprocess.run(["openssl", "x509", "-help"], capture_output=True, text=True).stderr
        ended = ["-not_before", "20200101000000Z", "-not_after", "20210101000000Z"] if knows_dates else ["-days", "-1"]
        for command in (["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=n1"],
                        ["x509", "-req", "-in", request, "-CA", self.pki / "agents-ca.crt", "-CAkey", self.pki / "agents-ca.key", *ended,
                         "-out", made, "-extfile", names]):
            subprocess.run(["openssl", *command], check=True, capture_output=True)
        wrong = self.settings("ended", cert=made, key=key)
        self.assert_finds("failure", "ended on", "certificates", agent=wrong)
        self.assert_finds("failure", "has expired", "ingest", agent=wrong)

    def test_the_agents_token_is_missing_or_empty(self):
        token = self.trial.folder / "token"
        self.assert_finds("failure", "token file", "certificates", agent=self.settings("no-token", token_file=token))
        token.write_text("\n")
        self.assert_finds("failure", "is empty", "certificates", agent=self.settings("empty-token", token_file=token))
        token.write_text("abc\n")
        self.assertEqual(self.doctor("certificates", agent=self.settings("token", token_file=token))[0], 0)

    def test_an_agent_that_does_not_run_or_refuses_its_settings(self):
        self.assert_finds("failure", "does not run", "agent", agent=self.settings("idle"))
        self.assert_finds("failure", "refuses its settings", "agent", agent=self.settings("odd", period="never"))

    def test_an_agent_whose_link_is_about_to_come_is_no_failure(self):
        asked, comes_at = [], 3  # the question that is answered with a link

        class Young(http.server.BaseHTTPRequestHandler):
            """The port of an agent that began a moment ago."""

            def do_GET(self):
                if self.path == "/metrics":
                    asked.append(self.path)
                body = b'binnacle_agent_connected{aggregator="agg-0"} %d\n' % (len(asked) >= comes_at)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Young)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        # The doctor looks for a process with these settings, so there is one; the file then names the port above.
        elsewhere = {"aggregator": [f"localhost:{free_port()}"]}
        own_port = free_port()
        young = self.settings("young", listen=f"127.0.0.1:{own_port}", **elsewhere)
        self.trial.start("young", BUILD / "agent/binnacle-agent", "--config", young)
        self.trial.wait_for("the agent's settings to be read", lambda: listens(own_port), 60)
        self.settings("young", listen=f"127.0.0.1:{server.server_address[1]}", **elsewhere)

        status, found = self.doctor("agent", agent=young)
        self.assertEqual((status, len(asked)), (0, comes_at), found)
        self.assertIn("has a link to agg-0", json.dumps(found))
        comes_at = 1000
        self.assert_finds("failure", "no link to agg-0", "agent", agent=young)

    def test_the_aggregator_knows_no_such_node(self):
        self.assert_finds("failure", "knows no node n9", "aggregator", agent=self.settings("unknown", node_name="n9"))

    def test_the_extender_is_called_where_the_aggregator_says_that_it_listens(self):
        port = self.trial.ports["extender"]
        status, found = self.doctor("extender")
        self.assertEqual((status, [f["grade"] for f in found["extender"]]), (0, ["ok"]), found)
        self.assertIn(f"https://localhost:{port}/scheduler/filter answers", found["extender"][0]["sentence"])
        self.assert_finds("unchecked", "does not say where its extender listens: it gives no status", "extender",
                          BINNACLE_AGGREGATOR=f"https://localhost:{free_port()}")
        status, found = self.doctor("extender", "--extender", f"https://localhost:{free_port()}")
        self.assertEqual((status, len(found["extender"])), (1, 1), found)

    def test_an_extender_without_tls_is_called_without_it_and_named(self):
        plain = Trial(BUILD)
        self.addCleanup(plain.stop)
        plain.make_certificates(["n1"])
        plain.start_aggregator("--unsafe")
        there = {"BINNACLE_AGGREGATOR": f"https://localhost:{plain.ports['ops']}", "BINNACLE_CA": str(plain.pki / "server-ca.crt"),
                 "BINNACLE_CERT": str(plain.pki / "client-cli.crt"), "BINNACLE_KEY": str(plain.pki / "client-cli.key")}
        self.assert_finds("warning", f"http://localhost:{plain.ports['extender']} without TLS", "extender", **there)
        self.assertIn("answers a filter call with your certificate", json.dumps(self.doctor("extender", **there)[1]))

    def test_the_command_line_trusts_another_ca(self):
        self.assert_finds("failure", "not in the authority file", "aggregator", BINNACLE_CA=str(self.pki / "agents-ca.crt"))

    def scheduler_config(self, name, url=None, verb="scheduler/filter", by_names="true", ca="server-ca.crt", who="client-scheduler"):
        path = self.trial.folder / f"scheduler-{name}.yaml"
        path.write_text(CONFIG.format(url=url or f"https://localhost:{self.trial.ports['extender']}", verb=verb, by_names=by_names,
                                      ca=self.pki / ca, cert=self.pki / f"{who}.crt", key=self.pki / f"{who}.key"))
        return path

    def extender(self, **changes):
        return self.doctor("extender", "--scheduler-config", str(self.scheduler_config("tried", **changes)))

    def test_the_extender_as_the_schedulers_configuration_has_it(self):
        for by_names in ("true", "false"):
            status, found = self.extender(by_names=by_names)
            self.assertEqual(status, 0, found)
            self.assertIn("with the scheduler's certificate", json.dumps(found))
        for part, changes in {
            "HTTP status 404": {"verb": "filter"},
            "not in the authority file": {"ca": "agents-ca.crt"},
            "certificate is not signed by a CA that it trusts": {"who": "node-n1"},
            "cannot be reached": {"url": f"https://localhost:{free_port()}"},
        }.items():
            with self.subTest(part):
                status, found = self.extender(**changes)
                self.assertEqual(status, 1, found)
                self.assertIn(part, json.dumps(found))

    def test_an_api_server_whose_clock_differs_and_whose_apiservice_is_down(self):
        down = {"spec": {"service": {"namespace": "b", "name": "binnacle"}},
                "status": {"conditions": [{"type": "Available", "status": "False", "reason": "FailedDiscoveryCheck", "message": "no route to host"}]}}
        server = ApiServer(self.pki, 600, {
            "/version": {"major": "1", "minor": "33", "gitVersion": "v1.33.0"},
            "/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.custom.metrics.k8s.io": down,
        })
        self.addCleanup(server.stop)
        kubeconfig = self.trial.folder / "kubeconfig"
        kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "clusters": [{"name": "k", "cluster": {"server": f"https://localhost:{server.port}", "certificate-authority": str(self.pki / "server-ca.crt")}}]}))
        status, found = self.doctor("kubernetes", "clocks", "--kube-config", str(kubeconfig))
        self.assertEqual(status, 1)
        said = {f["sentence"]: f["grade"] for f in found["kubernetes"] + found["clocks"]}
        for grade, part in (("ok", "Kubernetes v1.33.0"), ("failure", "CRD is not installed"), ("warning", "v1beta1.custom.metrics.k8s.io is not registered"),
                            ("failure", "FailedDiscoveryCheck: no route to host"), ("failure", "ahead of ours"), ("ok", "agrees with ours")):
            self.assertTrue(any(part in s and g == grade for s, g in said.items()), (part, said))


if __name__ == "__main__":
    run_tests()
