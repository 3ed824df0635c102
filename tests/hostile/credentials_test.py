"""Certificates and tokens that are stolen, carried elsewhere, invented, or another's: what they open, and what they cost.

Run by meson (suite hostile), or by hand: python3 tests/hostile/credentials_test.py --build build [TestName]
"""

import http.client
import json
import ssl
import subprocess
import time

from attacked import PATIENCE, Hostile, WithApiServer
from trial import Caller, run_tests


class OneFaceOnly(Hostile):
    """One authority signs all callers: the certificate of the scheduler once opened every face, and everybody's the extender."""

    def answer(self, face, who, path):
        with Caller(self.trial.ports[face], self.trial.pki, who, PATIENCE) as caller:
            return caller.request("POST" if face == "extender" else "GET", path, "{}" if face == "extender" else None)[0]

    def test_a_certificate_opens_the_faces_that_name_it_and_no_other(self):
        self.begin("--extender-callers", "scheduler", "--ops-callers", "cli", "--metrics-callers", "cli")
        paths = {"extender": "/scheduler/filter", "ops": "/api/v1/status", "metrics": "/apis/custom.metrics.k8s.io/v1beta2"}
        for face, path in paths.items():
            for who in ("scheduler", "cli"):
                may = (who == "scheduler") == (face == "extender")
                with self.subTest(face=face, who=who):
                    self.assertEqual(self.answer(face, who, path) == 403, not may)
        answer = self.watch_filter()
        self.wait_for("an answer", lambda: len(answer.took) > 3)
        self.assertEqual(answer.failed, [])
        # Nobody but a replica gets a replica's state.
        for who in ("scheduler", "cli"):
            self.assertEqual(self.answer("ops", who, "/replicas/v1/state"), 403)


class StolenKeys(Hostile):
    """Whoever had a stolen key once kept everything that the key opened, until the certificate expired."""

    def serial(self, name):
        said = subprocess.run(["openssl", "x509", "-noout", "-serial", "-in", self.trial.pki / f"{name}.crt"], capture_output=True, text=True, timeout=60, check=True)
        return said.stdout

    def opens_the_extender(self):
        try:
            with Caller(self.trial.ports["extender"], self.trial.pki, "scheduler", PATIENCE) as caller:
                return caller.request("POST", "/scheduler/filter", "{}")[0] > 0
        except (OSError, http.client.HTTPException):
            return False

    def test_a_denied_serial_number_opens_nothing_and_ends_what_it_had_opened(self):
        listed = self.trial.folder / "denied"
        listed.write_text("# nobody yet\n")
        self.begin("--denied-serials", listed)
        thief = Caller(self.trial.ports["extender"], self.trial.pki, "scheduler", PATIENCE)
        self.addCleanup(thief.__exit__)
        thief.request("POST", "/scheduler/filter", "{}")
        self.assertTrue(self.opens_the_extender())

        listed.write_text(self.serial("client-scheduler") + self.serial("node-good"))
        self.wait_for("the extender to refuse it", lambda: not self.opens_the_extender())
        with self.assertRaises((OSError, http.client.HTTPException)):
            thief.request("POST", "/scheduler/filter", "{}")
        self.wait_for("the agent's session to end", lambda: self.counted("binnacle_sessions") == 0)
        self.assertGreater(self.refused("denied"), 0)
        self.assertGreater(self.counted("binnacle_http_dropped_total", server="extender", reason="denied"), 0)
        # The others' certificates count as before, and the status says what happened.
        warnings = json.loads(self.trial.ask("ops", "/api/v1/status")[1])["warnings"]
        for port in ("agents' port", "extender"):
            self.assertTrue([w for w in warnings if w.startswith(port) and "serial number is denied" in w], (port, warnings))


class StrangeIdentity(Hostile):
    """The last segment of any URI in a certificate was once a node's name, whatever trust domain it came from."""

    def certificate_with(self, uri, name):
        """Signed by the agents' authority, without a name but the URI."""
        pki = self.trial.pki
        (pki / f"node-{name}.ext").write_text(f"subjectAltName=URI:{uri}\n")
        openssl = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True)  # noqa: E731  (one word for three calls)
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", pki / f"node-{name}.key")
        openssl("req", "-new", "-key", pki / f"node-{name}.key", "-subj", "/O=elsewhere", "-out", pki / f"node-{name}.csr")
        openssl("x509", "-req", "-in", pki / f"node-{name}.csr", "-CA", pki / "agents-ca.crt", "-CAkey", pki / "agents-ca.key", "-CAcreateserial",
                "-days", "1", "-extfile", pki / f"node-{name}.ext", "-out", pki / f"node-{name}.crt")

    def test_a_uri_of_another_trust_domain_names_no_node(self):
        self.begin()
        self.certificate_with("spiffe://elsewhere/ns/x/late", "stranger")
        self.trial.start_agent("late", certificate="stranger")
        self.wait_for("the refusal", lambda: self.refused("wrong_node") > 0)
        self.assertEqual(self.counted("binnacle_nodes", state="connected"), 1)
        self.assert_the_agent_stayed()


class InventedTokens(WithApiServer):
    """Each bearer token that somebody invented once was a question to the API server, without a bound."""

    def asker(self, face, address):
        """A connection without a certificate, from that address."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection("127.0.0.1", self.trial.ports[face], timeout=PATIENCE, context=context, source_address=(address, 0))
        self.addCleanup(connection.close)
        return connection

    def status(self, connection, token):
        connection.request("GET", "/apis/custom.metrics.k8s.io/v1beta2/nodes/%2A/rapl_power_watts", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def test_the_api_server_is_asked_about_few_of_them_and_whoever_may_read_reads_on(self):
        self.api.holders["honest"] = {"username": "prometheus", "groups": []}
        self.api.may_read.add("prometheus")
        self.begin(*self.in_a_cluster())
        honest = self.asker("metrics", "127.0.0.1")
        self.wait_for("the honest token to count", lambda: self.status(honest, "honest") == 200)
        before, began = self.api.asked["tokenreviews"], time.monotonic()
        statuses = []
        for face in ("metrics", "ops"):
            for network in (1, 2):
                attacker = self.asker(face, f"127.0.{network}.66")
                statuses += [self.status(attacker, f"invented-{face}-{network}-{i}") for i in range(200)]
                self.assertEqual(self.status(honest, "honest"), 200)
        asked, took = self.api.asked["tokenreviews"] - before, time.monotonic() - began
        print(f"\n    {len(statuses)} invented tokens, {asked} questions in {took:.1f} s", end="")
        # Of each address 32 at once, and one more every two seconds; the honest one's every ten.
        self.assertLessEqual(asked, 2 * (32 + took / 2 + 1) + took / 10 + 1)
        self.assertEqual(set(statuses) - {401, 429}, set())
        self.assertGreater(statuses.count(401), 0)
        self.assertEqual(self.counted("binnacle_callers_total", outcome="rationed"), statuses.count(429))
        if took < 200:  # else the machine was so slow that each token came in time
            self.assertGreater(statuses.count(429), 0)
        # A token that nobody has shown yet, from an address that invented none.
        self.api.holders["another"] = {"username": "prometheus", "groups": []}
        self.assertEqual(self.status(self.asker("metrics", "127.0.3.66"), "another"), 200)


class CarriedToken(WithApiServer):
    """The token of an agent's pod once opened a session from wherever it was carried."""

    def put_pod(self, name, address):
        self.api.put(f"/api/v1/namespaces/agents/pods/{name}", {"metadata": {"name": name, "namespace": "agents"}, "spec": {"nodeName": "late"},
                                                                "status": {"podIP": address, "podIPs": [{"ip": address}]}})
        return self.api.get(f"/api/v1/namespaces/agents/pods/{name}")["metadata"]["uid"]

    def test_it_is_refused_from_the_address_of_another_pod_and_welcomed_from_its_own(self):
        for name, address in (("thief", "127.0.0.1"), ("robbed", "10.1.2.3")):
            uid = self.put_pod(name, address)
        user = {"username": "system:serviceaccount:agents:agent", "groups": [],
                "extra": {self.EXTRA + "node-name": ["late"], self.EXTRA + "pod-name": ["robbed"], self.EXTRA + "pod-uid": [uid]}}
        self.api.holders["carried"] = user
        self.begin(*self.in_a_cluster())
        path = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/agents/pods/thief/health_metric"
        self.wait_for("the pods to be read", lambda: "pods are not read" not in self.trial.ask("metrics", path)[1])
        token = self.trial.folder / "token"
        token.write_text("carried\n")
        self.trial.start_agent("late", token_file=token)
        self.wait_for("the refusal", lambda: "the address of pod agents/thief" in self.trial.log("late"))
        self.assertGreater(self.refused("not_authorised"), 0)
        self.assertEqual(self.counted("binnacle_sessions"), 1)
        self.trial.end("late", seconds=PATIENCE)
        self.put_pod("robbed", "127.0.0.1")
        self.api.holders["carried"]["extra"][self.EXTRA + "pod-uid"] = [self.api.get("/api/v1/namespaces/agents/pods/robbed")["metadata"]["uid"]]
        (self.trial.folder / "own").write_text("own\n")
        self.api.holders["own"] = self.api.holders["carried"]
        self.trial.start_agent("late", token_file=self.trial.folder / "own", name="late-again")
        self.wait_for("its session", lambda: self.counted("binnacle_sessions") == 2)


if __name__ == "__main__":
    run_tests(__doc__, "attacked")
